#include "layers/synapses/identity.h"

#include <algorithm>
#include <bit>

#include "kernels/kernel_set.h"
#include "layers/synapses/gradient_chunk.h"
#include "layers/synapses/unpacked_frames.h"

namespace bntt {

Identity::Identity(const BranchPlan& plan)
    : map_(pool_of(plan)),
      block_channels_(kernels::kernels().channels_per_block(plan.output.channels)) {}

void Identity::forward(const Signal& input, std::span<const int64_t> frames,
                       const WayWeights& /*weights*/, const FramePlace& place) const {
  for (const int64_t frame : frames) unpack_frames(input, map_, frame, 1, place.frame(frame));
}

// Sums the planes and the pixels of a window in the order of unpack_frames.
class Identity::Rows final : public FrameRows {
 public:
  Rows(const kernels::PooledMap& map, const SpikeTrain& input, int64_t block_channels)
      : map_(map), input_(input), block_channels_(block_channels) {}

  void read(int64_t /*frame*/) override {}

  void write(int64_t frame, int64_t block, int64_t y,
             const kernels::RowOutput& output) const override {
    const int64_t width = map_.pooled().width;
    const int64_t first = block * block_channels_;
    const int64_t channels = std::min(output.channels, map_.source.channels - first);
    for (int64_t x = 0; x < width; ++x) {
      std::fill_n(output.data + x * output.stride, output.channels, 0.0F);
    }
    for (int64_t plane = 0; plane < input_.planes(); ++plane) {
      const SpikeWord* words = input_.frame(plane, 0, 0) + frame * input_.words_per_frame();
      const float value = input_.plane_weights()[plane] * map_.scale();
      for (int64_t dy = 0; dy < map_.pool_height; ++dy) {
        const SpikeWord* row =
            words + (y * map_.pool_height + dy) * map_.source.width * input_.words_per_pixel();
        for (int64_t x = 0; x < width * map_.pool_width; ++x) {
          add_pixel(row + x * input_.words_per_pixel(), first, value,
                    output.data + x / map_.pool_width * output.stride, channels);
        }
      }
    }
  }

 private:
  static void add_pixel(const SpikeWord* pixel, int64_t first, float value, float* out,
                        int64_t channels) {
    for (int64_t c = first; c < first + channels;) {
      const int64_t in_word = c % kSpikesPerWord;
      const int64_t count = std::min(kSpikesPerWord - in_word, first + channels - c);
      SpikeWord bits = pixel[c / kSpikesPerWord] >> in_word;
      if (count < kSpikesPerWord) bits &= (SpikeWord{1} << count) - 1;
      for (; bits != 0; bits &= bits - 1) out[c - first + std::countr_zero(bits)] += value;
      c += count;
    }
  }

  const kernels::PooledMap& map_;
  const SpikeTrain& input_;
  int64_t block_channels_;
};

std::unique_ptr<FrameRows> Identity::rows(const SpikeTrain& input, int64_t /*first*/,
                                          int64_t /*count*/, const WayWeights& /*weights*/) const {
  return std::make_unique<Rows>(map_, input, block_channels_);
}

void Identity::input_gradient(kernels::GradientView current_gradient, const float* /*weights*/,
                              int64_t frames, kernels::GradientPlace input_gradient) const {
  if (current_gradient == input_gradient.view()) return;
  const int64_t size = map_.pooled().size();
  parallel_for(frames, [&](int64_t f) {
    const float* gradient =
        gradient_floats(current_gradient.from(f * size), size, ScratchSlot::gradient);
    input_gradient.from(f * size).write(gradient, size);
  });
}

}  // namespace bntt
