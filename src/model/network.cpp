#include "bntt/network.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/fail.h"
#include "base/random.h"
#include "bntt/declaration.h"
#include "kernels/unpack.h"
#include "layers/norms/norm_checks.h"
#include "model/branch_input.h"
#include "model/dropout.h"
#include "model/init.h"
#include "model/prepared_network.h"
#include "model/readout.h"
#include "model/stage.h"

namespace bntt {
namespace {

// Low enough that products with any size that a spec may describe fit into 64 bits.
constexpr int64_t kMostImages = int64_t{1} << 24;

std::vector<int64_t> last_readers(const std::vector<StagePlan>& plans) {
  std::vector<int64_t> last(plans.size(), -1);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    for (const BranchPlan& branch : plans[i].branches) {
      for (const int64_t source : branch.sources) {
        if (source != BranchPlan::kInput) last[source] = static_cast<int64_t>(i);
      }
    }
  }
  return last;
}

/// The inputs of a stage's branches: `output_of(stage)` is the output of a stage, or the network's
/// input.
template <typename OutputOf>
std::vector<BranchInput> inputs_of(const StagePlan& plan, const OutputOf& output_of) {
  std::vector<BranchInput> inputs;
  for (const BranchPlan& branch : plan.branches) {
    std::vector<const Signal*> sources;
    for (const int64_t source : branch.sources) sources.push_back(&output_of(source));
    inputs.emplace_back(branch, sources);
  }
  return inputs;
}

Stage::Inputs signals_of(const std::vector<BranchInput>& inputs) {
  Stage::Inputs signals;
  for (const BranchInput& input : inputs) signals.push_back(&input.signal());
  return signals;
}

template <typename Number, typename Range>
std::span<Number> part_of(std::vector<std::remove_const_t<Number>>& all, const Range& range) {
  return std::span<Number>(all).subspan(range.begin, range.end - range.begin);
}
template <typename Number, typename Range>
std::span<const Number> part_of(const std::vector<Number>& all, const Range& range) {
  return std::span<const Number>(all).subspan(range.begin, range.end - range.begin);
}

}  // namespace

Network::Network(NetworkSpec spec, uint64_t seed) : Network(std::move(spec), std::optional(seed)) {}

Network::Network(NetworkSpec spec, std::optional<uint64_t> seed)
    : spec_(std::move(spec)), plans_(plan_stages(spec_)), last_reader_(last_readers(plans_)) {
  std::size_t branches = 0;
  for (std::size_t i = 0; i < plans_.size(); ++i) {
    stages_.push_back(std::make_unique<Stage>(plans_[i], spec_.steps, spec_.propagation));
    const Stage& stage = *stages_.back();
    StageRanges ranges;
    for (std::size_t b = 0; b < stage.branches().size(); ++b) {
      const Branch& branch = stage.branches()[b];
      const std::string prefix = branch.plan().name + ".";
      const Place place{.sample = static_cast<uint32_t>(i), .step = static_cast<uint32_t>(b)};
      ranges.branches.push_back(
          {.synapse = declare(prefix, branch.synapse().parameters(), seed, place),
           .norm = declare(prefix + "norm.", branch.norm().parameters(), seed, place),
           .statistics = declare(prefix + "norm.", branch.norm().statistics())});
      ++branches;
    }
    ranges.neurons = declare(plans_[i].name + ".neuron.", stage.neurons().parameters(), seed, {});
    ranges_.push_back(std::move(ranges));
  }
  set_break_even(std::vector<BreakEven>(branches));
  weight_scales_.resize(branches);
  for (const Parameter& parameter : parameters_) sizes_.push_back(parameter.value.size());
  for (const Statistic& statistic : statistics_) sizes_.push_back(statistic.value.size());
}

Network::Range Network::declare(const std::string& prefix,
                                const std::vector<ParameterDeclaration>& declarations,
                                std::optional<uint64_t> seed, const Place& place) {
  const std::size_t begin = parameters_.size();
  for (const ParameterDeclaration& declared : declarations) {
    parameters_.push_back({.name = prefix + declared.name,
                           .group = declared.group,
                           .pytorch_shape = declared.pytorch_shape,
                           .input_channels = declared.input_channels,
                           .value = seed ? first_values(declared, spec_.init, *seed, place)
                                         : Buffer<float>(size_of(declared.pytorch_shape)),
                           .gradient = {}});
  }
  return {begin, parameters_.size()};
}

Network::Range Network::declare(const std::string& prefix,
                                const std::vector<StatisticDeclaration>& declarations) {
  const std::size_t begin = statistics_.size();
  for (const StatisticDeclaration& declared : declarations) {
    Statistic statistic{prefix + declared.name, declared.pytorch_shape,
                        Buffer<float>(size_of(declared.pytorch_shape))};
    statistic.value.fill(declared.start);
    statistics_.push_back(std::move(statistic));
  }
  return {begin, statistics_.size()};
}

