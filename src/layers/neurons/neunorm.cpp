#include <bit>

#include "kernels/kernel_set.h"
#include "kernels/step_row.h"
#include "layers/neurons/blocks.h"
#include "layers/neurons/spiking_neurons.h"

namespace bntt {
namespace {

/// NeuNorm (Wu et al. 2019): neurons that fire like lif and normalise their output by a trace of
/// the spikes of all F channels of their pixel,
///
///   n_t = k n_{t−1} + (1 − k)/F² Σ_f o_f;  output: o_f − w_f n_t
///
/// with a trained w for every neuron. w starts at 0, which gives lif itself.
class NeuNorm final : public SpikingNeurons {
 public:
  NeuNorm(const StagePlan& plan, Propagation propagation)
      : SpikingNeurons(plan, propagation),
        map_(plan.output),
        decay_(plan.neuron.neunorm_decay),
        share_((1.0F - decay_) / static_cast<float>(map_.channels * map_.channels)) {}

  std::vector<ParameterDeclaration> parameters() const override {
    return {{.name = "weight",
             .group = ParameterGroup::neuron,
             .pytorch_shape = {map_.channels, map_.height, map_.width},
             .input_channels = 1,  // stored as [y, x, channel]
             .start = 0.0F}};
  }
  /// The state of an image: the membranes, then n of every pixel.
  int64_t state_size(const MapShape& map) const override { return map.size() + map.pixels(); }

  Signal forward(const NeuronInput& input, std::span<const Parameter> parameters,
                 float* state) const override;
  bool takes_half_gradients() const override { return false; }
  void backward(const NeuronInput& input, const kernels::SpikeGradient& arriving,
                std::span<Parameter> parameters, kernels::GradientPlace gradient,
                RowGradientSums& sums) const override;

 private:
  SpikeTrain fire(const NeuronInput& input, float* state) const;
  float next_trace(float trace, int64_t spikes) const {
    return decay_ * trace + share_ * static_cast<float>(spikes);
  }

