#include "bench/workload.h"

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "base/fail.h"
#include "base/fields.h"
#include "base/random.h"
#include "base/safetensors.h"
#include "bntt/zoo.h"
#include "data/dataset.h"
#include "train/break_even_table.h"
#include "train/checkpoint.h"
#include "train/model_card.h"
#include "train/run_settings.h"
#include "train/run_trainer.h"

namespace bntt::bench {
namespace fs = std::filesystem;
namespace {

constexpr const char* kEncoderKey = "encoder";
constexpr const char* kSourceKey = "images_from";

struct OpenedImages {
  ImageSet set;
  ChannelStatistics normalisation;
  std::string name;
};

OpenedImages noise_images(int64_t count) {
  OpenedImages images{.set = {.shape = {3, 32, 32}, .classes = 10},
                      .normalisation = {{0.5F, 0.5F, 0.5F}, {0.25F, 0.25F, 0.25F}},
                      .name = "seeded noise of CIFAR-10's size"};
  std::vector<uint8_t> pixels;
  for (int64_t image = 0; image < count; ++image) {
    images.set.labels.push_back(image % images.set.classes);
    for (int64_t block = 0; block < images.set.shape.size() / 4; ++block) {
      const auto bits =
          draw4(kSeed, Purpose::calibration,
                {.sample = static_cast<uint32_t>(image), .block = static_cast<uint32_t>(block)});
      for (const uint32_t value : bits) {
        pixels.push_back(static_cast<uint8_t>(value >> 24));
      }
    }
  }
  images.set.pixels = std::move(pixels);
  return images;
}

OpenedImages open_images(const std::string& name, const std::string& directory,
                         DatasetOptions options, int64_t count) {
  options.need_train = false;
  options.limit_test = count;
  DatasetSplits splits = open_dataset(name, directory, options);
  if (splits.test.kind != SampleKind::image) {
    fail("bench: takes images, but {} holds event recordings", name);
  }
  return {std::move(splits.test), std::move(splits.normalisation), name};
}

std::string data_set_in(const fs::path& directory) {
  for (const char* file : {"t10k-images-idx3-ubyte", "t10k-images-idx3-ubyte.gz"}) {
    if (fs::exists(directory / file)) return "mnist";
  }
  return "cifar10";
}

OpenedImages find_images(const std::string& directory, int64_t count) {
  if (!directory.empty()) return open_images(data_set_in(directory), directory, {}, count);
  try {
    return open_images("fashion-mnist", "", {}, count);
  } catch (const Error&) {  // not installed
    return noise_images(count);
  }
}

/// The first images, repeated from the start if the set is too small.
Batch first_images(const ImageSet& set, int64_t count) {
  if (set.size() == 0) fail("bench: the data set holds no images");
  Batch batch{.shape = set.shape, .images = Buffer<float>(count * set.shape.size())};
  for (int64_t i = 0; i < count; ++i) {
    batch.sample_ids.push_back(static_cast<uint32_t>(i));
    batch.labels.push_back(set.labels[i % set.size()]);
    std::transform(set.image(i % set.size()), set.image(i % set.size()) + set.shape.size(),
                   batch.images.data() + i * set.shape.size(), value_of_pixel);
  }
  return batch;
}

NetworkSpec with_momentum_one(NetworkSpec spec) {
  for (StageSpec& stage : spec.stages) {
    std::visit(
        [](auto& described) {
          if constexpr (requires { described.norm; }) described.norm.momentum = 1.0F;
          if constexpr (requires { described.branches; }) {
            for (BranchSpec& branch : described.branches) branch.norm.momentum = 1.0F;
          }
        },
        stage);
  }
  return spec;
}

/// The same numbers with a spec that has the same shapes.
Network rebuild(const Network& network, NetworkSpec spec) {
  Network rebuilt(std::move(spec), kSeed);
  for (std::size_t i = 0; i < network.parameters().size(); ++i) {
    rebuilt.parameters()[i].value = network.parameters()[i].value;
  }
  rebuilt.statistics() = network.statistics();
  return rebuilt;
}

void take_break_even(BreakEvenSource source, Workload& workload) {
  workload.break_even_from = name_of(source);
  workload.network.set_break_even(chosen_break_even(source, workload.network.stages()));
}

Workload workload_of_run(const WorkloadOptions& options) {
  const RunPaths paths{options.run};
  const RunConfig config = read_run_settings(paths);
  const Network network = load_run_network(paths);
  if (network.quantised()) {
    fail("{}: its weights are int8: bench the run that it was made of, with --int8", options.run);
  }
  const std::string directory = options.data.empty() ? config.data.dir : options.data;
  const OpenedImages images =
      open_images(config.data.name, directory, dataset_options(config), options.images);
  if (images.set.shape != network.spec().input) {
    fail("{}: its network takes {}x{}x{}, but the data set {} is {}x{}x{}", options.run,
         network.spec().input.channels, network.spec().input.height, network.spec().input.width,
         config.data.name, images.set.shape.channels, images.set.shape.height,
         images.set.shape.width);
  }
  DatasetSplits described{.train = {.shape = images.set.shape},
                          .normalisation = images.normalisation};
  Workload workload{.network = rebuild(network, with_momentum_one(network.spec())),
                    .images = first_images(images.set, options.images),
                    .encoder = encoder_for(config, described),
                    .images_from = images.name,
                    .break_even_from = "the run"};
  workload.network.set_break_even(network.break_even());
  if (options.break_even) take_break_even(*options.break_even, workload);
  return workload;
}

}  // namespace

Workload make_workload(const WorkloadOptions& options) {
  if (!options.run.empty()) return workload_of_run(options);
  const OpenedImages images = find_images(options.data, options.images);
  const NetworkSpec spec = zoo_network(options.model, {.input = images.set.shape,
                                                       .classes = images.set.classes,
                                                       .steps = options.steps,
                                                       .width = options.width});
  Workload workload{.network = Network(with_momentum_one(spec), kSeed),
                    .images = first_images(images.set, options.images),
                    .encoder = {EncoderKind::poisson_signed, images.normalisation},
                    .images_from = images.name};
  take_break_even(options.break_even.value_or(BreakEvenSource::formula), workload);
  return workload;
}

Batch slice(const Batch& images, int64_t first, int64_t count) {
  Batch part{.shape = images.shape, .images = Buffer<float>(count * images.shape.size())};
  part.sample_ids.assign(images.sample_ids.begin() + first,
                         images.sample_ids.begin() + first + count);
  part.labels.assign(images.labels.begin() + first, images.labels.begin() + first + count);
  std::copy_n(images.images.data() + first * images.shape.size(), part.images.size(),
              part.images.data());
  return part;
}

std::vector<uint8_t> pack_network(const Workload& workload) {
  return format_tensors(pack_model(workload.network, {}));
}

std::vector<uint8_t> pack_images(const Workload& workload) {
  std::vector<float> break_even;
  for (const BreakEven& stage : workload.network.break_even()) {
    break_even.insert(break_even.end(), {stage.forward, stage.weight_gradient});
  }
  const Batch& images = workload.images;
  const ChannelStatistics& statistics = workload.encoder.normalisation;
  const auto channels = static_cast<int64_t>(statistics.mean.size());
  return format_tensors(
      {.metadata = {{kEncoderKey, std::string(encoder_name(workload.encoder.kind))},
                    {kSourceKey, workload.images_from}},
       .tensors = {float_tensor("images",
                                {images.size(), images.shape.height, images.shape.width,
                                 images.shape.channels},
                                images.images.span()),
                   integer_tensor("labels", {images.size()}, images.labels),
                   float_tensor("mean", {channels}, statistics.mean),
                   float_tensor("deviation", {channels}, statistics.deviation),
                   float_tensor("break_even", {static_cast<int64_t>(break_even.size()) / 2, 2},
                                break_even)}});
}

Workload unpack_workload(const std::string& network_file, const std::string& images_file) {
  const TensorFile numbers = read_tensors(network_file);
  Network network(checkpoint_network(numbers, network_file), kSeed);
  unpack_network(numbers, network_file, network);

  const TensorFile file = read_tensors(images_file);
  const auto tensor = [&](const char* name) -> const Tensor& {
    const Tensor* found = file.find(name);
    if (found == nullptr) fail("{}: holds no tensor '{}'", images_file, name);
    return *found;
  };
  Batch images{.shape = network.spec().input,
               .images = Buffer<float>(tensor("images").floats().size())};
  std::ranges::copy(tensor("images").floats(), images.images.begin());
  const auto labels = tensor("labels").integers();
  images.labels.assign(labels.begin(), labels.end());
  images.sample_ids.resize(images.labels.size());
  std::iota(images.sample_ids.begin(), images.sample_ids.end(), 0U);
  if (images.images.size() != images.size() * images.shape.size()) {
    fail("{}: its images do not fit the network", images_file);
  }
  const auto thresholds = tensor("break_even").floats();
  std::vector<BreakEven> break_even = network.break_even();
  if (thresholds.size() != 2 * break_even.size()) {
    fail("{}: its break-even table does not fit the network", images_file);
  }
  for (std::size_t i = 0; i < break_even.size(); ++i) {
    break_even[i] = {thresholds[2 * i], thresholds[2 * i + 1]};
  }
  network.set_break_even(std::move(break_even));
  const auto mean = tensor("mean").floats();
  const auto deviation = tensor("deviation").floats();
  return {.network = std::move(network),
          .images = std::move(images),
          .encoder = {encoder_from_name(file.metadata.at(kEncoderKey), images_file),
                      {{mean.begin(), mean.end()}, {deviation.begin(), deviation.end()}}},
          .images_from = file.metadata.at(kSourceKey)};
}

}  // namespace bntt::bench
