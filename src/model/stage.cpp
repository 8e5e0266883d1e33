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

constexpr int64_t kRoundedTogether = 1 << 16;

/// Rounds in place; returns the upper halves.
Buffer<uint16_t> rounded(Buffer<float>& values) {
  Buffer<uint16_t> halves(values.size());
  parallel_for((values.size() + kRoundedTogether - 1) / kRoundedTogether, [&](int64_t i) {
    const int64_t first = i * kRoundedTogether;
    kernels::round_to_bfloat16(values.data() + first,
                               std::min(kRoundedTogether, values.size() - first),
                               halves.data() + first);
  });
  return halves;
}

Buffer<float> expanded(const Buffer<uint16_t>& halves) {
  Buffer<float> values(halves.size());
  parallel_for((values.size() + kRoundedTogether - 1) / kRoundedTogether, [&](int64_t i) {
    const int64_t first = i * kRoundedTogether;
    kernels::expand_bfloat16(halves.data() + first,
                             std::min(kRoundedTogether, values.size() - first),
                             values.data() + first);
  });
  return values;
}

}  // namespace

Stage::Stage(const StagePlan& plan, int64_t run_steps, Propagation propagation)
    : plan_(plan),
      run_steps_(run_steps),
      synapse_(make_synapse(plan)),
      norm_(make_norm(plan.norm, plan.output.channels, run_steps)),
      neurons_(make_neurons(plan, propagation)),
      ones_(plan.output.channels) {
  ones_.fill(1.0F);
}

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

Buffer<float> Stage::currents_of(const Signal& input, const Window& window,
                                 const PreparedWeights& weights) const {
  const int64_t stored_steps = window.constant_current ? 1 : window.shape.steps;
  Buffer<float> current(stored_steps * window.shape.batch * window.shape.frame());
  synapse_->forward(input, weights, current.data());
  return current;
}

kernels::Currents Stage::view(const Window& window, const Buffer<float>& current) {
  return {current.data(), window.constant_current ? 0 : window.shape.batch * window.shape.frame()};
}

RowMoments Stage::moments_of(const Window& window, const Buffer<float>& current) {
  const RowSplit& rows = window.rows;
  RowMoments moments{rows, Buffer<float>(rows.size()), Buffer<float>(rows.size())};
  const int64_t computed_steps = window.constant_current ? 1 : rows.steps;
  parallel_for(computed_steps * rows.rows_per_step(), [&](int64_t i) {
    const int64_t step = i / rows.rows_per_step();
    const int64_t row = i % rows.rows_per_step();
    const int64_t first_image = step * rows.batch + row * rows.images_per_row;
    kernels::kernels().channel_moments(current.data() + first_image * window.shape.frame(),
                                       rows.samples_in(row), rows.channels,
                                       moments.mean.data() + rows.at(step, row),
                                       moments.squared_deviations.data() + rows.at(step, row));
  });
  for (int64_t step = computed_steps; step < rows.steps; ++step) {
    const int64_t size = rows.rows_per_step() * rows.channels;
    std::copy_n(moments.mean.data(), size, moments.mean.data() + step * size);
    std::copy_n(moments.squared_deviations.data(), size,
                moments.squared_deviations.data() + step * size);
  }
  return moments;
}

kernels::Affine Stage::affine_of(const NormTrace& trace, const float* gain, int64_t first) const {
  const bool per_step = norm_->gain_rows() == run_steps_;
  const int64_t channels = plan_.output.channels;
  return {.mean = trace.mean.data(),
          .inverse_deviation = trace.inverse_deviation.data(),
          .rows_per_step = trace.rows_per_step,
          .gain = gain == nullptr ? ones_.data()
                                  : gain + (per_step ? (plan_.first_step + first) * channels : 0),
          .gain_step_stride = gain != nullptr && per_step ? channels : 0};
}