void Network::set_break_even(std::vector<BreakEven> break_even) {
  std::size_t branches = 0;
  for (const StagePlan& plan : plans_) branches += plan.branches.size();
  if (break_even.size() != branches) {
    fail("network: {} break-even densities were given, expected one for each of {} synapses",
         break_even.size(), branches);
  }
  for (const BreakEven& densities : break_even) {
    for (const float density : {densities.forward, densities.weight_gradient}) {
      if (!std::isfinite(density)) {
        fail("network: a break-even density is {}, expected a finite number", density);
      }
    }
  }
  break_even_ = std::move(break_even);
  auto next = break_even_.begin();
  for (const auto& stage : stages_) {
    for (Branch& branch : stage->branches()) branch.synapse().set_break_even(*next++);
  }
}

void Network::set_precision(Precision precision) {
  if (precision != Precision::fp32 && precision != Precision::mixed &&
      precision != Precision::bf16) {
    fail("network: precision is {}, which is not a value of Precision",
         static_cast<int>(precision));
  }
  precision_ = precision;
}

Network::Network(Network&&) noexcept = default;
Network& Network::operator=(Network&&) noexcept = default;
Network::~Network() = default;

Network Network::copy() const {
  check_numbers();
  Network other = unfilled(spec_);
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    other.parameters_[i].value = parameters_[i].value;
  }
  for (std::size_t i = 0; i < statistics_.size(); ++i) {
    other.statistics_[i].value = statistics_[i].value;
  }
  other.set_break_even(break_even_);
  other.weight_scales_ = weight_scales_;
  other.set_precision(precision_);
  other.set_windows(windows_);
  return other;
}

const Parameter* Network::gain(std::size_t stage, std::size_t branch) const {
  const auto of_norm = part_of(parameters_, ranges_of(stage, branch).norm);
  return of_norm.empty() ? nullptr : &of_norm.front();
}

std::span<const Statistic> Network::norm_statistics(std::size_t stage, std::size_t branch) const {
  return part_of(statistics_, ranges_of(stage, branch).statistics);
}

std::span<const Parameter> Network::neuron_parameters(std::size_t stage) const {
  return part_of(parameters_, ranges_of(stage).neurons);
}

std::span<const float> Network::weights_of(std::size_t stage, std::size_t branch) const {
  const auto of_synapse = part_of(parameters_, ranges_[stage].branches[branch].synapse);
  if (BranchNumbers{.synapse = of_synapse}.weights() == nullptr) return {};
  return of_synapse.front().value.span();
}

std::shared_ptr<const PreparedNetwork> Network::prepare() const {
  check_numbers();
  auto prepared = std::make_shared<PreparedNetwork>();
  auto scales = weight_scales_.begin();
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    auto& of_stage = prepared->stages.emplace_back();
    for (std::size_t b = 0; b < stages_[i]->branches().size(); ++b) {
      of_stage.push_back(std::make_unique<PreparedWeights>(weights_of(i, b), *scales++));
    }
  }
  return prepared;
}

StageNumbers Network::numbers(std::size_t stage, const PreparedNetwork& prepared) const {
  const StageRanges& ranges = ranges_[stage];
  StageNumbers numbers{.neurons = part_of(parameters_, ranges.neurons)};
  const float input_factor = stages_[stage]->neurons().input_factor(numbers.neurons);
  for (std::size_t b = 0; b < ranges.branches.size(); ++b) {
    numbers.branches.push_back({.synapse = part_of(parameters_, ranges.branches[b].synapse),
                                .norm = part_of(parameters_, ranges.branches[b].norm),
                                .statistics = part_of(statistics_, ranges.branches[b].statistics),
                                .prepared = prepared.stages[stage][b].get(),
                                .input_factor = input_factor});
  }
  return numbers;
}

