#include <algorithm>
#include <cmath>

#include "base/enums.h"
#include "base/fail.h"
#include "base/kinds.h"
#include "base/suggest.h"
#include "base/text.h"
#include "bntt/network_spec.h"
#include "bntt/norm.h"
#include "layers/neurons/neurons.h"
#include "model/spec_fields.h"
#include "model/spec_limits.h"

namespace bntt {
namespace {

// Far above any real network, and, like the limits in spec_limits.h, low enough that no product or
// sum over stages, steps and a batch overflows int64.
constexpr int64_t kMaxStages = 1000;
constexpr int64_t kMaxBranches = 64;
constexpr int64_t kMaxSources = 64;
constexpr int64_t kMaxMapSize = int64_t{1} << 28;
constexpr int64_t kMaxWeights = int64_t{1} << 31;
constexpr int64_t kMaxMacs = int64_t{1} << 40;

void check_count(const std::string& what, int64_t value, int64_t limit) {
  if (value < 1 || value > limit) fail("{} is {}, expected 1 to {}", what, value, limit);
}

// Written so that NaN fails the check.
void check_positive(const std::string& where, const char* what, float value) {
  if (!(value > 0.0F) || !std::isfinite(value)) {
    fail("{}: {} is {}, expected a number above 0", where, what, value);
  }
}

void check_not_negative(const std::string& where, const char* what, float value) {
  if (!(value >= 0.0F) || !std::isfinite(value)) {
    fail("{}: {} is {}, expected a number of at least 0", where, what, value);
  }
}

void check_fraction(const std::string& where, const char* what, float value) {
  if (!(value > 0.0F && value <= 1.0F)) {
    fail("{}: {} is {}, expected a number above 0 and at most 1", where, what, value);
  }
}

void check_norm(const std::string& where, const NormSpec& norm) {
  check_positive(where, "norm epsilon", norm.epsilon);
  check_fraction(where, "norm momentum", norm.momentum);
  check_not_negative(where, "norm alpha", norm.alpha);
  if (!std::isfinite(norm.gain_start)) {
    fail("{}: norm gain_start is {}, expected a finite number", where, norm.gain_start);
  }
}

void check_neuron(const std::string& where, const NeuronSpec& neuron) {
  if (!(neuron.dropout >= 0.0F && neuron.dropout < 1.0F)) {
    fail("{}: dropout is {}, expected a number of at least 0 and below 1", where, neuron.dropout);
  }
  expect_enum(where, "fire", neuron.fire, "Fire");
  expect_enum(where, "reset", neuron.reset, "Reset");
  expect_enum(where, "surrogate", neuron.surrogate.kind, "SurrogateKind");
  if (neuron.kind == "relu" || neuron.kind == "none") return;
  if (neuron.kind != "if" && neuron.kind != "lee-if") check_fraction(where, "leak", neuron.leak);
  if (!(neuron.neunorm_decay >= 0.0F && neuron.neunorm_decay < 1.0F)) {
    fail("{}: neunorm_decay is {}, expected a number of at least 0 and below 1", where,
         neuron.neunorm_decay);
  }
  check_positive(where, "threshold", neuron.threshold);
  check_positive(where, "surrogate alpha", neuron.surrogate.alpha);
  check_not_negative(where, "surrogate width", neuron.surrogate.width);
  check_not_negative(where, "surrogate decay", neuron.surrogate.decay);
  if (neuron.floor && !(std::isfinite(*neuron.floor) && *neuron.floor <= 0.0F)) {
    fail("{}: floor is {}, expected a number of at most 0", where, *neuron.floor);
  }
  if (neuron.floor && (neuron.kind == "lee" || neuron.kind == "lee-if")) {
    fail("{}: neurons {} have no floor", where, neuron.kind);
  }
}

std::string text_of(const MapShape& map) {
  return fmt::format("{}x{}x{}", map.channels, map.height, map.width);
}

template <typename... Kinds>
bool is_one_of(const StageSpec& stage) {
  return (std::holds_alternative<Kinds>(stage) || ...);
}

int64_t hidden_stages(const NetworkSpec& spec) {
  return std::count_if(spec.stages.begin(), spec.stages.end(), [](const StageSpec& stage) {
    return is_one_of<Conv3x3, Conv, Dense, BranchedStage>(stage);
  });
}

/// A branch in a chain: reads the previous stage through the pools in between.
BranchSpec chained(const SynapseSpec& synapse, const NormSpec& norm,
                   const std::vector<std::string>& source = {}) {
  return {.source = source, .synapse = synapse, .norm = norm};
}

bool is_name(const std::string& text) {
  return !text.empty() && text.size() <= 64 && text != kInputName &&
         std::ranges::all_of(text, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_' || c == '-';
         });
}

/// Walks the stages in order and derives their plans.
class Planner {
 public:
  explicit Planner(const NetworkSpec& spec) : spec_(spec) {}

