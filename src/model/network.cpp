#include "bntt/network.h"

#include <cmath>
#include <numeric>

#include "base/check.h"
#include "base/fail.h"
#include "base/random.h"
#include "kernels/unpack.h"
#include "layers/unpacked_frames.h"
#include "model/stage.h"

namespace bntt {
namespace {

std::vector<int64_t> pytorch_shape(const StagePlan& plan) {
  if (plan.synapse == SynapseKind::conv3x3) {
    return {plan.output.channels, plan.input.channels, 3, 3};
  }
  return {plan.output.channels, plan.input.size()};
}

// Xavier uniform with gain 2: U(−a, a), a = 2 √(6 / (fan_in + fan_out)).
Buffer<float> xavier_weights(const StagePlan& plan, uint64_t seed, uint32_t stage) {
  const int64_t taps = plan.synapse == SynapseKind::conv3x3 ? 9 : 1;
  const auto fan_out = static_cast<double>(taps * plan.output.channels);
  const auto bound =
      static_cast<float>(2.0 * std::sqrt(6.0 / (static_cast<double>(plan.fan_in) + fan_out)));
  Buffer<float> weights(plan.weights);
  for (int64_t i = 0; i < weights.size(); i += 4) {
    const auto bits =
        draw4(seed, Purpose::weights, {.sample = stage, .block = static_cast<uint32_t>(i / 4)});
    for (int64_t k = 0; k < std::min<int64_t>(4, weights.size() - i); ++k) {
      weights[i + k] = bound * (2.0F * uniform01(bits[k]) - 1.0F);
    }
  }
  return weights;
}

}  // namespace

Network::Network(NetworkSpec spec, uint64_t seed)
    : spec_(std::move(spec)), plans_(plan_stages(spec_)) {
  for (std::size_t i = 0; i < plans_.size(); ++i) {
    const StagePlan& plan = plans_[i];
    const int64_t channels = plan.output.channels;
    stages_.push_back(std::make_unique<Stage>(plan, spec_.steps, spec_.propagation));
    const Norm& norm = stages_.back()->norm();

    weight_index_.push_back(parameters_.size());
    parameters_.push_back({.name = plan.name + ".weight",
                           .kind = Parameter::Kind::weight,
                           .pytorch_shape = pytorch_shape(plan),
                           .input_channels = plan.input.channels,
                           .value = xavier_weights(plan, seed, static_cast<uint32_t>(i)),
                           .gradient = Buffer<float>::zeros(plan.weights)});
    if (norm.gain_rows() > 0) {
      const bool per_step = plan.norm.kind == NormKind::bntt;
      Parameter gain{.name = plan.name + ".norm.weight",
                     .kind = Parameter::Kind::gain,
                     .pytorch_shape = {channels},
                     .value = Buffer<float>(norm.gain_rows() * channels),
                     .gradient = Buffer<float>::zeros(norm.gain_rows() * channels)};
      if (per_step) gain.pytorch_shape = {norm.gain_rows(), channels};
      gain.value.fill(1.0F);
      parameters_.push_back(std::move(gain));
    }
    RunningStatistics running;
    if (norm.statistics_rows() > 0) {
      running = {.name = plan.name + ".norm",
                 .rows = norm.statistics_rows(),
                 .mean = Buffer<float>::zeros(norm.statistics_rows() * channels),
                 .variance = Buffer<float>(norm.statistics_rows() * channels)};
      running.variance.fill(1.0F);
    }
    statistics_.push_back(std::move(running));
  }
  set_break_even(std::vector<BreakEven>(stages_.size()));
}

void Network::set_break_even(std::vector<BreakEven> break_even) {
  BNTT_CHECK(break_even.size() == stages_.size());
  break_even_ = std::move(break_even);
  for (std::size_t i = 0; i < stages_.size(); ++i) stages_[i]->set_break_even(break_even_[i]);
}

Network::Network(Network&&) noexcept = default;
Network& Network::operator=(Network&&) noexcept = default;
Network::~Network() = default;

const Parameter* Network::gain(std::size_t stage) const {
  const std::size_t index = weight_index_.at(stage) + 1;
  const bool has_gain =
      index < parameters_.size() && parameters_[index].kind == Parameter::Kind::gain;
  return has_gain ? &parameters_[index] : nullptr;
}

class PreparedNetwork {
 public:
  std::vector<std::unique_ptr<PreparedWeights>> stages;
};

std::shared_ptr<const PreparedNetwork> Network::prepare() const {
  auto prepared = std::make_shared<PreparedNetwork>();
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    prepared->stages.push_back(stages_[i]->prepare(parameters_[weight_index_[i]].value.data()));
  }
  return prepared;
}

StageNumbers Network::numbers(std::size_t stage, const PreparedNetwork& prepared) const {
  const Parameter* gain_of_stage = gain(stage);
  return {parameters_[weight_index_[stage]].value.data(), prepared.stages[stage].get(),
          gain_of_stage == nullptr ? nullptr : gain_of_stage->value.data()};
}

