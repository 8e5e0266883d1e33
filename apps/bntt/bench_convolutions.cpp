#include <fmt/format.h>

#include <memory>

#include "bench_kernels.h"
#include "kernels/dense_convolution.h"
#include "kernels/kernel_set.h"

namespace bntt::cli {
namespace {

using kernels::KernelSet;
using kernels::SpikeConvolution;
using kernels::WinogradConvolution;

constexpr int64_t kFrames = 4;

/// A convolution of VGG9 on CIFAR-10, or for the plain reference one that it can finish.
struct ConvolutionCase {
  std::string name;
  kernels::PooledMap map;
  int64_t outputs;
  ConvGeometry geometry = {};

  MapShape input() const { return map.pooled(); }
  MapShape output() const { return geometry.output(input(), outputs); }
  int64_t weights() const { return geometry.taps() * input().channels * outputs; }
  double dense_flops() const {
    return 2.0 * static_cast<double>(kFrames * weights() * output().pixels());
  }
};

const std::vector<ConvolutionCase>& vgg9_convolutions() {
  static const std::vector<ConvolutionCase> cases = {
      {"conv2", {{64, 32, 32}}, 64},   {"conv3-behind-pool", {{64, 32, 32}, 2, 2}, 128},
      {"conv4", {{128, 16, 16}}, 128}, {"conv5-behind-pool", {{128, 16, 16}, 2, 2}, 256},
      {"conv6", {{256, 8, 8}}, 256},
  };
  return cases;
}

/// Convolutions of other kinds of networks: a residual network's shortcuts and its halving of maps,
/// a large kernel in the middle, and the first convolution behind an event camera.
const std::vector<ConvolutionCase>& other_convolutions() {
  static const std::vector<ConvolutionCase> cases = {
      {"1x1", {{128, 16, 16}}, 128, {1, 1, 0}},
      {"1x1-stride-2", {{64, 32, 32}}, 128, {1, 2, 0}},
      {"3x3-stride-2", {{64, 32, 32}}, 128, {3, 2, 1}},
      {"5x5", {{32, 16, 16}}, 64, {5, 1, 2}},
      {"7x7-stride-2", {{2, 64, 64}}, 64, {7, 2, 3}},
  };
  return cases;
}

const std::vector<ConvolutionCase>& cases_for(const KernelSet& set) {
  static const std::vector<ConvolutionCase> small = {{"small", {{16, 8, 8}}, 16}};
  return set.name == "reference" ? small : vgg9_convolutions();
}

struct Walk {
  SpikeConvolution convolution;
  Buffer<SpikeWord> words;
  Buffer<int32_t> starts;
  Buffer<int32_t> entries;
  Buffer<int32_t> column_starts;   // of one frame
  Buffer<int32_t> column_entries;  // of one frame
  Buffer<float> weights;           // packed, or their gradient
  Buffer<float> maps;              // output, or the bordered gradient of a block