Trace Network::forward(Signal input, NormMode mode, Keep keep, const DropoutDraws* dropout) {
  check_numbers();
  expect_norm_mode("network", mode);
  if (mode == NormMode::batch) expect_trainable("no batch statistics");
  if (keep != Keep::everything && keep != Keep::for_backward) {
    fail("network: keep is {}, which is not a value of Keep", static_cast<int>(keep));
  }
  check_window(input, active_steps(spec_));
  if (signal_steps(input) != active_steps(spec_)) {
    fail("network: input has {} steps, but forward takes all {} at once", signal_steps(input),
         active_steps(spec_));
  }
  if (dropout != nullptr && std::ssize(dropout->samples) != signal_batch(input)) {
    fail("network: dropout has the ids of {} images, expected {}", dropout->samples.size(),
         signal_batch(input));
  }
  Trace trace{.mode = mode, .input = std::move(input)};
  trace.stages.reserve(stages_.size());
  const auto prepared = prepare();
  const auto output_of = [&](int64_t stage) -> const Signal& {
    return stage == BranchPlan::kInput ? trace.input : trace.stages[stage].handed_on();
  };
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const auto inputs = inputs_of(plans_[i], output_of);
    std::vector<std::span<Statistic>> statistics;
    for (const BranchRanges& ranges : ranges_[i].branches) {
      statistics.push_back(part_of<Statistic>(statistics_, ranges.statistics));
    }
    Buffer<float>* voltage = plans_[i].readout ? &trace.logits : nullptr;
    trace.stages.push_back(stages_[i]->forward(signals_of(inputs), numbers(i, *prepared),
                                               statistics, {mode, precision_, keep}, voltage));
    const float probability = plans_[i].neuron.dropout;
    if (dropout == nullptr || probability == 0.0F) continue;
    SpikeTrain kept = kept_outputs(plans_[i], static_cast<int64_t>(i), *dropout);
    Signal left = dropped(trace.stages[i].output, kept, probability);
    trace.stages[i].dropped = {std::move(kept), std::move(left)};
  }
  trace.logits = ReadoutMap(spec_).logits(trace.logits);
  return trace;
}

Buffer<float> Network::step_logits(const Trace& trace) const {
  const auto* readout =
      trace.stages.empty() ? nullptr : std::get_if<DenseTrain>(&trace.stages.back().output);
  if (trace.stages.size() != plans_.size() || readout == nullptr ||
      readout->values.size() % plans_.back().output.size() != 0) {
    fail("network: the trace does not come from a forward pass of this network");
  }
  return ReadoutMap(spec_).step_logits(readout->values);
}

namespace {

void check_gradient(const Buffer<float>& gradient, int64_t expected) {
  if (gradient.size() != expected) {
    fail("network: the gradient of the logits has {} numbers, expected {}", gradient.size(),
         expected);
  }
}

}  // namespace

void Network::backward(Trace trace, const Buffer<float>& logits_gradient,
                       Buffer<float>* input_gradient) {
  check_trace(trace);
  check_gradient(logits_gradient, trace.logits.size());
  backward_from_readout(std::move(trace),
                        ReadoutMap(spec_).current_gradient(logits_gradient, active_steps(spec_)),
                        input_gradient);
}

void Network::backward_from_steps(Trace trace, const Buffer<float>& step_gradient,
                                  Buffer<float>* input_gradient) {
  check_trace(trace);
  check_gradient(step_gradient, active_steps(spec_) * trace.logits.size());
  backward_from_readout(std::move(trace),
                        ReadoutMap(spec_).current_gradient_of_steps(step_gradient), input_gradient);
}

// Every reader of a stage comes after it, so on the way back its gradient is complete when its turn
// comes, and its trace is not needed afterwards.
void Network::backward_from_readout(Trace trace, Buffer<float> current_gradient,
                                    Buffer<float>* input_gradient) {
  expect_trainable("no gradients");
  for (Parameter& parameter : parameters_) {
    if (parameter.gradient.size() != parameter.value.size()) {
      parameter.gradient = Buffer<float>(parameter.value.size());
    }
    parameter.gradient.fill(0.0F);
  }
  const auto prepared = prepare();
  ArrivingGradient at_input;
  std::vector<ArrivingGradient> arriving(stages_.size());
  arriving.back().values = GradientBuffer(std::move(current_gradient));
  const auto output_of = [&](int64_t stage) -> const Signal& {
    return stage == BranchPlan::kInput ? trace.input : trace.stages[stage].handed_on();
  };

  for (std::size_t i = stages_.size(); i-- > 0;) {
    const StagePlan& plan = plans_[i];
    if (const auto& dropout = trace.stages[i].dropped) {
      Buffer<float> gradient = unpooled(std::move(arriving[i]));
      drop_gradient(dropout->kept, plan.neuron.dropout, gradient);
      arriving[i] = {GradientBuffer(std::move(gradient)), {plan.output}};
    }
    const auto inputs = inputs_of(plan, output_of);
    Stage::Gradients gradients{.neurons = part_of<Parameter>(parameters_, ranges_[i].neurons)};
    for (std::size_t b = 0; b < plan.branches.size(); ++b) {
      gradients.branches.push_back(
          {.synapse = part_of<Parameter>(parameters_, ranges_[i].branches[b].synapse),
           .norm = part_of<Parameter>(parameters_, ranges_[i].branches[b].norm)});
      gradients.wants_input.push_back(input_gradient != nullptr ||
                                      plan.branches[b].sources.front() != BranchPlan::kInput);
    }
    std::vector<GradientBuffer> at_inputs =
        stages_[i]->backward(signals_of(inputs), std::move(trace.stages[i]), numbers(i, *prepared),
                             {trace.mode, precision_}, std::move(arriving[i]), gradients);
    for (std::size_t b = 0; b < plan.branches.size(); ++b) {
      if (!gradients.wants_input[b]) continue;
      const std::vector<int64_t>& sources = plan.branches[b].sources;
      ArrivingGradient gradient =
          at_source(plan.branches[b], output_of(sources.front()), std::move(at_inputs[b]));
      const auto sum_at = [&](int64_t source) -> ArrivingGradient& {
        return source == BranchPlan::kInput ? at_input : arriving[source];
      };
      for (std::size_t s = 0; s + 1 < sources.size(); ++s) {
        add_gradient(sum_at(sources[s]), gradient);
      }
      add_gradient(sum_at(sources.back()), std::move(gradient));
    }
    trace.stages.pop_back();
  }
  if (input_gradient != nullptr) *input_gradient = unpooled(std::move(at_input));
}

