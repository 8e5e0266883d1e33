#include "layers/synapses/conv_walk.h"

#include <algorithm>
#include <vector>

#include "base/threads.h"
#include "kernels/kernel_set.h"
#include "layers/synapses/gradient_parts.h"
#include "layers/synapses/unpacked_frames.h"

namespace bntt {
namespace {

// The bordered gradient of a block should fit into the L2 cache, and give each channel a few dozen
// spikes. It depends on the shape alone, not on the block size of the kernel set: sums must not
// depend on the instruction set.
int64_t frames_per_gradient_walk(const kernels::SpikeConvolution& convolution) {
  constexpr int64_t kCacheFloats = 1 << 16;
  const int64_t channels = std::min<int64_t>(64, convolution.output_channels);
  const int64_t pixels = kernels::gradient_border(convolution).pixels();
  return std::max<int64_t>(1, kCacheFloats / (pixels * channels));
}

kernels::SpikePlane plane_of(const SpikeTrain& spikes, int64_t plane, int64_t first,
                             int64_t frames) {
  return {spikes.frame(plane, 0, 0) + first * spikes.words_per_frame(),
          spikes.plane_weights()[plane], frames};
}

}  // namespace

ConvWalk::ConvWalk(const BranchPlan& plan)
    : shape_{pool_of(plan), plan.output.channels,
             kernels::kernels().channels_per_block(plan.output.channels), plan.geometry},
      output_(plan.output) {}

double ConvWalk::cost(SynapseOperation operation, double density,
                      const BreakEven& break_even) const {
  return walking_cost(density, operation == SynapseOperation::forward ? break_even.forward
                                                                      : break_even.weight_gradient);
}

// Enough pixels to reuse a block of weights many times, few enough that one image with few steps
// keeps all threads busy.
int64_t ConvWalk::frames_together() const {
  constexpr int64_t kPixels = 1024;
  return std::max<int64_t>(1, kPixels / shape_.map.pooled().pixels());
}

Buffer<float> ConvWalk::pack(const float* weights,
                             const std::vector<float>& /*plane_weights*/) const {
  Buffer<float> packed(shape_.packed_size());
  kernels::pack_spike_weights(shape_, weights, packed.data());
  return packed;
}

/// The spikes of some frames, as the columns of each output row see them.
class ConvWalk::Lists : public FrameRows {
 public:
  Lists(const kernels::SpikeConvolution& shape, const SpikeTrain& input, int64_t first,
        int64_t count)
      : shape_(shape), input_(input), first_(first), count_(count) {
    first_entry_.reserve(static_cast<std::size_t>(input.planes() * count + 1));
    first_entry_.push_back(0);
    for (int64_t p = 0; p < input.planes(); ++p) {
      for (int64_t f = first; f < first + count; ++f) {
        const int64_t spikes = kernels::count_spikes(words(p, f), input.words_per_frame());
        first_entry_.push_back(first_entry_.back() + kernels::column_entries(shape, spikes));
      }
    }
    starts_ = Buffer<int32_t>(input.planes() * count * kernels::column_starts(shape));
    entries_ = Buffer<int32_t>(first_entry_.back());
  }

  void read(int64_t frame) override {
    const kernels::SpikeLists by_pixel{
        thread_scratch<int32_t>(ScratchSlot::starts, kernels::pixel_starts(shape_.map)),
        thread_scratch<int32_t>(ScratchSlot::entries,
                                kernels::list_entries(shape_.map, 1) + kernels::kListSlack)};
    for (int64_t p = 0; p < input_.planes(); ++p) {
      const int64_t at = place(p, frame);
      kernels::kernels().list_columns(shape_, words(p, frame), by_pixel,
                                      {starts_.data() + at * kernels::column_starts(shape_),
                                       entries_.data() + first_entry_[at]});
    }
  }

 protected:
  /// Calls visit(starts, entries, factor, accumulate) for the lists of every plane that an output
  /// row sees.
  template <typename Visit>
  void for_each_plane(int64_t frame, int64_t y, const Visit& visit) const {
    for (int64_t p = 0; p < input_.planes(); ++p) {
      const int64_t at = place(p, frame);
      visit(starts_.data() + at * kernels::column_starts(shape_) + y * shape_.map.pooled().width,
            entries_.data() + first_entry_[at], input_.plane_weights()[p] * shape_.map.scale(),
            p > 0);
    }
  }
  const kernels::SpikeConvolution& shape() const { return shape_; }

 private:
  const SpikeWord* words(int64_t plane, int64_t frame) const {
    return input_.frame(plane, 0, 0) + frame * input_.words_per_frame();
  }
  int64_t place(int64_t plane, int64_t frame) const { return plane * count_ + frame - first_; }