StageTrace Stage::forward(const Signal& input, const StageNumbers& numbers,
                          const ForwardOptions& options, RunningStatistics& running,
                          Buffer<float>* voltage) const {
  const NormMode mode = options.mode;
  const Window window = window_of(input);
  StageTrace trace;
  trace.current_constant = window.constant_current;
  PhaseTimer timer(plan_.name, StagePhase::synapse_forward);
  trace.current = currents_of(input, window, *numbers.prepared);
  timer.next(StagePhase::neuron_forward);
  // Before anything reads them: backward recomputes membranes from what was kept, and must find the
  // same spikes.
  if (options.precision == Precision::mixed) trace.half_current = rounded(trace.current);
  const bool from_batch = mode == NormMode::batch && norm_->statistics_rows() > 0;
  const RowMoments moments = from_batch || norm_->per_image() ? moments_of(window, trace.current)
                                                              : RowMoments{.split = window.rows};
  trace.norm = mode == NormMode::batch ? norm_->from_batch(moments, plan_.first_step, running)
                                       : norm_->from_running(moments, plan_.first_step, running);
  Buffer<float> carry = Buffer<float>::zeros(window.shape.batch * window.shape.frame());
  trace.output = neurons_->forward(window.shape, affine_of(trace.norm, numbers.gain, 0),
                                   view(window, trace.current), carry.data());
  if (voltage != nullptr) *voltage = std::move(carry);
  if (options.precision == Precision::mixed) trace.current = Buffer<float>();
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
  const Window window = window_of(input);
  PhaseTimer timer(plan_.name, StagePhase::synapse_forward);
  Buffer<float> own;
  Buffer<float>& current = window.constant_current ? constant_current : own;
  if (current.empty()) current = currents_of(input, window, *numbers.prepared);
  timer.next(StagePhase::neuron_forward);
  const RowMoments moments =
      norm_->per_image() ? moments_of(window, current) : RowMoments{.split = window.rows};
  const NormTrace trace = norm_->from_running(moments, plan_.first_step + first, running);
  return neurons_->forward(window.shape, affine_of(trace, numbers.gain, first),
                           view(window, current), carry.data());
}

// The membranes leak, and may still fire what they hold.
Signal Stage::rest(const Window& window, Buffer<float>& carry) const {
  if (plan_.readout) return {};
  const auto zeros = Buffer<float>::zeros(window.shape.batch * window.shape.frame());
  const auto mean = Buffer<float>::zeros(window.shape.steps * window.shape.channels);
  return neurons_->forward(window.shape,
                           {.mean = mean.data(),
                            .inverse_deviation = mean.data(),
                            .rows_per_step = 1,
                            .gain = ones_.data()},
                           {.data = zeros.data(), .step_stride = 0}, carry.data());
}

Buffer<float> Stage::backward(const Signal& input, const StageTrace& trace,
                              const StageNumbers& numbers, NormMode mode, Arriving arriving,
                              const Gradients& gradients, bool want_input_gradient) const {
  const Window window = window_of(input);
  const kernels::NeuronShape& shape = window.shape;
  const kernels::Affine affine = affine_of(trace.norm, numbers.gain, 0);
  const Buffer<float> from_halves =
      trace.half_current.empty() ? Buffer<float>() : expanded(trace.half_current);
  const kernels::Currents currents =
      view(window, trace.half_current.empty() ? trace.current : from_halves);

  PhaseTimer timer(plan_.name, StagePhase::neuron_backward);
  RowGradientSums sums{window.rows, Buffer<float>::zeros(window.rows.size()),
                       Buffer<float>::zeros(window.rows.size())};
  // Without a pool the gradient at y overwrites the one at the spikes, place by place.
  const bool in_place = !plan_.readout && arriving.pool.is_identity();
  Buffer<float> own =
      in_place ? Buffer<float>() : Buffer<float>(shape.steps * shape.batch * shape.frame());
  Buffer<float>& gradient = in_place ? arriving.gradient : own;
  neurons_->backward(shape, affine, currents, {arriving.gradient.data(), arriving.pool},
                     gradient.data(), sums);

  const NormGradient rows =
      norm_->backward(trace.norm, sums, plan_.first_step, mode, numbers.gain, gradients.gain);
  for_each_block(shape, [&](const kernels::PixelBlock& block) {
    kernels::kernels().norm_backward(shape, affine,
                                     {rows.scale.data(), rows.slope.data(), rows.offset.data()},
                                     currents, block, gradient.data());
  });

  timer.next(StagePhase::weight_gradient);
  synapse_->weight_gradient(input, gradient.data(), gradients.weights);
  if (!want_input_gradient) return {};
  timer.next(StagePhase::input_gradient);
  Buffer<float> input_gradient(stored_frames(input) * plan_.input.size());
  synapse_->input_gradient(gradient.data(), numbers.weights, stored_frames(input),
                           input_gradient.data());
  return input_gradient;
}

}  // namespace bntt