  void operator()(const AvgPool& pool) { add_pool({PoolKind::average, pool.size}); }
  void operator()(const SumPool& pool) { add_pool({PoolKind::sum, pool.size}); }
  void operator()(const MaxPool& pool) { add_pool({PoolKind::max, pool.size}); }

  void operator()(const Conv3x3& conv) {
    add_hidden("", {chained({.outputs = conv.channels}, conv.norm)}, conv.neuron);
  }

  void operator()(const Conv& conv) {
    add_hidden("",
               {chained({.outputs = conv.channels,
                         .kernel = conv.kernel,
                         .stride = conv.stride,
                         .padding = conv.padding,
                         .bias = conv.bias},
                        conv.norm)},
               conv.neuron);
  }

  void operator()(const Dense& dense) {
    add_hidden("",
               {chained({.kind = SynapseKind::dense, .outputs = dense.features, .bias = dense.bias},
                        dense.norm)},
               dense.neuron);
  }

  void operator()(const BranchedStage& stage) {
    if (!pools_.empty()) {
      fail("there is a pool before {}, which has branches: put the pool into a branch",
           stage.name.empty() ? "a stage" : "stage " + excerpt(stage.name));
    }
    add_hidden(stage.name, stage.branches, stage.neuron);
  }

  void operator()(const Readout& readout) {
    check_count("readout: classes", readout.classes, kMaxChannels);
    check_count("readout: votes", readout.votes, kMaxChannels / readout.classes);
    check_fraction("readout", "leak", readout.leak);
    if (readout.synapse == SynapseKind::conv) {
      fail("the readout has a convolution, expected a dense or identity synapse");
    }
    const int64_t outputs = readout.classes * readout.votes;
    StagePlan plan{.name = fmt::format("fc{}", ++dense_stages_),
                   .neuron = {.leak = readout.leak},
                   .readout = true};
    add(std::move(plan),
        {chained({.kind = readout.synapse, .outputs = outputs, .bias = readout.bias}, readout.norm,
                 readout.source)});
    const MapShape& map = plans_.back().output;
    if (map != MapShape{outputs, 1, 1}) {
      fail("the readout takes {} votes for each of {} classes from a map of {}, expected {}x1x1",
           readout.votes, readout.classes, text_of(map), outputs);
    }
  }

  std::vector<StagePlan> take() { return std::move(plans_); }

 private:
  void add_pool(const PoolSpec& pool) {
    if (!pools_.empty() && pools_.back().kind != pool.kind) {
      fail("two pools of different kinds follow each other {}", place_of_pool());
    }
    if (pool.size < 0) {
      fail("the pool {} has size {}, expected at least 0", place_of_pool(), pool.size);
    }
    pools_.push_back(pool);
  }
  std::string place_of_pool() const {
    return plans_.empty() ? "before the first stage" : "after " + plans_.back().name;
  }

  void add_hidden(const std::string& name, const std::vector<BranchSpec>& branches,
                  const NeuronSpec& neuron) {
    if (branches.empty()) {
      fail("stage {} has no branches, expected at least 1",
           name.empty() ? std::to_string(plans_.size() + 1) : excerpt(name));
    }
    check_count("branches of a stage", std::ssize(branches), kMaxBranches);
    const bool dense = branches.front().synapse.kind == SynapseKind::dense;
    StagePlan plan{.name = name, .neuron = neuron};
    if (name.empty()) {
      plan.name =
          dense ? fmt::format("fc{}", ++dense_stages_) : fmt::format("conv{}", ++conv_stages_);
    } else if (!is_name(name)) {
      fail(
          "stage '{}' has an invalid name: expected up to 64 letters, digits, '_' or '-', and "
          "not '{}'",
          excerpt(name), kInputName);
    }
    const bool taken = std::ranges::any_of(
        plans_, [&](const StagePlan& other) { return other.name == plan.name; });
    if (taken) fail("two stages are called {}", plan.name);
    check_neuron(plan.name, neuron);
    check_ann(plan);
    add(std::move(plan), branches);
  }