  const kernels::SpikeConvolution& shape_;
  const SpikeTrain& input_;
  int64_t first_;
  int64_t count_;
  std::vector<int64_t> first_entry_;  // [plane, frame]
  Buffer<int32_t> starts_;            // [plane, frame, output row and input column]
  Buffer<int32_t> entries_;
};

class ConvWalk::Rows final : public Lists {
 public:
  Rows(const kernels::SpikeConvolution& shape, const SpikeTrain& input, int64_t first,
       int64_t count, const float* packed_weights)
      : Lists(shape, input, first, count), weights_(packed_weights) {}

  void write(int64_t frame, int64_t block, int64_t y,
             const kernels::RowOutput& output) const override {
    const float* of_block = weights_ + block * shape().block_weights();
    for_each_plane(
        frame, y,
        [&](const int32_t* starts, const int32_t* entries, float factor, bool accumulate) {
          kernels::kernels().spike_conv_row(
              shape(), {starts, entries, of_block, factor, accumulate}, output);
        });
  }

 private:
  const float* weights_;
};

std::unique_ptr<FrameRows> ConvWalk::rows(const SpikeTrain& input, int64_t first, int64_t count,
                                          const WayWeights& weights) const {
  return std::make_unique<Rows>(shape_, input, first, count, weights.packed);
}

Buffer<int16_t> ConvWalkInt8::pack_integers(const int8_t* weights,
                                            const std::vector<float>& /*plane_weights*/) const {
  Buffer<int16_t> words(shape_.blocks() * kernels::integer_block_words(shape_));
  kernels::pack_integer_weights(shape_, weights, words.data());
  return words;
}

class ConvWalkInt8::Rows final : public Lists {
 public:
  Rows(const kernels::SpikeConvolution& shape, const SpikeTrain& input, int64_t first,
       int64_t count, const int16_t* words)
      : Lists(shape, input, first, count), words_(words) {}

  void write(int64_t frame, int64_t block, int64_t y,
             const kernels::RowOutput& output) const override {
    const int16_t* of_block = words_ + block * kernels::integer_block_words(shape());
    for_each_plane(
        frame, y,
        [&](const int32_t* starts, const int32_t* entries, float factor, bool accumulate) {
          kernels::kernels().integer.conv_row(
              shape(), {starts, entries, of_block, factor, accumulate}, output);
        });
  }

 private:
  const int16_t* words_;
};

std::unique_ptr<FrameRows> ConvWalkInt8::rows(const SpikeTrain& input, int64_t first, int64_t count,
                                              const WayWeights& weights) const {
  return std::make_unique<Rows>(shape_, input, first, count, weights.packed_integers);
}

void ConvWalk::forward(const Signal& input, std::span<const int64_t> frames,
                       const WayWeights& weights, const FramePlace& place) const {
  for_each_run(frames, [&](int64_t first, int64_t end) {
    const auto made = rows(std::get<SpikeTrain>(input), first, end - first, weights);
    write_frames(*made, output_, shape_.block_channels, first, end, place);
  });
}

void ConvWalk::weight_gradient(const Signal& signal, kernels::GradientView current_gradient,
                               float* weight_gradient) const {
  const auto& input = std::get<SpikeTrain>(signal);
  const int64_t frames = input.steps() * input.batch();
  const int64_t chunk = frames_per_gradient_walk(shape_);
  const int64_t chunks = (frames + chunk - 1) / chunk;
  const int64_t size = shape_.packed_size();
  const int64_t width = shape_.block_channels;
  const int64_t bordered_size = chunk * kernels::gradient_border(shape_).pixels() * width;
  const Buffer<float> sums = sum_in_parts(chunks, size, [&](int64_t i, float* sum) {
    float* bordered = thread_scratch(ScratchSlot::gradient, bordered_size);
    const kernels::SpikeLists lists{
        thread_scratch<int32_t>(ScratchSlot::starts, kernels::channel_list_starts(shape_)),
        thread_scratch<int32_t>(ScratchSlot::entries, kernels::list_entries(shape_.map, chunk))};
    const int64_t first = i * chunk;
    const int64_t count = std::min(chunk, frames - first);
    for (int64_t p = 0; p < input.planes(); ++p) {
      const kernels::SpikePlane plane = plane_of(input, p, first, count);
      kernels::list_by_channel(shape_, plane, lists);
      for (int64_t block = 0; block < shape_.blocks(); ++block) {
        kernels::copy_bordered(shape_, count, block, current_gradient.from(first * output_.size()),
                               bordered);
        kernels::kernels().spike_conv_weight_gradient(shape_, plane, lists, bordered,
                                                      sum + block * shape_.block_weights());
      }
    }
  });
  kernels::unpack_spike_gradient(shape_, sums.data(), weight_gradient);
}

}  // namespace bntt