  MapShape map_;
  float decay_;
  float share_;
};

int64_t spikes_of_pixel(const SpikeWord* words, int64_t count) {
  int64_t spikes = 0;
  for (int64_t i = 0; i < count; ++i) spikes += std::popcount(words[i]);
  return spikes;
}

bool has_spike(const SpikeWord* words, int64_t channel) {
  return (words[channel / kSpikesPerWord] >> (channel % kSpikesPerWord) & 1U) != 0;
}

/// Like kernels::spiking_forward, for the state layout of this class.
SpikeTrain NeuNorm::fire(const NeuronInput& input, float* state) const {
  const kernels::NeuronShape& shape = input.shape;
  SpikeTrain spikes(shape.steps, shape.batch, map_);
  const int64_t pixel_bytes = spikes.words_per_pixel() * static_cast<int64_t>(sizeof(SpikeWord));
  for_each_block(shape, [&](const kernels::PixelBlock& block) {
    float* membranes = state + block.image * state_size(map_) + block.begin * shape.channels;
    for (int64_t step = 0; step < shape.steps; ++step) {
      const kernels::StepRow row(shape, input.affine, input.currents, block, step);
      auto* frame = reinterpret_cast<uint8_t*>(spikes.frame(0, step, block.image));
      kernels::kernels().spiking_step(dynamics_, {.pixels = block.end - block.begin,
                                                  .channels = shape.channels,
                                                  .scale = row.scale,
                                                  .shift = row.shift,
                                                  .currents = row.current,
                                                  .current_stride = shape.channels,
                                                  .carry = membranes,
                                                  .carry_stride = shape.channels,
                                                  .spikes = frame + block.begin * pixel_bytes,
                                                  .spike_stride = pixel_bytes});
    }
  });
  return spikes;
}

Signal NeuNorm::forward(const NeuronInput& input, std::span<const Parameter> parameters,
                        float* state) const {
  const kernels::NeuronShape& shape = input.shape;
  const SpikeTrain spikes = fire(input, state);
  DenseTrain result{.steps = shape.steps,
                    .batch = shape.batch,
                    .shape = map_,
                    .constant = false,
                    .values = Buffer<float>(shape.steps * shape.batch * shape.frame())};
  const float* weight = parameters[0].value.data();
  const int64_t words = spikes.words_per_pixel();
  parallel_for(shape.batch, [&](int64_t image) {
    float* traces = state + image * state_size(map_) + map_.size();
    for (int64_t step = 0; step < shape.steps; ++step) {
      const SpikeWord* of_pixel = spikes.frame(0, step, image);
      float* out = result.values.data() + (step * shape.batch + image) * shape.frame();
      for (int64_t p = 0; p < shape.pixels; ++p, of_pixel += words) {
        traces[p] = next_trace(traces[p], spikes_of_pixel(of_pixel, words));
        for (int64_t c = 0; c < shape.channels; ++c) {
          const int64_t i = p * shape.channels + c;
          out[i] = (has_spike(of_pixel, c) ? 1.0F : 0.0F) - weight[i] * traces[p];
        }
      }
    }
  });
  return result;
}

// With g the gradient of the output: ∂L/∂w = −Σ g n, ∂L/∂n_t = k ∂L/∂n_{t+1} − Σ_f w_f g_f, ∂L/∂o_f
// = g_f + (1 − k)/F² ∂L/∂n. A unit of work is one pixel over all images and steps, which fixes the
// order of the sums.
void NeuNorm::backward(const NeuronInput& input, const kernels::SpikeGradient& arriving,
                       std::span<Parameter> parameters, kernels::GradientPlace gradient,
                       RowGradientSums& sums) const {
  const kernels::NeuronShape& shape = input.shape;
  auto state = Buffer<float>::zeros(shape.batch * state_size(map_));
  const SpikeTrain spikes = fire(input, state.data());
  if (arriving.values.floats != gradient.floats) {
    const int64_t pooled = arriving.pool.pooled().size();
    parallel_for(shape.steps * shape.batch, [&](int64_t frame) {
      kernels::unpool_frame(arriving.pool, arriving.values.floats + frame * pooled,
                            gradient.floats + frame * shape.frame());
    });
  }
  const float* weight = parameters[0].value.data();
  float* weight_gradient = parameters[0].gradient.data();
  const int64_t words = spikes.words_per_pixel();
  parallel_for(shape.pixels, [&](int64_t p) {
    std::vector<float> traces(static_cast<std::size_t>(shape.steps));
    const int64_t first = p * shape.channels;
    for (int64_t image = 0; image < shape.batch; ++image) {
      float trace = 0.0F;
      for (int64_t step = 0; step < shape.steps; ++step) {
        const SpikeWord* of_pixel = spikes.frame(0, step, image) + p * words;
        traces[step] = trace = next_trace(trace, spikes_of_pixel(of_pixel, words));
      }
      float of_trace = 0.0F;
      for (int64_t step = shape.steps - 1; step >= 0; --step) {
        float* g = gradient.floats + (step * shape.batch + image) * shape.frame() + first;
        float sum = 0.0F;
        for (int64_t c = 0; c < shape.channels; ++c) {
          weight_gradient[first + c] -= g[c] * traces[step];
          sum += weight[first + c] * g[c];
        }
        of_trace = decay_ * of_trace - sum;
        for (int64_t c = 0; c < shape.channels; ++c) g[c] += share_ * of_trace;
      }
    }
  });
  SpikingNeurons::backward(input, {gradient.view(), {.source = map_}}, parameters, gradient, sums);
}

}  // namespace

std::unique_ptr<Neurons> make_neunorm(const StagePlan& plan, Propagation propagation) {
  return std::make_unique<NeuNorm>(plan, propagation);
}

}  // namespace bntt