  kernels::SpikePlane plane() const { return {words.data(), 1.0F, kFrames}; }
  kernels::SpikeLists lists() { return {starts.data(), entries.data()}; }
};

std::shared_ptr<Walk> make_walk(const KernelSet& set, const ConvolutionCase& c, double density) {
  auto walk = std::make_shared<Walk>();
  walk->convolution = {c.map, c.outputs, set.channels_per_block(c.outputs), c.geometry};
  walk->words = random_spikes(kFrames * c.map.source.pixels(), c.map.source.channels, density);
  const SpikeConvolution& shape = walk->convolution;
  walk->starts =
      Buffer<int32_t>(std::max(kernels::pixel_starts(c.map), kernels::channel_list_starts(shape)));
  walk->entries = Buffer<int32_t>(kernels::list_entries(c.map, kFrames) + kernels::kListSlack);
  walk->column_starts = Buffer<int32_t>(kernels::column_starts(shape));
  walk->column_entries = Buffer<int32_t>(kernels::column_entries(shape, c.map.source.size()));
  walk->weights = random_floats(shape.packed_size());
  return walk;
}

void walk_forward(const KernelSet& set, Walk& walk) {
  const SpikeConvolution& shape = walk.convolution;
  const MapShape map = shape.output();
  const int64_t columns = shape.map.pooled().width;
  const int64_t width = shape.block_channels;
  const int64_t frame_words = walk.words.size() / kFrames;
  for (int64_t frame = 0; frame < kFrames; ++frame) {
    set.list_columns(shape, walk.words.data() + frame * frame_words, walk.lists(),
                     {walk.column_starts.data(), walk.column_entries.data()});
    for (int64_t block = 0; block < shape.blocks(); ++block) {
      for (int64_t y = 0; y < map.height; ++y) {
        set.spike_conv_row(
            shape,
            {.starts = walk.column_starts.data() + y * columns,
             .entries = walk.column_entries.data(),
             .block_weights = walk.weights.data() + block * shape.block_weights()},
            {.data = walk.maps.data() +
                     (frame * map.height + y) * map.width * shape.output_channels + block * width,
             .stride = shape.output_channels,
             .channels = width});
      }
    }
  }
}

void add_walks(const KernelSet& set, const ConvolutionCase& c, double density) {
  const std::string suffix = fmt::format("/{}/{}/density:{}", set.name, c.name, density);
  auto forward = make_walk(set, c, density);
  forward->maps = Buffer<float>(kFrames * c.output().size());
  add_benchmark("walk-forward" + suffix, {.dense_flops = c.dense_flops()},
                [forward, &set] { walk_forward(set, *forward); });

  auto gradient = make_walk(set, c, density);
  const SpikeConvolution& convolution = gradient->convolution;
  gradient->maps = random_floats(kFrames * kernels::gradient_border(convolution).pixels() *
                                 convolution.block_channels);
  add_benchmark(
      "walk-weight-gradient" + suffix, {.dense_flops = c.dense_flops()}, [gradient, &set] {
        const SpikeConvolution& shape = gradient->convolution;
        kernels::list_by_channel(shape, gradient->plane(), gradient->lists());
        for (int64_t block = 0; block < shape.blocks(); ++block) {
          set.spike_conv_weight_gradient(shape, gradient->plane(), gradient->lists(),
                                         gradient->maps.data(),
                                         gradient->weights.data() + block * shape.block_weights());
        }
      });
}

/// VGG9's first convolution: three signed channels, half of the bits set, at any density of the
/// network.
void add_table(const KernelSet& set) {
  struct Table {
    kernels::PatternConvolution convolution;
    Buffer<SpikeWord> words;  // [plane, frame, y, x]
    Buffer<float> table;
    Buffer<uint8_t> patterns;
    Buffer<float> output;
  };
  auto c = std::make_shared<Table>();
  c->convolution = {{3, 32, 32}, 2, 64, set.channels_per_block(64)};
  const MapShape& map = c->convolution.map;
  c->words = random_spikes(2 * kFrames * map.pixels(), map.channels, 0.25);
  c->table = random_floats(c->convolution.table_size());
  c->patterns = Buffer<uint8_t>(c->convolution.frame_patterns());
  c->output = Buffer<float>(kFrames * map.pixels() * c->convolution.output_channels);
  const double flops = 2.0 * 9.0 * static_cast<double>(kFrames * map.size() * 64);
  add_benchmark(fmt::format("table-forward/{}/conv1", set.name), {.dense_flops = flops}, [c, &set] {
    const kernels::PatternConvolution& shape = c->convolution;
    const int64_t row = shape.map.width * shape.output_channels;
    for (int64_t frame = 0; frame < kFrames; ++frame) {
      const SpikeWord* words = c->words.data() + frame * shape.map.pixels();
      kernels::read_patterns(shape, {words, words + kFrames * shape.map.pixels()},
                             c->patterns.data());
      for (int64_t block = 0; block < shape.blocks(); ++block) {
        for (int64_t y = 0; y < shape.map.height; ++y) {
          set.pattern_conv_row(shape, c->patterns.data() + y * shape.pattern_row(),
                               c->table.data() + block * shape.block_table(),
                               {.data = c->output.data() + (frame * shape.map.height + y) * row +
                                        block * shape.block_channels,
                                .stride = shape.output_channels,
                                .channels = shape.block_channels});
        }
      }
    }
  });
}

struct Maps {
  explicit Maps(const ConvolutionCase& c)
      : input(random_floats(kFrames * c.input().size())),
        output(random_floats(kFrames * c.output().size())),
        weights(random_floats(c.weights())) {}
  Buffer<float> input;
  Buffer<float> output;
  Buffer<float> weights;
};

void add_direct(const ConvolutionCase& c) {
  struct Direct : Maps {
    explicit Direct(const ConvolutionCase& described)
        : Maps(described),
          convolution(described.input(), described.outputs, kFrames, described.geometry),
          packed(convolution.pack_for_forward(weights.data())),
          packed_back(convolution.pack_for_input_gradient(weights.data())),
          gradient(convolution.packed_gradient_size()) {}
    kernels::DenseConvolution convolution;
    Buffer<float> packed;
    Buffer<float> packed_back;
    Buffer<float> gradient;
  };
  auto direct = std::make_shared<Direct>(c);
  const Work work{.dense_flops = c.dense_flops()};
  add_benchmark("direct-forward/onednn/" + c.name, work, [direct] {
    direct->convolution.forward(direct->input.data(), direct->packed.data(), direct->output.data());
  });
  add_benchmark("direct-input-gradient/onednn/" + c.name, work, [direct] {
    direct->convolution.input_gradient(direct->output.data(), direct->packed_back.data(),
                                       direct->input.data());
  });
  add_benchmark("direct-weight-gradient/onednn/" + c.name, work, [direct] {
    direct->convolution.weight_gradient(direct->input.data(), direct->output.data(),
                                        direct->gradient.data());
  });
}

void add_winograd(const KernelSet& set, const ConvolutionCase& c) {
  struct Winograd : Maps {
    Winograd(const KernelSet& set_of, const ConvolutionCase& described)
        : Maps(described),
          convolution{described.input(), described.outputs, set_of.winograd_panel} {
      const int64_t rows = WinogradConvolution::kRowsTogether;
      tiles = {0, convolution.tiles_per_frame() * kFrames};
      const int64_t rounded = (tiles.count + rows - 1) / rows * rows;
      scratch = Buffer<float>(
          std::max(convolution.forward_scratch(rounded), convolution.gradient_scratch(rounded)));
      packed = Buffer<float>(convolution.packed_size());
      for (int64_t panel = 0; panel < convolution.panels(); ++panel) {
        kernels::pack_winograd_weights(convolution, weights.data(), panel, packed.data());
      }
      gradient = Buffer<float>::zeros(convolution.gradient_size());
      for (int64_t frame = 0; frame < kFrames; ++frame) {
        inputs.push_back(input.data() + frame * described.input().size());
        outputs.push_back(output.data() + frame * described.output().size());
        gradients.push_back(outputs.back());
      }
    }
    WinogradConvolution convolution;
    kernels::WinogradTiles tiles;
    Buffer<float> scratch;
    Buffer<float> packed;
    Buffer<float> gradient;
    std::vector<const float*> inputs;
    std::vector<float*> outputs;
    std::vector<const float*> gradients;
  };
  auto winograd = std::make_shared<Winograd>(set, c);
  const Work work{.dense_flops = c.dense_flops()};
  add_benchmark(fmt::format("winograd-forward/{}/{}", set.name, c.name), work, [winograd, &set] {
    set.winograd_forward(winograd->convolution, winograd->packed.data(), winograd->inputs.data(),
                         winograd->tiles, winograd->scratch.data(), winograd->outputs.data());
  });
  add_benchmark(fmt::format("winograd-weight-gradient/{}/{}", set.name, c.name), work,
                [winograd, &set] {
                  set.winograd_weight_gradient(winograd->convolution, winograd->inputs.data(),
                                               winograd->gradients.data(), winograd->tiles,
                                               winograd->scratch.data(), winograd->gradient.data());
                });
}

}  // namespace

void add_convolution_benchmarks(const std::vector<double>& densities) {
  for (const KernelSet& set : kernels::kernel_sets()) {
    add_table(set);
    for (const ConvolutionCase& c : cases_for(set)) {
      for (const double density : densities) add_walks(set, c, density);
      add_winograd(set, c);
    }
    if (set.name == "reference") continue;
    for (const ConvolutionCase& c : other_convolutions()) {
      for (const double density : densities) add_walks(set, c, density);
    }
  }
  for (const ConvolutionCase& c : vgg9_convolutions()) add_direct(c);
  for (const ConvolutionCase& c : other_convolutions()) add_direct(c);
}

}  // namespace bntt::cli
