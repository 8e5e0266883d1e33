#include "layers/synapses/conv_reference.h"

#include <algorithm>
#include <vector>

#include "layers/synapses/synapse.h"
#include "layers/synapses/unpacked_frames.h"

namespace bntt {
namespace {

/// Calls visit(tap, input pixel, output pixel) for every pair of pixels that a tap connects.
template <typename Visit>
void for_each_tap(const ConvGeometry& geometry, const MapShape& input, const MapShape& output,
                  const Visit& visit) {
  for (int64_t y = 0; y < output.height; ++y) {
    for (int64_t x = 0; x < output.width; ++x) {
      for (int64_t tap = 0; tap < geometry.taps(); ++tap) {
        const int64_t from_y = y * geometry.stride - geometry.padding + tap / geometry.kernel;
        const int64_t from_x = x * geometry.stride - geometry.padding + tap % geometry.kernel;
        if (from_y < 0 || from_y >= input.height || from_x < 0 || from_x >= input.width) continue;
        visit(tap, from_y * input.width + from_x, y * output.width + x);
      }
    }
  }
}

}  // namespace

ConvReference::ConvReference(const BranchPlan& plan)
    : map_(pool_of(plan)), input_(plan.input), output_(plan.output), geometry_(plan.geometry) {}

void ConvReference::forward(const Signal& input, std::span<const int64_t> frames,
                            const WayWeights& weights, const FramePlace& place) const {
  std::vector<float> values(input_.size());
  for (const int64_t frame : frames) {
    unpack_frames(input, map_, frame, 1, values.data());
    std::vector<double> sums(output_.size(), 0.0);
    for_each_tap(geometry_, input_, output_, [&](int64_t tap, int64_t from, int64_t to) {
      for (int64_t in = 0; in < input_.channels; ++in) {
        const double value = values[from * input_.channels + in];
        const float* row = weights.plain + (tap * input_.channels + in) * output_.channels;
        for (int64_t out = 0; out < output_.channels; ++out) {
          sums[to * output_.channels + out] += value * row[out];
        }
      }
    });
    std::copy(sums.begin(), sums.end(), place.frame(frame));
  }
}

void ConvReference::weight_gradient(const Signal& input, kernels::GradientView current_gradient,
                                    float* weight_gradient) const {
  std::vector<float> values(input_.size());
  std::vector<double> sums(geometry_.taps() * input_.channels * output_.channels, 0.0);
  for (int64_t frame = 0; frame < stored_frames(input); ++frame) {
    unpack_frames(input, map_, frame, 1, values.data());
    const kernels::GradientView gradient = current_gradient.from(frame * output_.size());
    for_each_tap(geometry_, input_, output_, [&](int64_t tap, int64_t from, int64_t to) {
      for (int64_t in = 0; in < input_.channels; ++in) {
        const double value = values[from * input_.channels + in];
        for (int64_t out = 0; out < output_.channels; ++out) {
          sums[(tap * input_.channels + in) * output_.channels + out] +=
              value * gradient.at(to * output_.channels + out);
        }
      }
    });
  }
  std::copy(sums.begin(), sums.end(), weight_gradient);
}

void ConvReference::input_gradient(kernels::GradientView current_gradient, const float* weights,
                                   int64_t frames, kernels::GradientPlace input_gradient) const {
  std::vector<float> gradient(frames * output_.size());
  current_gradient.read(std::ssize(gradient), gradient.data());
  for (int64_t frame = 0; frame < frames; ++frame) {
    std::vector<double> sums(input_.size(), 0.0);
    for_each_tap(geometry_, input_, output_, [&](int64_t tap, int64_t from, int64_t to) {
      for (int64_t in = 0; in < input_.channels; ++in) {
        const float* row = weights + (tap * input_.channels + in) * output_.channels;
        for (int64_t out = 0; out < output_.channels; ++out) {
          sums[from * input_.channels + in] +=
              static_cast<double>(row[out]) *
              gradient[frame * output_.size() + to * output_.channels + out];
        }
      }
    });
    const std::vector<float> rounded(sums.begin(), sums.end());
    input_gradient.from(frame * input_.size()).write(rounded.data(), std::ssize(rounded));
  }
}

}  // namespace bntt