ChainState Network::start(int64_t batch, std::shared_ptr<const PreparedNetwork> prepared) const {
  ChainState state{.prepared = std::move(prepared)};
  restart(state, batch);
  return state;
}

void Network::restart(ChainState& state, int64_t batch) const {
  if (batch < 1 || batch > kMostImages) {
    fail("network: started with {} images, expected 1 to {}", batch, kMostImages);
  }
  check_prepared(state);
  state = {.batch = batch, .prepared = std::move(state.prepared)};
  for (std::size_t i = 0; i < plans_.size(); ++i) {
    state.membranes.push_back(
        Buffer<float>::zeros(batch * stages_[i]->neurons().state_size(plans_[i].output)));
    state.constant_currents.emplace_back(plans_[i].branches.size());
  }
}

void keep_images(ChainState& state, std::span<const int64_t> images) {
  if (images.empty() || state.batch < 1) {
    fail("network: {} images to keep of {}, expected at least 1 of each", images.size(),
         state.batch);
  }
  for (const int64_t image : images) {
    if (image < 0 || image >= state.batch) {
      fail("network: image {} is out of range, expected 0 to {}", image, state.batch - 1);
    }
  }
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
  for (auto& of_stage : state.constant_currents) {
    for (Buffer<float>& current : of_stage) keep(current);
  }
  state.batch = batch;
}

namespace {

// For the largest stage: its lists of spikes and the currents of its dense frames should fit into
// the last-level cache.
constexpr int64_t kCachedNeuronSteps = 8 << 20;

/// A copy of images [first, first + count) of a state.
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

// Large batches are processed a few images at a time, through all stages: few enough that the
// output of one stage is still in cache when the next one reads it, enough to share the weights of
// deep stages.
void Network::advance(const Signal& window, ChainState& state,
                      const AdvanceOptions& options) const {
  check_state(state);
  check_options(options);
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
  const StepWindows windows =
      stage_windows(options.windows != nullptr ? *options.windows : StepWindows{});
  std::vector<Signal> outputs(stages_.size());
  const auto output_of = [&](int64_t stage) -> const Signal& {
    return stage == BranchPlan::kInput ? window : outputs[stage];
  };
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const Stage::AdvanceOptions stage_options{
        .active = windows.empty() ? nullptr : &windows.active.at(i),
        .constant_currents = options.same_input ? &state.constant_currents[i] : nullptr};
    const auto inputs = inputs_of(plans_[i], output_of);
    const Stage::Inputs signals = signals_of(inputs);
    outputs[i] = stages_[i]->advance(signals, state.steps_done, numbers(i, *state.prepared),
                                     state.membranes[i], stage_options);
    if (options.observe) options.observe(i, state.steps_done, signals, outputs[i]);
    if (options.activity != nullptr) {
      count_activity(i, state.steps_done, outputs[i], *options.activity);
    }
    for (std::size_t source = 0; source < i; ++source) {
      if (last_reader_[source] == static_cast<int64_t>(i)) outputs[source] = Signal{};
    }
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
  check_state(state);
  return ReadoutMap(spec_).logits(state.membranes.back());
}

// Between steps a state holds membranes that have already leaked, c = λ v.
Buffer<float> Network::membranes(const ChainState& state, std::size_t stage) const {
  check_state(state);
  if (stage >= stages_.size()) {
    fail("network: stage {} is out of range, expected 0 to {}", stage, stages_.size() - 1);
  }
  Buffer<float> result = state.membranes[stage];
  const auto dynamics = stages_[stage]->neurons().dynamics(neuron_parameters(stage));
  if (!dynamics) return result;
  for (float& voltage : result) voltage /= dynamics->leak;
  return result;
}

}  // namespace bntt
