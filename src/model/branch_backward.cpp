#include <algorithm>

#include "kernels/kernel_set.h"
#include "layers/neurons/blocks.h"
#include "layers/synapses/gradient_parts.h"
#include "model/branch.h"
#include "model/stage_clock.h"

namespace bntt {
namespace {

/// A run of a window's steps.
kernels::NeuronShape steps_of(kernels::NeuronShape shape, const StepRun& run) {
  shape.steps = run.size();
  return shape;
}
kernels::Affine affine_of(const NormTrace& trace, int64_t channels, const StepRun& run) {
  const int64_t first = run.begin * trace.rows_per_step * channels;
  return {.scale = trace.scale.data() + first,
          .shift = trace.shift.data() + first,
          .mean = trace.mean.data() + first,
          .inverse_deviation = trace.inverse_deviation.data() + first,
          .rows_per_step = trace.rows_per_step};
}
kernels::Currents currents_of(const BranchTrace& trace, const kernels::NeuronShape& shape,
                              const StepRun& run) {
  kernels::Currents currents = bntt::currents_of(trace, shape);
  currents.first = run.stored * currents.step_stride;
  currents.stored_steps = nullptr;
  return currents;
}

void add(const float* values, int64_t size, float* sum) {
  for (int64_t i = 0; i < size; ++i) sum[i] += values[i];
}

void scale(Buffer<float>& values, float factor) {
  if (factor == 1.0F) return;
  for (float& value : values) value *= factor;
}

/// Σ over frames and pixels: [channel].
Buffer<float> channel_sums(kernels::GradientView values, int64_t samples, int64_t channels) {
  constexpr int64_t kSamplesTogether = 256;
  const int64_t chunks = (samples + kSamplesTogether - 1) / kSamplesTogether;
  return sum_in_parts(chunks, channels, [&](int64_t chunk, float* sum) {
    const int64_t end = std::min(samples, (chunk + 1) * kSamplesTogether);
    for (int64_t s = chunk * kSamplesTogether; s < end; ++s) {
      for (int64_t c = 0; c < channels; ++c) sum[c] += values.at(s * channels + c);
    }
  });
}

}  // namespace

GradientBuffer Branch::backward(const Signal& input, BranchTrace trace,
                                const BranchNumbers& numbers, const ForwardOptions& options,
                                RowGradientSums sums, GradientBuffer gradient,
                                const Gradients& gradients, bool want_input_gradient) const {
  const kernels::NeuronShape shape = shape_of(input);
  PhaseTimer timer(stage_name_, StagePhase::neuron_backward);
  // ∂L/∂y = factor · ∂L/∂v.
  scale(sums.gradient, numbers.input_factor);
  scale(sums.gradient_times_unit, numbers.input_factor);
  NormGradient rows = norm_->backward(trace.norm, sums, first_step_, options.mode, gradients.norm);
  expect_whole(rows, trace.norm);
  scale(rows.scale, numbers.input_factor);
  gradient = norm_backward(shape, trace, rows, std::move(gradient));
  trace.current = Buffer<float>();
  trace.half_current = Buffer<uint16_t>();

  const Arithmetic arithmetic = arithmetic_of(options.precision);
  if (numbers.weights() != nullptr) timer.next(StagePhase::weight_gradient);
  synapse_gradients(input, gradient, arithmetic, gradients, numbers.weights() != nullptr);
  if (!want_input_gradient) return {};
  timer.next(StagePhase::input_gradient);
  return input_gradient(input, numbers.weights(), options.precision, std::move(gradient));
}

void Branch::add_gradient_sums(const kernels::NeuronShape& shape, const BranchTrace& trace,
                               const GradientBuffer& gradient, RowGradientSums& sums) const {
  for_each_row_block(shape, sums,
                     [&](const kernels::PixelBlock& block, const kernels::GradientSums& row_sums) {
                       for (const StepRun& run : working_.runs()) {
                         kernels::kernels().gradient_sums(
                             steps_of(shape, run), affine_of(trace.norm, shape.channels, run),
                             currents_of(trace, shape, run),
                             gradient.view().from(run.begin * shape.batch * shape.frame()), block,
                             {row_sums.gradient + run.begin * shape.channels,
                              row_sums.gradient_times_unit + run.begin * shape.channels});
                       }
                     });
}

GradientBuffer Branch::norm_backward(const kernels::NeuronShape& shape, const BranchTrace& trace,
                                     const NormGradient& rows, GradientBuffer gradient) const {
  const int64_t step_size = shape.batch * shape.frame();
  auto step_sum = Buffer<float>::zeros(trace.current_constant ? step_size : 0);
  for_each_block(shape, [&](const kernels::PixelBlock& block) {
    for (const StepRun& run : working_.runs()) {
      const int64_t first = run.begin * trace.norm.rows_per_step * shape.channels;
      kernels::kernels().norm_backward(
          steps_of(shape, run), affine_of(trace.norm, shape.channels, run),
          {rows.scale.data() + first, rows.slope.data() + first, rows.offset.data() + first},
          currents_of(trace, shape, run), block, gradient.place().from(run.begin * step_size),
          step_sum.data());
    }
  });
  return trace.current_constant ? GradientBuffer(std::move(step_sum)) : std::move(gradient);
}

std::vector<StepRun> Branch::backward_runs(const Signal& input) const {
  if (!is_constant(input)) return working_.runs();
  return {StepRun{.begin = 0, .end = 1}};
}

void Branch::synapse_gradients(const Signal& input, const GradientBuffer& gradient,
                               Arithmetic arithmetic, const Gradients& gradients,
                               bool weighted) const {
  const kernels::NeuronShape shape = shape_of(input);
  const int64_t step_size = shape.batch * shape.frame();
  bool first = true;
  for (const StepRun& run : backward_runs(input)) {
    const kernels::GradientView of_run = gradient.view().from(run.begin * step_size);
    const bool whole = is_constant(input) || run.size() == shape.steps;
    const Signal own = whole || !weighted ? Signal{} : slice_steps(input, run.begin, run.size());
    if (plan_.bias) {
      const int64_t samples = run.size() * shape.batch * shape.pixels;
      const Buffer<float> sum = channel_sums(of_run, samples, shape.channels);
      add(sum.data(), shape.channels, gradients.synapse.back().gradient.data());
    }
    if (weighted) {
      Buffer<float>& result = gradients.synapse.front().gradient;
      Buffer<float> more(first ? 0 : result.size());
      synapse_.weight_gradient(whole ? input : own, of_run, first ? result.data() : more.data(),
                               arithmetic);
      if (!first) add(more.data(), more.size(), result.data());
    }
    first = false;
  }
}

GradientBuffer Branch::input_gradient(const Signal& input, const float* weights,
                                      Precision precision, GradientBuffer gradient) const {
  const kernels::NeuronShape shape = shape_of(input);
  const int64_t step_size = shape.batch * shape.frame();
  const bool constant = is_constant(input);
  const bool halves = precision == Precision::bf16;
  // In place, frame by frame, if input and output frames have the same size, number and format.
  const bool in_place =
      !constant && plan_.input.size() == plan_.output.size() && gradient.in_halves() == halves;
  GradientBuffer separate(in_place ? 0 : stored_frames(input) * plan_.input.size(), halves);
  const kernels::GradientPlace result = (in_place ? gradient : separate).place();
  const int64_t result_step = shape.batch * plan_.input.size();
  for (const StepRun& run : backward_runs(input)) {
    synapse_.input_gradient(gradient.view().from(run.begin * step_size), weights,
                            run.size() * shape.batch, result.from(run.begin * result_step),
                            arithmetic_of(precision));
  }
  for (int64_t step = 0; step < shape.steps && !constant; ++step) {
    if (!working_.works(step)) result.from(step * result_step).fill_zero(result_step);
  }
  return in_place ? std::move(gradient) : std::move(separate);
}

}  // namespace bntt
