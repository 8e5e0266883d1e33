#include <cmath>

#include "kernels/kernel_set.h"
#include "layers/neurons/blocks.h"
#include "layers/neurons/spiking_neurons.h"

namespace bntt {
namespace {

StagePlan with_hard_reset(StagePlan plan) {
  plan.neuron.reset = Reset::hard;
  return plan;
}

StagePlan without_leak(StagePlan plan) {
  plan.neuron.leak = 1.0F;
  return plan;
}

/// Leaky integrate-and-fire with a hard reset and the gradient of Lee et al. (2020): see
/// kernels::LeeRule. Ignores the reset and the surrogate of the spec.
class Lee final : public SpikingNeurons {
 public:
  Lee(const StagePlan& plan, Propagation propagation, float height)
      : SpikingNeurons(with_hard_reset(plan), propagation),
        rule_{static_cast<float>(std::log(static_cast<double>(plan.neuron.leak))), height} {}

  bool takes_half_gradients() const override { return false; }
  void backward(const NeuronInput& input, const kernels::SpikeGradient& arriving,
                std::span<Parameter> parameters, kernels::GradientPlace gradient,
                RowGradientSums& sums) const override;

 private:
  kernels::LeeRule rule_;
};

void Lee::backward(const NeuronInput& input, const kernels::SpikeGradient& arriving,
                   std::span<Parameter> /*parameters*/, kernels::GradientPlace gradient,
                   RowGradientSums& sums) const {
  const kernels::NeuronShape& shape = input.shape;
  const int64_t scratch_size = kernels::lee_scratch(shape, pixels_per_block(shape));
  for_each_row_block(
      shape, sums, [&](const kernels::PixelBlock& block, const kernels::GradientSums& row_sums) {
        float* scratch = thread_scratch(ScratchSlot::membrane, scratch_size);
        kernels::kernels().lee_backward(shape, dynamics_, rule_, input.affine, input.currents,
                                        arriving, block, scratch, gradient.floats, row_sums);
      });
}

}  // namespace

std::unique_ptr<Neurons> make_lee(const StagePlan& plan, Propagation propagation) {
  return std::make_unique<Lee>(plan, propagation, 1.0F / plan.neuron.threshold);
}

// The neurons of Lee's pools: without a leak the slope equals its height, which is 1 for any
// threshold.
std::unique_ptr<Neurons> make_lee_if(const StagePlan& plan, Propagation propagation) {
  return std::make_unique<Lee>(without_leak(plan), propagation, 1.0F);
}

}  // namespace bntt
