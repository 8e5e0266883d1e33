#include "kernels/eight_channels.h"

namespace bntt::kernels {
namespace {

constexpr int64_t kEight = 8;

struct NeuronKernels {
  SpikingStep* spiking_step = nullptr;
  SpikingBackward* spiking_backward = nullptr;
  NormBackward* norm_backward = nullptr;
  AddNormalised* add_normalised = nullptr;
  AddGradientSums* gradient_sums = nullptr;
  ChannelMoments* channel_moments = nullptr;
};

NeuronKernels neuron_kernels_of(const KernelSet& set) {
  return {set.spiking_step,   set.spiking_backward, set.norm_backward,
          set.add_normalised, set.gradient_sums,    set.channel_moments};
}

/// Kernels are plain functions, so what they choose from is kept here.
struct Choice {
  NeuronKernels wide;
  NeuronKernels of_eight;

  const NeuronKernels& by(int64_t channels) const { return channels == kEight ? of_eight : wide; }
};
constinit Choice choice;

void spiking_step(const Dynamics& dynamics, const NeuronRow& row) {
  choice.by(row.channels).spiking_step(dynamics, row);
}

void spiking_backward(const NeuronShape& shape, const Dynamics& dynamics, const Affine& affine,
                      const Currents& currents, const SpikeGradient& arriving,
                      const PixelBlock& block, float* scratch, GradientPlace norm_gradient,
                      const GradientSums& sums) {
  choice.by(shape.channels)
      .spiking_backward(shape, dynamics, affine, currents, arriving, block, scratch, norm_gradient,
                        sums);
}

void norm_backward(const NeuronShape& shape, const Affine& affine, const NormGradientRows& rows,
                   const Currents& currents, const PixelBlock& block, GradientPlace gradient,
                   float* step_sum) {
  choice.by(shape.channels).norm_backward(shape, affine, rows, currents, block, gradient, step_sum);
}

void add_normalised(const NormalisedRow& row) { choice.by(row.channels).add_normalised(row); }

void gradient_sums(const NeuronShape& shape, const Affine& affine, const Currents& currents,
                   GradientView gradient, const PixelBlock& block, const GradientSums& sums) {
  choice.by(shape.channels).gradient_sums(shape, affine, currents, gradient, block, sums);
}

void channel_moments(const float* values, int64_t samples, int64_t channels, float* mean,
                     float* squared_deviations) {
  choice.by(channels).channel_moments(values, samples, channels, mean, squared_deviations);
}

}  // namespace

void use_for_eight_channels(const KernelSet& narrower, KernelSet& set) {
  choice = {.wide = neuron_kernels_of(set), .of_eight = neuron_kernels_of(narrower)};
  set.spiking_step = spiking_step;
  set.spiking_backward = spiking_backward;
  set.norm_backward = norm_backward;
  set.add_normalised = add_normalised;
  set.gradient_sums = gradient_sums;
  set.channel_moments = channel_moments;
}

}  // namespace bntt::kernels