void Network::check_window(const Signal& window, int64_t steps_left) const {
  check_signal(window);
  const MapShape& shape = signal_shape(window);
  if (shape != spec_.input) {
    fail("network: input is {}x{}x{}, expected {}x{}x{} (channels x height x width)",
         shape.channels, shape.height, shape.width, spec_.input.channels, spec_.input.height,
         spec_.input.width);
  }
  if (signal_steps(window) < 1 || signal_steps(window) > steps_left) {
    fail("network: input has {} steps, expected 1 to {}", signal_steps(window), steps_left);
  }
}

Trace Network::forward(Signal input, NormMode mode, Keep keep) {
  check_window(input, active_steps(spec_));
  BNTT_CHECK(signal_steps(input) == active_steps(spec_));
  Trace trace{.mode = mode, .input = std::move(input)};
  trace.stages.reserve(stages_.size());
  const auto prepared = prepare();
  const Signal* previous = &trace.input;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    Buffer<float>* voltage = plans_[i].readout ? &trace.logits : nullptr;
    trace.stages.push_back(stages_[i]->forward(*previous, numbers(i, *prepared),
                                               {mode, precision_, keep}, statistics_[i], voltage));
    previous = &trace.stages.back().output;
  }
  for (float& logit : trace.logits) logit *= readout_scale();
  return trace;
}

void Network::backward(Trace trace, const Buffer<float>& logits_gradient,
                       Buffer<float>* input_gradient) {
  for (Parameter& parameter : parameters_) parameter.gradient.fill(0.0F);
  const auto prepared = prepare();
  Stage::Arriving arriving{.gradient = logits_gradient};
  for (float& gradient : arriving.gradient) gradient *= readout_scale();

  for (std::size_t i = stages_.size(); i-- > 0;) {
    const Signal& input = i == 0 ? trace.input : trace.stages[i - 1].output;
    const Stage::Gradients gradients{
        parameters_[weight_index_[i]].gradient.data(),
        gain(i) == nullptr ? nullptr : parameters_[weight_index_[i] + 1].gradient.data()};
    Buffer<float> below = stages_[i]->backward(
        input, std::move(trace.stages[i]), numbers(i, *prepared), {trace.mode, precision_},
        std::move(arriving), gradients, i > 0 || input_gradient != nullptr);
    arriving = {std::move(below), pool_of(plans_[i])};
    trace.stages.pop_back();
  }
  if (input_gradient == nullptr) return;
  if (arriving.pool.is_identity()) {
    *input_gradient = std::move(arriving.gradient);
    return;
  }
  const int64_t pooled = arriving.pool.pooled().size();
  const int64_t frames = arriving.gradient.size() / pooled;
  *input_gradient = Buffer<float>(frames * spec_.input.size());
  for (int64_t f = 0; f < frames; ++f) {
    kernels::unpool_frame(arriving.pool, arriving.gradient.data() + f * pooled,
                          input_gradient->data() + f * spec_.input.size());
  }
}

ChainState Network::start(int64_t batch) const {
  ChainState state{.prepared = prepare()};
  restart(state, batch);
  return state;
}

void Network::restart(ChainState& state, int64_t batch) const {
  state = {.batch = batch, .prepared = std::move(state.prepared)};
  for (const StagePlan& plan : plans_) {
    state.membranes.push_back(Buffer<float>::zeros(batch * plan.output.size()));
  }
}

void keep_images(ChainState& state, std::span<const int64_t> images) {
  const auto batch = static_cast<int64_t>(images.size());
  const auto keep = [&](Buffer<float>& values) {
    const int64_t size = values.size() / state.batch;
    Buffer<float> kept(batch * size);
    for (int64_t i = 0; i < batch; ++i) {
      std::copy_n(values.data() + images[i] * size, size, kept.data() + i * size);
    }
    values = std::move(kept);
  };
  for (Buffer<float>& membranes : state.membranes) keep(membranes);
  keep(state.first_current);
  state.batch = batch;
}

namespace {

// Of the largest stage: its lists of spikes, and the currents of its dense frames, should stay in
// the last-level cache.
constexpr int64_t kCachedNeuronSteps = 8 << 20;

/// Images [first, first + count) of a state, on their own.
ChainState part_of(const ChainState& state, int64_t first, int64_t count) {
  ChainState part{.batch = count, .steps_done = state.steps_done, .prepared = state.prepared};
  for (const Buffer<float>& membranes : state.membranes) {
    const int64_t size = membranes.size() / state.batch;
    Buffer<float>& own = part.membranes.emplace_back(count * size);
    std::copy_n(membranes.data() + first * size, count * size, own.data());
  }
  return part;
}

void put_back(const ChainState& part, int64_t first, ChainState& state) {
  for (std::size_t i = 0; i < state.membranes.size(); ++i) {
    const int64_t size = part.membranes[i].size() / part.batch;
    std::copy(part.membranes[i].begin(), part.membranes[i].end(),
              state.membranes[i].data() + first * size);
  }
}

}  // namespace