  void check_ann(const StagePlan& plan) {
    const auto kind = [](const StagePlan& stage) {
      return stage.neuron.kind == "relu" ? "relu" : "spiking";
    };
    if (plan.neuron.kind == "relu" && spec_.steps != 1) {
      fail("{} has relu neurons and the network {} steps, but an ANN has exactly 1", plan.name,
           spec_.steps);
    }
    if (plan.neuron.kind == "none") return;
    const auto first = std::ranges::find_if(
        plans_, [](const StagePlan& stage) { return stage.neuron.kind != "none"; });
    if (first != plans_.end() && std::string(kind(*first)) != kind(plan)) {
      fail("{} has {} neurons and {} has {} ones, but a network is either an ANN or spiking",
           first->name, kind(*first), plan.name, kind(plan));
    }
  }

  void add(StagePlan plan, const std::vector<BranchSpec>& branches) {
    for (std::size_t i = 0; i < branches.size(); ++i) {
      BranchPlan branch = plan_branch(plan, branches[i], i);
      if (i == 0) plan.output = branch.output;
      if (branch.output != plan.output) {
        fail("{}: gives a map of {}, but the first branch gives {}", branch.name,
             text_of(branch.output), text_of(plan.output));
      }
      plan.branches.push_back(std::move(branch));
    }
    pools_.clear();
    const bool delayed = spec_.propagation == Propagation::delayed;
    plan.first_step = delayed ? static_cast<int64_t>(plans_.size()) : 0;
    plan.active_steps = active_steps(spec_);
    count(plan, branches.size());
    plans_.push_back(std::move(plan));
  }

  BranchPlan plan_branch(const StagePlan& stage, const BranchSpec& spec, std::size_t index) {
    BranchPlan branch;
    branch.name = index == 0 ? stage.name : fmt::format("{}.branch{}", stage.name, index + 1);
    branch.norm = spec.norm;
    branch.bias = spec.synapse.bias;
    branch.synapse = spec.synapse.kind;
    expect_enum(branch.name, "synapse", spec.synapse.kind, "SynapseKind");
    expect_enum(branch.name, "pool", spec.pool.kind, "PoolKind");
    check_norm(branch.name, spec.norm);
    find_sources(spec, branch);
    apply_pools(spec, branch);
    shape_synapse(spec.synapse, branch);
    if (branch.output.size() > kMaxMapSize) {
      fail("{}: its map of {} is too large, expected at most {} values", branch.name,
           text_of(branch.output), kMaxMapSize);
    }
    return branch;
  }

  MapShape map_of(int64_t stage) const {
    return stage == BranchPlan::kInput ? spec_.input : plans_[stage].output;
  }

  int64_t find_stage(const std::string& name, const BranchPlan& branch) const {
    if (name == kInputName) return BranchPlan::kInput;
    std::vector<std::string> names = {kInputName};
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      if (plans_[i].name == name) return static_cast<int64_t>(i);
      names.push_back(plans_[i].name);
    }
    fail("{}: its source '{}' is not the name of an earlier stage{}", branch.name, excerpt(name),
         did_you_mean(name, names));
  }

  void find_sources(const BranchSpec& spec, BranchPlan& branch) const {
    if (std::ssize(spec.source) > kMaxSources) {
      fail("{}: has {} sources, expected at most {}", branch.name, spec.source.size(), kMaxSources);
    }
    for (const std::string& name : spec.source) {
      const int64_t stage = find_stage(name, branch);
      if (std::ranges::find(branch.sources, stage) != branch.sources.end()) {
        fail("{}: names its source '{}' twice", branch.name, name);
      }
      branch.sources.push_back(stage);
    }
    if (branch.sources.empty()) branch.sources.push_back(std::ssize(plans_) - 1);
    branch.source = map_of(branch.sources.front());
    if (branch.sources.size() == 1) return;
    for (const int64_t stage : branch.sources) {
      if (stage == BranchPlan::kInput || !plans_[stage].spikes()) {
        fail(
            "{}: only spikes can be added, and {} does not output spikes: give it a branch of its "
            "own",
            branch.name, stage == BranchPlan::kInput ? kInputName : plans_[stage].name);
      }
      if (map_of(stage) != branch.source) {
        fail("{}: its sources {} and {} have maps of {} and {}, expected the same", branch.name,
             plans_[branch.sources.front()].name, plans_[stage].name, text_of(branch.source),
             text_of(map_of(stage)));
      }
    }
  }

