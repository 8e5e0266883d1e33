#include "layers/synapses/dense_reference.h"

#include <algorithm>
#include <vector>

#include "layers/synapses/synapse.h"
#include "layers/synapses/unpacked_frames.h"

namespace bntt {

DenseReference::DenseReference(const BranchPlan& plan)
    : map_(pool_of(plan)), inputs_(plan.input.size()), outputs_(plan.output.channels) {}

void DenseReference::forward(const Signal& input, std::span<const int64_t> frames,
                             const WayWeights& weights, const FramePlace& place) const {
  std::vector<float> values(inputs_);
  for (const int64_t frame : frames) {
    unpack_frames(input, map_, frame, 1, values.data());
    for (int64_t out = 0; out < outputs_; ++out) {
      double sum = 0.0;
      for (int64_t in = 0; in < inputs_; ++in) {
        sum += static_cast<double>(values[in]) * weights.plain[in * outputs_ + out];
      }
      place.frame(frame)[out] = static_cast<float>(sum);
    }
  }
}

void DenseReference::weight_gradient(const Signal& input, kernels::GradientView current_gradient,
                                     float* weight_gradient) const {
  std::vector<float> values(inputs_);
  std::vector<double> sums(inputs_ * outputs_, 0.0);
  for (int64_t frame = 0; frame < stored_frames(input); ++frame) {
    unpack_frames(input, map_, frame, 1, values.data());
    for (int64_t i = 0; i < inputs_ * outputs_; ++i) {
      sums[i] += static_cast<double>(values[i / outputs_]) *
                 current_gradient.at(frame * outputs_ + i % outputs_);
    }
  }
  std::copy(sums.begin(), sums.end(), weight_gradient);
}

void DenseReference::input_gradient(kernels::GradientView current_gradient, const float* weights,
                                    int64_t frames, kernels::GradientPlace input_gradient) const {
  std::vector<float> gradient(frames * outputs_);
  current_gradient.read(std::ssize(gradient), gradient.data());
  for (int64_t i = 0; i < frames * inputs_; ++i) {
    double sum = 0.0;
    for (int64_t out = 0; out < outputs_; ++out) {
      sum += static_cast<double>(weights[i % inputs_ * outputs_ + out]) *
             gradient[i / inputs_ * outputs_ + out];
    }
    input_gradient.set(i, static_cast<float>(sum));
  }
}

}  // namespace bntt
