#include "model/branch.h"

#include <algorithm>

#include "base/fail.h"
#include "base/threads.h"
#include "kernels/bfloat16.h"
#include "kernels/kernel_set.h"
#include "layers/neurons/blocks.h"
#include "layers/norms/norm_checks.h"
#include "layers/synapses/prepared_weights.h"
#include "model/stage_clock.h"

namespace bntt {
namespace {

/// Takes the moments of row `row` of all steps' rows, whose currents begin at `current`.
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

void silence_resting(const RestingSteps& resting, NormTrace& trace) {
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

RowMoments moments_in(const RowMoments& moments, const StepRun& run) {
  RowMoments part{.split = moments.split};
  part.split.steps = run.size();
  const int64_t first = moments.split.at(run.stored, 0);
  part.mean = Buffer<float>(part.split.size());
  part.squared_deviations = Buffer<float>(part.split.size());
  std::copy_n(moments.mean.data() + first, part.split.size(), part.mean.data());
  std::copy_n(moments.squared_deviations.data() + first, part.split.size(),
              part.squared_deviations.data());
  return part;
}

}  // namespace

Arithmetic arithmetic_of(Precision precision) {
  return precision == Precision::bf16 ? Arithmetic::bf16 : Arithmetic::fp32;
}

bool is_constant(const Signal& input) {
  const auto* dense = std::get_if<DenseTrain>(&input);
  return dense != nullptr && dense->constant;
}

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
  return {.data = trace.current.data(),
          .step_stride = trace.current_constant ? 0 : shape.batch * shape.frame(),
          .halves = trace.half_current.data(),
          .stored_steps = trace.stored_steps.empty() ? nullptr : trace.stored_steps.data()};
}

Branch::Branch(const BranchPlan& plan, const StagePlan& stage, int64_t run_steps)
    : plan_(plan),
      stage_name_(stage.name),
      first_step_(stage.first_step),
      synapse_(plan),
      norm_(make_norm(plan.norm, place_of(stage, run_steps))),
      has_statistics_(!norm_->statistics().empty()),
      working_(std::vector<bool>(stage.active_steps, true)) {}

kernels::NeuronShape Branch::shape_of(const Signal& input) const {
  return {signal_steps(input), signal_batch(input), plan_.output.pixels(), plan_.output.channels};
}

// The moments of rows with few samples would take more memory than the currents they describe.
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

// Neurons read the rounded currents too: the backward pass recomputes membranes from the stored
// currents, and must find the same spikes.
Branch::BranchCurrents Branch::write_currents(const Signal& input, const PreparedWeights& weights,
                                              const CurrentOptions& wanted) const {
  const kernels::NeuronShape shape = shape_of(input);
  const bool constant = is_constant(input);
  const int64_t frame = shape.frame();
  const int64_t frames = stored_frames(input);
  const RowSplit rows = row_split(shape);
  BranchCurrents result{.moments = {.split = rows}};
  if (wanted.halves) result.halves = Buffer<uint16_t>(frames * frame);
  const bool frame_is_row = rows.images_per_row == 1;
  // Only halves are kept, except where moments are taken over several frames together.
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

std::span<const float> Branch::units(const BranchNumbers& numbers, const Signal& input) {
  if (!numbers.prepared->sums_integers(input)) return {};
  return numbers.prepared->scales();
}

// A bias shifts every current of a channel by the same amount, so currents are stored without it:
// it is added to the moments that the norm sees, and subtracted from the mean that is subtracted
// from a current. Sums of integers are stored as integers: their scale is part of the affine map.
void Branch::finish(std::span<const float> units, const BranchNumbers& numbers,
                    RowMoments& moments) const {
  const auto channels = static_cast<std::size_t>(plan_.output.channels);
  for (int64_t i = 0; !units.empty() && i < moments.mean.size(); ++i) {
    const float unit = units[static_cast<std::size_t>(i) % channels];
    moments.mean[i] *= unit;
    moments.squared_deviations[i] *= unit * unit;
  }
  const Buffer<float>* b = bias(numbers);
  if (b == nullptr) return;
  for (int64_t i = 0; i < moments.mean.size(); ++i) moments.mean[i] += (*b)[i % b->size()];
}

void Branch::finish(int64_t run_step, std::span<const float> units, const BranchNumbers& numbers,
                    NormTrace& trace) const {
  if (const Buffer<float>* b = bias(numbers)) {
    for (int64_t i = 0; i < trace.mean.size(); ++i) trace.mean[i] -= (*b)[i % b->size()];
  }
  norm_->fold(run_step, numbers.norm, numbers.input_factor, trace);
  const auto channels = static_cast<std::size_t>(plan_.output.channels);
  for (int64_t i = 0; !units.empty() && i < trace.scale.size(); ++i) {
    const float unit = units[static_cast<std::size_t>(i) % channels];
    trace.scale[i] *= unit;
    trace.mean[i] /= unit;
    trace.inverse_deviation[i] *= unit;
  }
  silence(run_step - first_step_, trace);
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

Branch::BranchCurrents Branch::write_working_currents(const Signal& input,
                                                      const PreparedWeights& weights,
                                                      const CurrentOptions& wanted) const {
  return working_.all() ? write_currents(input, weights, wanted)
                        : write_currents(working_.pick(input), weights, wanted);
}

// Run by run, so that the running statistics of steps that are off stay as they are.
NormTrace Branch::trace_of_batch(const kernels::NeuronShape& shape, const RowMoments& moments,
                                 std::span<Statistic> statistics) const {
  if (working_.all()) return norm_->from_batch(moments, first_step_, statistics);
  NormTrace whole{.mean = Buffer<float>::zeros(shape.steps * shape.channels),
                  .inverse_deviation = Buffer<float>::zeros(shape.steps * shape.channels)};
  for (const StepRun& run : working_.runs()) {
    const NormTrace part =
        norm_->from_batch(moments_in(moments, run), first_step_ + run.begin, statistics);
    expect_whole(part, run.size(), shape.batch);
    const int64_t first = run.begin * shape.channels;
    std::copy(part.mean.begin(), part.mean.end(), whole.mean.data() + first);
    std::copy(part.inverse_deviation.begin(), part.inverse_deviation.end(),
              whole.inverse_deviation.data() + first);
  }
  return whole;
}

void Branch::silence(int64_t first, NormTrace& trace) const {
  if (working_.all()) return;
  const int64_t row = trace.rows_per_step * plan_.output.channels;
  for (int64_t step = 0; step < trace.mean.size() / row; ++step) {
    if (working_.works(first + step)) continue;
    for (Buffer<float>* numbers :
         {&trace.mean, &trace.inverse_deviation, &trace.scale, &trace.shift}) {
      std::fill_n(numbers->data() + step * row, row, 0.0F);
    }
  }
}

BranchTrace Branch::forward(const Signal& input, const BranchNumbers& numbers,
                            std::span<Statistic> statistics, const ForwardOptions& options) const {
  PhaseTimer timer(stage_name_, StagePhase::synapse_forward);
  const bool halves = keeps_halves(options.precision);
  BranchCurrents written = write_working_currents(input, *numbers.prepared,
                                                  {.halves = halves,
                                                   .moments = takes_batch_moments(options.mode),
                                                   .arithmetic = arithmetic_of(options.precision)});
  timer.next(StagePhase::neuron_forward);
  BranchTrace trace{.current_constant = is_constant(input),
                    .stored_steps = working_.stored_steps()};
  finish(units(numbers, input), numbers, written.moments);
  if (options.mode == NormMode::batch) {
    trace.norm = trace_of_batch(shape_of(input), written.moments, statistics);
  } else {
    written.moments.split.steps = signal_steps(input);
    trace.norm = norm_->from_running(written.moments, first_step_, statistics);
  }
  expect_whole(trace.norm, signal_steps(input), signal_batch(input));
  finish(first_step_, units(numbers, input), numbers, trace.norm);
  if (!halves) trace.current = std::move(written.current);
  trace.half_current = std::move(written.halves);
  return trace;
}

// With few inputs, computing a current costs a few additions, and storing it four bytes.
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
  BranchCurrents again = write_working_currents(
      input, *numbers.prepared,
      {.halves = keeps_halves(precision), .arithmetic = arithmetic_of(precision)});
  trace.current = std::move(again.current);
  trace.half_current = std::move(again.halves);
}

NormTrace Branch::evaluated_norm(int64_t steps, int64_t first, const BranchNumbers& numbers) const {
  const RowSplit rows{steps, 1, plan_.output.pixels(), plan_.output.channels};
  NormTrace trace = norm_->from_running({.split = rows}, first_step_ + first, numbers.statistics);
  expect_whole(trace, steps, 1);
  finish(first_step_ + first, numbers.prepared->scales(), numbers, trace);
  return trace;
}

// A resting step has a map of 0 and a current of 0, or the constant one: 0 is added to the
// membrane.
Branch::Evaluation Branch::evaluate(const Signal& input, int64_t first, const RestingSteps& resting,
                                    const BranchNumbers& numbers,
                                    Buffer<float>& constant_current) const {
  const kernels::NeuronShape shape = shape_of(input);
  const bool constant = is_constant(input);
  PhaseTimer timer(stage_name_, StagePhase::synapse_forward);
  Evaluation result;
  BranchCurrents written{.moments = {.split = row_split(shape)}};
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
  finish(units(numbers, input), numbers, written.moments);
  result.norm = norm_->from_running(written.moments, first_step_ + first, numbers.statistics);
  expect_whole(result.norm, shape.steps, shape.batch);
  finish(first_step_ + first, units(numbers, input), numbers, result.norm);
  silence_resting(resting, result.norm);
  return result;
}

}  // namespace bntt