  void apply_pools(const BranchSpec& spec, BranchPlan& branch) {
    branch.input = branch.source;
    std::vector<PoolSpec> pools = pools_;
    if (spec.pool.size != 1) pools.push_back(spec.pool);
    for (const PoolSpec& pool : pools) {
      const MapShape before = branch.input;
      const int64_t height = pool.size == 0 ? before.height : pool.size;
      const int64_t width = pool.size == 0 ? before.width : pool.size;
      if (pool.size < 0) {
        fail("{}: its pool has size {}, expected at least 0", branch.name, pool.size);
      }
      if (height > before.height || width > before.width) {
        const bool chained = &pool != &pools.back() || spec.pool.size == 1;
        fail("the pool {} of size {} is too large for its map of {}x{} pixels",
             chained ? place_of_pool() : "of " + branch.name, pool.size, before.height,
             before.width);
      }
      branch.pool = pool.kind;
      branch.pool_height *= height;
      branch.pool_width *= width;
      branch.input.height /= height;
      branch.input.width /= width;
    }
    if (branch.pools() && branch.pool == PoolKind::max && branch.sources.size() > 1) {
      fail("{}: a max pool takes the spikes of one source, not of {} added up", branch.name,
           branch.sources.size());
    }
  }

  bool is_flat(const BranchPlan& branch) const {
    return std::ranges::any_of(branch.sources, [&](int64_t stage) {
      return stage != BranchPlan::kInput &&
             plans_[stage].branches.front().synapse == SynapseKind::dense;
    });
  }

  void shape_synapse(const SynapseSpec& spec, BranchPlan& branch) {
    switch (spec.kind) {
      case SynapseKind::conv: {
        if (is_flat(branch)) {
          fail("{} follows {}, but a convolution cannot read a flat layer", branch.name,
               plans_[branch.sources.front()].name);
        }
        check_count(branch.name + ": channels", spec.outputs, kMaxChannels);
        check_count(branch.name + ": kernel", spec.kernel, kMaxKernel);
        check_count(branch.name + ": stride", spec.stride, kMaxKernel);
        if (spec.padding < 0 || spec.padding > kMaxKernel) {
          fail("{}: padding is {}, expected 0 to {}", branch.name, spec.padding, kMaxKernel);
        }
        branch.geometry = {spec.kernel, spec.stride, spec.padding};
        branch.output = branch.geometry.output(branch.input, spec.outputs);
        if (branch.output.pixels() < 1) {
          fail("{}: a kernel of {} with padding {} does not fit into its map of {}x{} pixels",
               branch.name, spec.kernel, spec.padding, branch.input.height, branch.input.width);
        }
        branch.fan_in = branch.geometry.taps() * branch.input.channels;
        break;
      }
      case SynapseKind::dense:
        check_count(branch.name + ": features", spec.outputs, kMaxChannels);
        branch.output = {spec.outputs, 1, 1};
        branch.fan_in = branch.input.size();
        break;
      case SynapseKind::identity:
        branch.output = branch.input;
        branch.fan_in = 1;
        break;
    }
    if (branch.synapse != SynapseKind::identity) {
      branch.weights = branch.fan_in * branch.output.channels;
      branch.macs = branch.weights * branch.output.pixels();
    }
  }

  void count(StagePlan& plan, std::size_t branches) {
    const NormPlace place = {.channels = plan.output.channels,
                             .run_steps = spec_.steps,
                             .threshold = plan.neuron.threshold,
                             .branches = static_cast<int64_t>(branches)};
    plan.neurons = plan.readout || plan.neuron.kind == "none" ? 0 : plan.output.size();
    try {
      for (BranchPlan& branch : plan.branches) {
        const auto of_norm = make_norm(branch.norm, place)->parameters();
        branch.gains = of_norm.empty() ? 0 : size_of(of_norm.front().pytorch_shape);
        branch.parameters =
            branch.weights + (branch.bias ? branch.output.channels : 0) + size_of(of_norm);
        plan.weights += branch.weights;
        plan.gains += branch.gains;
        plan.parameters += branch.parameters;
        plan.macs += branch.macs;
      }
      plan.parameters += size_of(make_neurons(plan, spec_.propagation)->parameters());
    } catch (const Error& error) {
      fail("{}: {}", plan.name, error.what());
    }
    total_weights_ += plan.weights;
    if (total_weights_ > kMaxWeights) {
      fail("{}: the network has {} weights up to here, expected at most {}", plan.name,
           total_weights_, kMaxWeights);
    }
    total_macs_ += plan.macs;
    if (total_macs_ > kMaxMacs) {
      fail("{}: the network has {} multiply-adds per step up to here, expected at most {}",
           plan.name, total_macs_, kMaxMacs);
    }
  }

