#include "model/stage.h"

#include <algorithm>

#include "base/threads.h"
#include "kernels/bfloat16.h"
#include "kernels/kernel_set.h"
#include "layers/neurons/blocks.h"
#include "model/stage_clock.h"

namespace bntt {
namespace {

// Rows of few samples would cost more than the currents they describe.
int64_t images_per_row(const Norm& norm, int64_t pixels, int64_t batch) {
  constexpr int64_t kSamplesPerRow = 64;
  if (norm.per_image()) return 1;
  return std::clamp<int64_t>(kSamplesPerRow / pixels, 1, batch);
}

kernels::Affine affine_of(const NormTrace& trace) {
  return {.scale = trace.scale.data(),
          .shift = trace.shift.data(),
          .mean = trace.mean.data(),
          .inverse_deviation = trace.inverse_deviation.data(),
          .rows_per_step = trace.rows_per_step};
}

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

}  // namespace

Stage::Stage(const StagePlan& plan, int64_t run_steps, Propagation propagation)
    : plan_(plan),
      run_steps_(run_steps),
      synapse_(make_synapse(plan)),
      norm_(make_norm(plan.norm, plan.output.channels, run_steps)),
      neurons_(make_neurons(plan, propagation)) {}

Stage::Window Stage::window_of(const Signal& input) const {
  const auto* dense = std::get_if<DenseTrain>(&input);
  const int64_t batch = signal_batch(input);
  const int64_t pixels = plan_.output.pixels();
  Window window;
  window.shape = {signal_steps(input), batch, pixels, plan_.output.channels};
  window.rows = {window.shape.steps, batch, pixels, plan_.output.channels,
                 images_per_row(*norm_, pixels, batch)};
  window.constant_current = dense != nullptr && dense->constant;
  return window;
}

RowMoments Stage::moments_of(const Window& window, const Buffer<float>& current) {
  const RowSplit& rows = window.rows;
  RowMoments moments{rows, Buffer<float>(rows.size()), Buffer<float>(rows.size())};
  const int64_t stored_steps = window.constant_current ? 1 : rows.steps;
  parallel_for(stored_steps * rows.rows_per_step(), [&](int64_t row) {
    const int64_t step = row / rows.rows_per_step();
    const int64_t image = step * rows.batch + row % rows.rows_per_step() * rows.images_per_row;
    take_moments(current.data() + image * rows.pixels * rows.channels, row, moments);
  });
  if (window.constant_current) repeat_first_step(moments);
  return moments;
}

// Neurons read the rounded currents too: backward recomputes membranes from what was kept, and must
// find the same spikes.
Stage::Written Stage::write_currents(const Signal& input, const Window& window,
                                     const PreparedWeights& weights, const Wanted& wanted) const {
  const int64_t frame = window.shape.frame();
  const int64_t frames = (window.constant_current ? 1 : window.shape.steps) * window.shape.batch;
  Written result{.moments = {.split = window.rows}};
  if (wanted.halves) result.halves = Buffer<uint16_t>(frames * frame);
  const bool frame_is_row = window.rows.images_per_row == 1;
  // Halves alone are kept, except where moments are taken of several frames together.
  const bool keep_floats = !wanted.halves || (wanted.moments && !frame_is_row);
  if (keep_floats) result.current = Buffer<float>(frames * frame);
  if (wanted.moments && frame_is_row) {
    result.moments.mean = Buffer<float>(window.rows.size());
    result.moments.squared_deviations = Buffer<float>(window.rows.size());
  }
  float* kept = keep_floats ? result.current.data() : nullptr;
  synapse_->forward(input, weights, kept, [&](int64_t first, int64_t end, float* currents) {
    if (wanted.halves) {
      kernels::round_to_bfloat16(currents, (end - first) * frame,
                                 result.halves.data() + first * frame);
    }
    if (!wanted.moments || !frame_is_row) return;
    for (int64_t row = first; row < end; ++row) {
      take_moments(currents + (row - first) * frame, row, result.moments);
    }
  });
  if (wanted.moments && frame_is_row && window.constant_current) repeat_first_step(result.moments);
  if (wanted.moments && !frame_is_row) result.moments = moments_of(window, result.current);
  return result;
}

kernels::Currents Stage::view(const Window& window, const Buffer<float>& current,
                              const Buffer<uint16_t>& halves) {
  return {current.data(), window.constant_current ? 0 : window.shape.batch * window.shape.frame(),
          halves.data()};
}

// scale = γ / √(σ² + ε), shift = −μ · scale.
void Stage::fold_gain(const float* gain, int64_t first, NormTrace& trace) const {
  const bool per_step = norm_->gain_rows() == run_steps_;
  const int64_t channels = plan_.output.channels;
  trace.scale = Buffer<float>(trace.mean.size());
  trace.shift = Buffer<float>(trace.mean.size());
  for (int64_t row = 0; row < trace.mean.size() / channels; ++row) {
    const int64_t step = plan_.first_step + first + row / trace.rows_per_step;
    const float* gain_row = gain == nullptr ? nullptr : gain + (per_step ? step * channels : 0);
    for (int64_t c = 0; c < channels; ++c) {
      const int64_t at = row * channels + c;
      const float scale = (gain_row == nullptr ? 1.0F : gain_row[c]) * trace.inverse_deviation[at];
      trace.scale[at] = scale;
      trace.shift[at] = -trace.mean[at] * scale;
    }
  }
}

StageTrace Stage::forward(const Signal& input, const StageNumbers& numbers,
                          const ForwardOptions& options, RunningStatistics& running,
                          Buffer<float>* voltage) const {
  const NormMode mode = options.mode;
  const Window window = window_of(input);
  StageTrace trace;
  trace.current_constant = window.constant_current;
  PhaseTimer timer(plan_.name, StagePhase::synapse_forward);
  const bool from_batch = mode == NormMode::batch && norm_->statistics_rows() > 0;
  const bool mixed = options.precision == Precision::mixed;
  Written written = write_currents(input, window, *numbers.prepared,
                                   {.halves = mixed, .moments = from_batch || norm_->per_image()});
  timer.next(StagePhase::neuron_forward);
  const RowMoments& moments = written.moments;
  trace.norm = mode == NormMode::batch ? norm_->from_batch(moments, plan_.first_step, running)
                                       : norm_->from_running(moments, plan_.first_step, running);
  fold_gain(numbers.gain, 0, trace.norm);
  if (mixed) written.current = Buffer<float>();
  Buffer<float> carry = Buffer<float>::zeros(window.shape.batch * window.shape.frame());
  trace.output = neurons_->forward(window.shape, affine_of(trace.norm),
                                   view(window, written.current, written.halves), carry.data());
  if (voltage != nullptr) *voltage = std::move(carry);
  if (options.keep == Keep::for_backward && !worth_keeping(window)) return trace;
  trace.current = std::move(written.current);
  trace.half_current = std::move(written.halves);
  return trace;
}

Signal Stage::advance(const Signal& input, int64_t first, const StageNumbers& numbers,
                      const RunningStatistics& running, Buffer<float>& carry,
                      const AdvanceOptions& options) const {
  Buffer<float> of_window;
  Buffer<float>& constant_current =
      options.constant_current != nullptr ? *options.constant_current : of_window;
  const int64_t steps = signal_steps(input);
  const auto works = [&](int64_t step) {
    return options.active == nullptr || options.active->at(plan_.first_step + first + step);
  };
  const auto end_of_run = [&](int64_t begin) {
    int64_t end = begin + 1;
    while (end < steps && works(end) == works(begin)) ++end;
    return end;
  };
  if (end_of_run(0) == steps) {
    return works(0) ? work(input, first, numbers, running, carry, constant_current)
                    : rest(window_of(input), carry);
  }
  SpikeTrain spikes(steps, signal_batch(input), plan_.output);
  for (int64_t begin = 0, end = 0; begin < steps; begin = end) {
    end = end_of_run(begin);
    const Signal run = slice_steps(input, begin, end - begin);
    const Signal output = works(begin)
                              ? work(run, first + begin, numbers, running, carry, constant_current)
                              : rest(window_of(run), carry);
    if (plan_.readout) continue;
    const Buffer<SpikeWord>& words = std::get<SpikeTrain>(output).words();
    std::copy(words.begin(), words.end(), spikes.frame(0, begin, 0));
  }
  return plan_.readout ? Signal{} : std::move(spikes);
}

Signal Stage::work(const Signal& input, int64_t first, const StageNumbers& numbers,
                   const RunningStatistics& running, Buffer<float>& carry,
                   Buffer<float>& constant_current) const {
  if (can_work_by_rows(input)) return work_by_rows(input, first, numbers, running, carry);
  const Window window = window_of(input);
  PhaseTimer timer(plan_.name, StagePhase::synapse_forward);
  Written written{.moments = {.split = window.rows}};
  if (!window.constant_current || constant_current.empty()) {
    written = write_currents(input, window, *numbers.prepared, {.moments = norm_->per_image()});
    if (window.constant_current) constant_current = std::move(written.current);
  } else if (norm_->per_image()) {
    written.moments = moments_of(window, constant_current);
  }
  const Buffer<float>& current = window.constant_current ? constant_current : written.current;
  timer.next(StagePhase::neuron_forward);
  NormTrace trace = norm_->from_running(written.moments, plan_.first_step + first, running);
  fold_gain(numbers.gain, first, trace);
  return neurons_->forward(window.shape, affine_of(trace), view(window, current, {}), carry.data());
}

bool Stage::can_work_by_rows(const Signal& input) const {
  return neurons_->has_step() && !norm_->per_image() && synapse_->makes_rows(input);
}

SpikeTrain Stage::work_by_rows(const Signal& input, int64_t first, const StageNumbers& numbers,
                               const RunningStatistics& running, Buffer<float>& carry) const {
  const Window window = window_of(input);
  PhaseTimer timer(plan_.name, StagePhase::forward_by_rows);
  NormTrace trace = norm_->from_running({.split = window.rows}, plan_.first_step + first, running);
  fold_gain(numbers.gain, first, trace);
  SpikeTrain spikes(window.shape.steps, window.shape.batch, plan_.output);
  const MapShape& map = plan_.output;
  const int64_t pixel_bytes = spikes.words_per_pixel() * static_cast<int64_t>(sizeof(SpikeWord));
  synapse_->forward_by_rows(input, *numbers.prepared, [&](const CurrentRow& row) {
    const int64_t pixel = row.y * map.width;
    const int64_t norm = row.step * map.channels + row.first_channel;
    auto* frame = reinterpret_cast<uint8_t*>(spikes.frame(0, row.step, row.image));
    neurons_->step(
        {.pixels = map.width,
         .channels = row.channels,
         .scale = trace.scale.data() + norm,
         .shift = trace.shift.data() + norm,
         .currents = {.data = row.values},
         .current_stride = row.stride,
         .carry = carry.data() + row.image * map.size() + pixel * map.channels + row.first_channel,
         .carry_stride = map.channels,
         .spikes = frame + pixel * pixel_bytes + row.first_channel / 8,
         .spike_stride = pixel_bytes});
  });
  return spikes;
}

// The membranes leak, and may still fire what they hold.
Signal Stage::rest(const Window& window, Buffer<float>& carry) const {
  if (plan_.readout) return {};
  const auto zeros = Buffer<float>::zeros(window.shape.batch * window.shape.frame());
  const auto nothing = Buffer<float>::zeros(window.shape.steps * window.shape.channels);
  return neurons_->forward(window.shape, {.scale = nothing.data(), .shift = nothing.data()},
                           {.data = zeros.data(), .step_stride = 0}, carry.data());
}

// Of few inputs: a current costs a few additions then, and four bytes to keep.
bool Stage::worth_keeping(const Window& window) const {
  constexpr int64_t kCheapInputs = 64;
  constexpr int64_t kLarge = 1 << 22;
  return plan_.fan_in > kCheapInputs || window.constant_current ||
         window.shape.steps * window.shape.batch * window.shape.frame() < kLarge;
}

Buffer<float> Stage::backward(const Signal& input, StageTrace trace, const StageNumbers& numbers,
                              const ForwardOptions& options, Arriving arriving,
                              const Gradients& gradients, bool want_input_gradient) const {
  const Window window = window_of(input);
  const kernels::NeuronShape& shape = window.shape;
  const kernels::Affine affine = affine_of(trace.norm);
  PhaseTimer timer(plan_.name, StagePhase::synapse_forward);
  if (trace.current.empty() && trace.half_current.empty()) {
    Written again = write_currents(input, window, *numbers.prepared,
                                   {.halves = options.precision == Precision::mixed});
    trace.current = std::move(again.current);
    trace.half_current = std::move(again.halves);
  }
  const kernels::Currents currents = view(window, trace.current, trace.half_current);

  timer.next(StagePhase::neuron_backward);
  RowGradientSums sums{window.rows, Buffer<float>::zeros(window.rows.size()),
                       Buffer<float>::zeros(window.rows.size())};
  // Without a pool the gradient at y overwrites the one at the spikes, place by place.
  const bool in_place = !plan_.readout && arriving.pool.is_identity();
  Buffer<float> own =
      in_place ? Buffer<float>() : Buffer<float>(shape.steps * shape.batch * shape.frame());
  Buffer<float>& gradient = in_place ? arriving.gradient : own;
  neurons_->backward(shape, affine, currents, {arriving.gradient.data(), arriving.pool},
                     gradient.data(), sums);

  const NormGradient rows = norm_->backward(trace.norm, sums, plan_.first_step, options.mode,
                                            numbers.gain, gradients.gain);
  for_each_block(shape, [&](const kernels::PixelBlock& block) {
    kernels::kernels().norm_backward(shape, affine,
                                     {rows.scale.data(), rows.slope.data(), rows.offset.data()},
                                     currents, block, gradient.data());
  });

  trace.current = Buffer<float>();
  trace.half_current = Buffer<uint16_t>();
  if (!in_place) arriving.gradient = Buffer<float>();

  timer.next(StagePhase::weight_gradient);
  synapse_->weight_gradient(input, gradient.data(), gradients.weights);
  if (!want_input_gradient) return {};
  timer.next(StagePhase::input_gradient);
  const int64_t size = stored_frames(input) * plan_.input.size();
  if (size == gradient.size()) {
    synapse_->input_gradient(gradient.data(), numbers.weights, stored_frames(input),
                             gradient.data());
    return std::move(gradient);
  }
  Buffer<float> input_gradient(size);
  synapse_->input_gradient(gradient.data(), numbers.weights, stored_frames(input),
                           input_gradient.data());
  return input_gradient;
}

}  // namespace bntt