int64_t Network::images_together(int64_t steps) const {
  int64_t largest = 1;
  for (const StagePlan& plan : plans_) largest = std::max(largest, plan.output.size());
  return std::max<int64_t>(1, kCachedNeuronSteps / (largest * steps));
}

// Large batches are taken a few images at a time, through all stages: few enough that what one
// stage leaves is still in cache when the next one reads it, enough to share the weights of deep
// stages.
void Network::advance(const Signal& window, ChainState& state,
                      const AdvanceOptions& options) const {
  check_window(window, active_steps(spec_) - state.steps_done);
  if (signal_batch(window) != state.batch) {
    fail("network: input has {} images, expected {}", signal_batch(window), state.batch);
  }
  const int64_t together = images_together(signal_steps(window));
  if (state.batch <= together || options.observe || options.same_input) {
    advance_together(window, state, options);
  } else {
    for (int64_t first = 0; first < state.batch; first += together) {
      std::vector<int64_t> images(
          static_cast<std::size_t>(std::min(together, state.batch - first)));
      std::iota(images.begin(), images.end(), first);
      ChainState part = part_of(state, first, std::ssize(images));
      advance_together(keep_images(window, images), part, options);
      put_back(part, first, state);
    }
  }
  if (options.activity != nullptr && state.steps_done == 0) {
    options.activity->images += state.batch;
  }
  state.steps_done += signal_steps(window);
}

void Network::advance_together(const Signal& window, ChainState& state,
                               const AdvanceOptions& options) const {
  const bool windows = options.windows != nullptr && !options.windows->empty();
  Signal output;
  const Signal* previous = &window;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const Stage::AdvanceOptions stage_options{
        .active = windows ? &options.windows->active.at(i) : nullptr,
        .constant_current = i == 0 && options.same_input ? &state.first_current : nullptr};
    Signal next = stages_[i]->advance(*previous, state.steps_done, numbers(i, *state.prepared),
                                      statistics_[i], state.membranes[i], stage_options);
    if (options.observe) options.observe(i, state.steps_done, *previous, next);
    output = std::move(next);
    if (options.activity != nullptr) {
      count_activity(i, state.steps_done, output, *options.activity);
    }
    previous = &output;
  }
}

void Network::count_activity(std::size_t stage, int64_t first, const Signal& output,
                             Activity& activity) const {
  activity.spikes.resize(plans_.size(), std::vector<int64_t>(spec_.steps, 0));
  const auto* spikes = std::get_if<SpikeTrain>(&output);
  if (spikes == nullptr || plans_[stage].readout) return;
  for (int64_t step = 0; step < spikes->steps(); ++step) {
    activity.spikes[stage][plans_[stage].first_step + first + step] += kernels::count_spikes(
        spikes->frame(0, step, 0), spikes->batch() * spikes->words_per_frame());
  }
}

Buffer<float> Network::logits(const ChainState& state) const {
  Buffer<float> logits = state.membranes.back();
  for (float& logit : logits) logit *= readout_scale();
  return logits;
}

float Network::readout_scale() const {
  const auto& readout = std::get<Readout>(spec_.stages.back());
  return readout.divide_by_steps ? 1.0F / static_cast<float>(spec_.steps) : 1.0F;
}

namespace {

struct WeightAxes {
  int64_t taps;
  int64_t inputs;
  int64_t outputs;
};

WeightAxes axes_of(const Parameter& parameter) {
  const int64_t outputs = parameter.pytorch_shape[0];
  const int64_t taps = parameter.value.size() / (outputs * parameter.input_channels);
  return {taps, parameter.input_channels, outputs};
}

}  // namespace

Buffer<float> to_pytorch_order(const Parameter& parameter, const Buffer<float>& values) {
  if (parameter.kind == Parameter::Kind::gain) return values;
  const auto [taps, inputs, outputs] = axes_of(parameter);
  Buffer<float> result(values.size());
  for (int64_t t = 0; t < taps; ++t) {
    for (int64_t i = 0; i < inputs; ++i) {
      for (int64_t o = 0; o < outputs; ++o) {
        result[(o * inputs + i) * taps + t] = values[(t * inputs + i) * outputs + o];
      }
    }
  }
  return result;
}

Buffer<float> from_pytorch_order(const Parameter& parameter, const Buffer<float>& values) {
  if (parameter.kind == Parameter::Kind::gain) return values;
  const auto [taps, inputs, outputs] = axes_of(parameter);
  Buffer<float> result(values.size());
  for (int64_t t = 0; t < taps; ++t) {
    for (int64_t i = 0; i < inputs; ++i) {
      for (int64_t o = 0; o < outputs; ++o) {
        result[(t * inputs + i) * outputs + o] = values[(o * inputs + i) * taps + t];
      }
    }
  }
  return result;
}

}  // namespace bntt