  const NetworkSpec& spec_;
  std::vector<StagePlan> plans_;
  std::vector<PoolSpec> pools_;  // since the last stage
  int64_t conv_stages_ = 0;
  int64_t dense_stages_ = 0;
  int64_t total_weights_ = 0;
  int64_t total_macs_ = 0;
};

void check_input(const MapShape& input) {
  check_count("input: channels", input.channels, kMaxChannels);
  check_count("input: height", input.height, kMaxExtent);
  check_count("input: width", input.width, kMaxExtent);
  if (input.size() > kMaxMapSize) {
    fail("input: a map of {} is too large, expected at most {} values", text_of(input),
         kMaxMapSize);
  }
}

void check_order(const NetworkSpec& spec) {
  const auto stages = static_cast<int64_t>(spec.stages.size());
  if (stages > kMaxStages) {
    fail("the network has {} stages, expected at most {}", stages, kMaxStages);
  }
  const int64_t readouts =
      std::count_if(spec.stages.begin(), spec.stages.end(), is_one_of<Readout>);
  if (readouts != 1) fail("the network has {} readouts, expected exactly 1", readouts);
  if (!is_one_of<Readout>(spec.stages.back())) {
    fail("the readout is not the last stage of the network");
  }
  const int64_t hidden = hidden_stages(spec);
  if (spec.propagation == Propagation::delayed && spec.steps <= hidden) {
    fail(
        "with delayed propagation nothing reaches the readout of {} hidden stages in {} steps, "
        "expected at least {}",
        hidden, spec.steps, hidden + 1);
  }
}

/// Every stage but the last must lead somewhere; with delayed propagation, only to the next one.
void check_connections(const NetworkSpec& spec, const std::vector<StagePlan>& plans) {
  std::vector<bool> used(plans.size(), false);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    for (const BranchPlan& branch : plans[i].branches) {
      const bool chain = plans[i].branches.size() == 1 && branch.sources.size() == 1 &&
                         branch.sources.front() == static_cast<int64_t>(i) - 1 &&
                         (plans[i].readout || plans[i].neuron.kind != "none");
      if (!chain && spec.propagation == Propagation::delayed) {
        fail("{}: delayed propagation works only for chains, and this stage is not part of one",
             plans[i].name);
      }
      for (const int64_t source : branch.sources) {
        if (source != BranchPlan::kInput) used[source] = true;
      }
    }
  }
  for (std::size_t i = 0; i + 1 < plans.size(); ++i) {
    if (!used[i]) fail("nothing reads the output of stage {}", plans[i].name);
  }
}

}  // namespace

std::vector<StagePlan> plan_stages(const NetworkSpec& spec) {
  check_count("steps", spec.steps, kMaxSteps);
  check_input(spec.input);
  expect_enum("network", "propagation", spec.propagation, "Propagation");
  expect_enum("network", "init", spec.init, "Init");
  check_order(spec);
  Planner planner(spec);
  for (const StageSpec& stage : spec.stages) std::visit(planner, stage);
  std::vector<StagePlan> plans = planner.take();
  check_connections(spec, plans);
  return plans;
}

int64_t active_steps(const NetworkSpec& spec) {
  const int64_t idle = spec.propagation == Propagation::delayed ? hidden_stages(spec) : 0;
  if (spec.steps <= idle) fail("steps is {}, expected at least {}", spec.steps, idle + 1);
  return spec.steps - idle;
}

const Readout& readout_of(const NetworkSpec& spec) {
  for (const StageSpec& stage : spec.stages) {
    if (const auto* readout = std::get_if<Readout>(&stage)) return *readout;
  }
  fail("the network has 0 readouts, expected exactly 1");
}

int64_t classes_of(const NetworkSpec& spec) { return readout_of(spec).classes; }

std::vector<KindInfo> norm_kinds() { return kinds_of(norm_table()); }
std::vector<KindInfo> neuron_kinds() { return kinds_of(neuron_table()); }

}  // namespace bntt
