#include "model/branch.h"

#include <algorithm>

#include "base/fail.h"
#include "base/threads.h"
#include "kernels/bfloat16.h"
#include "kernels/kernel_set.h"
#include "layers/neurons/blocks.h"
#include "layers/norms/norm_checks.h"
#include "layers/synapses/gradient_parts.h"
#include "layers/synapses/prepared_weights.h"
#include "model/stage_clock.h"

namespace bntt {
namespace {

/// Row `row` of all steps' rows, whose currents begin at `current`.
void take_moments(const float* current, int64_t row, RowMoments& moments) {
  const RowSplit& split = moments.split;
  kernels::kernels().channel_moments(current, split.samples_in(row % split.rows_per_step()),
                                     split.channels, moments.mean.data() + row * split.channels,
                                     moments.squared_deviations.data() + row * split.channels);
}

void repeat_first_step(RowMoments& moments) {
  const int64_t size = moments.split.rows_per_step() * moments.split.channels;
  for (int64_t step = 1; step < moments.split.steps; ++step) {
    std::copy_n(moments.mean.data(), size, moments.mean.data() + step * size);
    std::copy_n(moments.squared_deviations.data(), size,
                moments.squared_deviations.data() + step * size);
  }
}

Arithmetic arithmetic_of(Precision precision) {
  return precision == Precision::bf16 ? Arithmetic::bf16 : Arithmetic::fp32;
}

bool is_constant(const Signal& input) {
  const auto* dense = std::get_if<DenseTrain>(&input);
  return dense != nullptr && dense->constant;
}

void silence(const RestingSteps& resting, NormTrace& trace) {
  for (int64_t step = 0; step < std::ssize(resting); ++step) {
    if (!resting[step]) continue;
    const int64_t size = trace.scale.size() / std::ssize(resting);
    std::fill_n(trace.scale.data() + step * size, size, 0.0F);
    std::fill_n(trace.shift.data() + step * size, size, 0.0F);
  }
}

NormPlace place_of(const StagePlan& stage, int64_t run_steps) {
  return {.channels = stage.output.channels,
          .run_steps = run_steps,
          .threshold = stage.neuron.threshold,
          .branches = std::ssize(stage.branches)};
}

void scale(Buffer<float>& values, float factor) {
  if (factor == 1.0F) return;
  for (float& value : values) value *= factor;
}

/// Σ over frames and pixels: [channel].
Buffer<float> channel_sums(const float* values, int64_t samples, int64_t channels) {
  constexpr int64_t kSamplesTogether = 256;
  const int64_t chunks = (samples + kSamplesTogether - 1) / kSamplesTogether;
  return sum_in_parts(chunks, channels, [&](int64_t chunk, float* sum) {
    const int64_t end = std::min(samples, (chunk + 1) * kSamplesTogether);
    for (int64_t s = chunk * kSamplesTogether; s < end; ++s) {
      for (int64_t c = 0; c < channels; ++c) sum[c] += values[s * channels + c];
    }
  });
}

}  // namespace

const float* BranchNumbers::weights() const {
  const bool weighted = !synapse.empty() && synapse.front().group == ParameterGroup::weight;
  return weighted ? synapse.front().value.data() : nullptr;
}

RestingFrames frames_of(const RestingSteps& resting, int64_t batch) {
  RestingFrames frames;
  for (const bool rests : resting) frames.insert(frames.end(), batch, rests);
  return frames;
}

kernels::Affine affine_of(const NormTrace& trace) {
  return {.scale = trace.scale.data(),
          .shift = trace.shift.data(),
          .mean = trace.mean.data(),
          .inverse_deviation = trace.inverse_deviation.data(),
          .rows_per_step = trace.rows_per_step};
}

kernels::Currents currents_of(const BranchTrace& trace, const kernels::NeuronShape& shape) {
  return {trace.current.data(), trace.current_constant ? 0 : shape.batch * shape.frame(),
          trace.half_current.data()};
}

Branch::Branch(const BranchPlan& plan, const StagePlan& stage, int64_t run_steps)
    : plan_(plan),
      stage_name_(stage.name),
      first_step_(stage.first_step),
      synapse_(plan),
      norm_(make_norm(plan.norm, place_of(stage, run_steps))),
      has_statistics_(!norm_->statistics().empty()) {}

kernels::NeuronShape Branch::shape_of(const Signal& input) const {
  return {signal_steps(input), signal_batch(input), plan_.output.pixels(), plan_.output.channels};
}

// Rows of few samples would cost more than the currents they describe.
RowSplit Branch::row_split(const kernels::NeuronShape& shape) const {
  constexpr int64_t kSamplesPerRow = 64;
  const int64_t images =
      norm_->per_image() ? 1 : std::clamp<int64_t>(kSamplesPerRow / shape.pixels, 1, shape.batch);
  return {shape.steps, shape.batch, shape.pixels, shape.channels, images};
}

RowMoments Branch::moments_of(const kernels::NeuronShape& shape, bool constant,
                              const Buffer<float>& current) const {
  const RowSplit rows = row_split(shape);
  RowMoments moments{rows, Buffer<float>(rows.size()), Buffer<float>(rows.size())};
  const int64_t stored_steps = constant ? 1 : rows.steps;
  parallel_for(stored_steps * rows.rows_per_step(), [&](int64_t row) {
    const int64_t step = row / rows.rows_per_step();
    const int64_t image = step * rows.batch + row % rows.rows_per_step() * rows.images_per_row;
    take_moments(current.data() + image * rows.pixels * rows.channels, row, moments);
  });
  if (constant) repeat_first_step(moments);
  return moments;
}

// Neurons read the rounded currents too: backward recomputes membranes from what was kept, and must
// find the same spikes.
Branch::Written Branch::write_currents(const Signal& input, const PreparedWeights& weights,
                                       const Wanted& wanted) const {
  const kernels::NeuronShape shape = shape_of(input);
  const bool constant = is_constant(input);
  const int64_t frame = shape.frame();
  const int64_t frames = stored_frames(input);
  const RowSplit rows = row_split(shape);
  Written result{.moments = {.split = rows}};
  if (wanted.halves) result.halves = Buffer<uint16_t>(frames * frame);
  const bool frame_is_row = rows.images_per_row == 1;
  // Halves alone are kept, except where moments are taken of several frames together.
  const bool keep_floats = !wanted.halves || (wanted.moments && !frame_is_row);
  if (keep_floats) result.current = Buffer<float>(frames * frame);
  if (wanted.moments && frame_is_row) {
    result.moments.mean = Buffer<float>(rows.size());
    result.moments.squared_deviations = Buffer<float>(rows.size());
  }
  float* kept = keep_floats ? result.current.data() : nullptr;
  const auto take_over = [&](int64_t first, int64_t end, float* currents) {
    if (wanted.halves) {
      kernels::round_to_bfloat16(currents, (end - first) * frame,
                                 result.halves.data() + first * frame);
    }
    if (!wanted.moments || !frame_is_row) return;
    for (int64_t row = first; row < end; ++row) {
      take_moments(currents + (row - first) * frame, row, result.moments);
    }
  };
  const bool takes_over = wanted.halves || (wanted.moments && frame_is_row);
  synapse_.forward(input, weights, kept, takes_over ? FramesWritten(take_over) : nullptr,
                   wanted.arithmetic, wanted.resting);
  if (wanted.moments && frame_is_row && constant) repeat_first_step(result.moments);
  if (wanted.moments && !frame_is_row) {
    result.moments = moments_of(shape, constant, result.current);
  }
  return result;
}

const Buffer<float>* Branch::bias(const BranchNumbers& numbers) const {
  return plan_.bias ? &numbers.synapse.back().value : nullptr;
}

// A bias moves every current of a channel alike. So currents are kept without it: the moments that
// the norm sees have it added, and the mean that is subtracted from a current has it taken out.
void Branch::add_bias(const BranchNumbers& numbers, RowMoments& moments) const {
  const Buffer<float>* b = bias(numbers);
  if (b == nullptr) return;
  for (int64_t i = 0; i < moments.mean.size(); ++i) moments.mean[i] += (*b)[i % b->size()];
}

void Branch::finish(int64_t run_step, const BranchNumbers& numbers, NormTrace& trace) const {
  if (const Buffer<float>* b = bias(numbers)) {
    for (int64_t i = 0; i < trace.mean.size(); ++i) trace.mean[i] -= (*b)[i % b->size()];
  }
  norm_->fold(run_step, numbers.norm, numbers.input_factor, trace);
}

void Branch::expect_whole(const NormTrace& trace, int64_t steps, int64_t batch) const {
  expect_trace(trace, steps, norm_->per_image() ? batch : 1, plan_.output.channels);
}

void Branch::expect_whole(const NormGradient& rows, const NormTrace& trace) const {
  for (const Buffer<float>* numbers : {&rows.scale, &rows.slope, &rows.offset}) {
    if (numbers->size() == trace.mean.size()) continue;
    fail("norm '{}': its gradient has {} numbers, expected {}", plan_.norm.kind, numbers->size(),
         trace.mean.size());
  }
}

bool Branch::takes_batch_moments(NormMode mode) const {
  return norm_->per_image() || (mode == NormMode::batch && has_statistics_);
}

BranchTrace Branch::forward(const Signal& input, const BranchNumbers& numbers,
                            std::span<Statistic> statistics, const ForwardOptions& options) const {
  PhaseTimer timer(stage_name_, StagePhase::synapse_forward);
  const bool halves = keeps_halves(options.precision);
  Written written = write_currents(input, *numbers.prepared,
                                   {.halves = halves,
                                    .moments = takes_batch_moments(options.mode),
                                    .arithmetic = arithmetic_of(options.precision)});
  timer.next(StagePhase::neuron_forward);
  BranchTrace trace{.current_constant = is_constant(input)};
  add_bias(numbers, written.moments);
  trace.norm = options.mode == NormMode::batch
                   ? norm_->from_batch(written.moments, first_step_, statistics)
                   : norm_->from_running(written.moments, first_step_, statistics);
  expect_whole(trace.norm, signal_steps(input), signal_batch(input));
  finish(first_step_, numbers, trace.norm);
  if (!halves) trace.current = std::move(written.current);
  trace.half_current = std::move(written.halves);
  return trace;
}

// Of few inputs: a current costs a few additions then, and four bytes to keep.
void Branch::drop_cheap_currents(const Signal& input, BranchTrace& trace) const {
  constexpr int64_t kCheapInputs = 64;
  constexpr int64_t kLarge = 1 << 22;
  const kernels::NeuronShape shape = shape_of(input);
  if (plan_.fan_in > kCheapInputs || trace.current_constant ||
      shape.steps * shape.batch * shape.frame() < kLarge) {
    return;
  }
  trace.current = Buffer<float>();
  trace.half_current = Buffer<uint16_t>();
}

void Branch::restore_currents(const Signal& input, const BranchNumbers& numbers,
                              Precision precision, BranchTrace& trace) const {
  if (!trace.current.empty() || !trace.half_current.empty()) return;
  const PhaseTimer timer(stage_name_, StagePhase::synapse_forward);
  Written again =
      write_currents(input, *numbers.prepared,
                     {.halves = keeps_halves(precision), .arithmetic = arithmetic_of(precision)});
  trace.current = std::move(again.current);
  trace.half_current = std::move(again.halves);
}

NormTrace Branch::evaluated_norm(int64_t steps, int64_t first, const BranchNumbers& numbers) const {
  const RowSplit rows{steps, 1, plan_.output.pixels(), plan_.output.channels};
  NormTrace trace = norm_->from_running({.split = rows}, first_step_ + first, numbers.statistics);
  expect_whole(trace, steps, 1);
  finish(first_step_ + first, numbers, trace);
  return trace;
}

// What rests has a map of 0 and a current of 0, or the constant one: 0 is added to the membrane.
Branch::Evaluated Branch::evaluate(const Signal& input, int64_t first, const RestingSteps& resting,
                                   const BranchNumbers& numbers,
                                   Buffer<float>& constant_current) const {
  const kernels::NeuronShape shape = shape_of(input);
  const bool constant = is_constant(input);
  PhaseTimer timer(stage_name_, StagePhase::synapse_forward);
  Evaluated result;
  Written written{.moments = {.split = row_split(shape)}};
  if (!constant || constant_current.empty()) {
    written =
        write_currents(input, *numbers.prepared,
                       {.moments = norm_->per_image(),
                        .resting = constant ? RestingFrames() : frames_of(resting, shape.batch)});
    (constant ? constant_current : result.own) = std::move(written.current);
  } else if (norm_->per_image()) {
    written.moments = moments_of(shape, true, constant_current);
  }
  result.currents = {constant ? constant_current.data() : result.own.data(),
                     constant ? 0 : shape.batch * shape.frame()};
  timer.next(StagePhase::neuron_forward);
  add_bias(numbers, written.moments);
  result.norm = norm_->from_running(written.moments, first_step_ + first, numbers.statistics);
  expect_whole(result.norm, shape.steps, shape.batch);
  finish(first_step_ + first, numbers, result.norm);
  silence(resting, result.norm);
  return result;
}

Buffer<float> Branch::backward(const Signal& input, BranchTrace trace, const BranchNumbers& numbers,
                               const ForwardOptions& options, RowGradientSums sums,
                               Buffer<float> gradient, const Gradients& gradients,
                               bool want_input_gradient) const {
  const kernels::NeuronShape shape = shape_of(input);
  PhaseTimer timer(stage_name_, StagePhase::neuron_backward);
  // ∂L/∂y = factor · ∂L/∂v.
  scale(sums.gradient, numbers.input_factor);
  scale(sums.gradient_times_unit, numbers.input_factor);
  NormGradient rows = norm_->backward(trace.norm, sums, first_step_, options.mode, gradients.norm);
  expect_whole(rows, trace.norm);
  scale(rows.scale, numbers.input_factor);
  for_each_block(shape, [&](const kernels::PixelBlock& block) {
    kernels::kernels().norm_backward(shape, affine_of(trace.norm),
                                     {rows.scale.data(), rows.slope.data(), rows.offset.data()},
                                     currents_of(trace, shape), block, gradient.data());
  });
  trace.current = Buffer<float>();
  trace.half_current = Buffer<uint16_t>();

  const Arithmetic arithmetic = arithmetic_of(options.precision);
  const int64_t frames = stored_frames(input);
  if (plan_.bias) {
    const Buffer<float> sum = channel_sums(gradient.data(), frames * shape.pixels, shape.channels);
    std::copy_n(sum.data(), shape.channels, gradients.synapse.back().gradient.data());
  }
  if (numbers.weights() != nullptr) {
    timer.next(StagePhase::weight_gradient);
    synapse_.weight_gradient(input, gradient.data(), gradients.synapse.front().gradient.data(),
                             arithmetic);
  }
  if (!want_input_gradient) return {};
  timer.next(StagePhase::input_gradient);
  // Frame by frame in the same place, where frames of both are of one size and equally many.
  if (!is_constant(input) && plan_.input.size() == plan_.output.size()) {
    synapse_.input_gradient(gradient.data(), numbers.weights(), frames, gradient.data(),
                            arithmetic);
    return gradient;
  }
  Buffer<float> input_gradient(frames * plan_.input.size());
  synapse_.input_gradient(gradient.data(), numbers.weights(), frames, input_gradient.data(),
                          arithmetic);
  return input_gradient;
}

}  // namespace bntt
