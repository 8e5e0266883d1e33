#include <algorithm>
#include <cmath>

#include "base/fail.h"
#include "bntt/network_spec.h"

namespace bntt {
namespace {

// Far above any real network, and low enough that no product or sum over stages, steps and a batch
// leaves int64.
constexpr int64_t kMaxSteps = int64_t{1} << 16;
constexpr int64_t kMaxStages = 1000;
constexpr int64_t kMaxExtent = int64_t{1} << 16;
constexpr int64_t kMaxChannels = int64_t{1} << 20;
constexpr int64_t kMaxMapSize = int64_t{1} << 28;
constexpr int64_t kMaxWeights = int64_t{1} << 31;
constexpr int64_t kMaxMacs = int64_t{1} << 40;

void check_count(const std::string& what, int64_t value, int64_t limit) {
  if (value < 1 || value > limit) fail("{} is {}, expected 1 to {}", what, value, limit);
}

// Written so that NaN is refused.
void check_positive(const std::string& where, const char* what, float value) {
  if (!(value > 0.0F) || !std::isfinite(value)) {
    fail("{}: {} is {}, expected a number above 0", where, what, value);
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
}

void check_neuron(const std::string& where, const NeuronSpec& neuron) {
  if (neuron.kind == NeuronKind::relu) return;
  if (neuron.kind == NeuronKind::lif) check_fraction(where, "leak", neuron.leak);
  check_positive(where, "threshold", neuron.threshold);
  check_positive(where, "surrogate alpha", neuron.surrogate.alpha);
}

int64_t gain_count(const NormSpec& norm, int64_t channels, int64_t steps) {
  switch (norm.kind) {
    case NormKind::none:
      return 0;
    case NormKind::bntt:
      return steps * channels;
    case NormKind::bn:
    case NormKind::bn_time:
    case NormKind::layer:
      return channels;
  }
  return 0;
}

std::string text_of(const MapShape& map) {
  return fmt::format("{}x{}x{}", map.channels, map.height, map.width);
}

int64_t hidden_stages(const NetworkSpec& spec) {
  return std::count_if(spec.stages.begin(), spec.stages.end(), [](const StageSpec& stage) {
    return std::holds_alternative<Conv3x3>(stage) || std::holds_alternative<Dense>(stage);
  });
}

/// Walks the chain and carries the map from stage to stage.
class Planner {
 public:
  explicit Planner(const NetworkSpec& spec) : spec_(spec), source_(spec.input), map_(spec.input) {}

  void operator()(const AvgPool& pool) {
    const std::string place =
        plans_.empty() ? "before the first stage" : "after " + plans_.back().name;
    if (pool.size < 0) fail("the pool {} has size {}, expected at least 0", place, pool.size);
    const int64_t height = pool.size == 0 ? map_.height : pool.size;
    const int64_t width = pool.size == 0 ? map_.width : pool.size;
    if (height > map_.height || width > map_.width) {
      fail("the pool {} of size {} would leave nothing of its map of {}x{} pixels", place,
           pool.size, map_.height, map_.width);
    }
    pool_height_ *= height;
    pool_width_ *= width;
    map_.height /= height;
    map_.width /= width;
  }

  void operator()(const Conv3x3& conv) {
    if (dense_stages_ > 0) {
      fail("conv3x3 stands after {}, but nothing convolves a flat layer", plans_.back().name);
    }
    const std::string name = fmt::format("conv{}", ++conv_stages_);
    check_count(name + ": channels", conv.channels, kMaxChannels);
    StagePlan& plan = add(name, SynapseKind::conv3x3, conv.norm);
    plan.fan_in = 9 * map_.channels;
    set_neuron(plan, conv.neuron);
    finish(plan, {conv.channels, map_.height, map_.width});
  }

  void operator()(const Dense& dense) {
    const std::string name = fmt::format("fc{}", ++dense_stages_);
    check_count(name + ": features", dense.features, kMaxChannels);
    StagePlan& plan = add(name, SynapseKind::dense, dense.norm);
    plan.fan_in = map_.size();
    set_neuron(plan, dense.neuron);
    finish(plan, {dense.features, 1, 1});
  }

  void operator()(const Readout& readout) {
    check_count("readout: classes", readout.classes, kMaxChannels);
    StagePlan& plan = add(fmt::format("fc{}", ++dense_stages_), SynapseKind::dense, readout.norm);
    plan.readout = true;
    plan.fan_in = map_.size();
    finish(plan, {readout.classes, 1, 1});
    plan.neurons = 0;
  }

  std::vector<StagePlan> take() { return std::move(plans_); }

 private:
  StagePlan& add(const std::string& name, SynapseKind synapse, const NormSpec& norm) {
    check_norm(name, norm);
    StagePlan plan;
    plan.name = name;
    plan.synapse = synapse;
    plan.norm = norm;
    plan.source = source_;
    plan.pool_height = pool_height_;
    plan.pool_width = pool_width_;
    plan.input = map_;
    const bool delayed = spec_.propagation == Propagation::delayed;
    plan.first_step = delayed ? static_cast<int64_t>(plans_.size()) : 0;
    plan.active_steps = active_steps(spec_);
    return plans_.emplace_back(std::move(plan));
  }

  void set_neuron(StagePlan& plan, const NeuronSpec& neuron) {
    check_neuron(plan.name, neuron);
    const bool relu = neuron.kind == NeuronKind::relu;
    const bool first_relu = plans_.front().neuron.kind == NeuronKind::relu;
    if (&plan != &plans_.front() && relu != first_relu) {
      fail("{} has {} neurons and {} has {} ones, but a network is either an ANN or spiking",
           plans_.front().name, first_relu ? "relu" : "spiking", plan.name,
           relu ? "relu" : "spiking");
    }
    if (relu && spec_.steps != 1) {
      fail("{} has relu neurons and the network {} steps, but an ANN has exactly 1", plan.name,
           spec_.steps);
    }
    plan.neuron = neuron;
  }

  void finish(StagePlan& plan, const MapShape& output) {
    if (output.size() > kMaxMapSize) {
      fail("{}: its map of {} is too large, expected at most {} values", plan.name, text_of(output),
           kMaxMapSize);
    }
    plan.output = output;
    plan.weights = plan.fan_in * output.channels;
    total_weights_ += plan.weights;
    if (total_weights_ > kMaxWeights) {
      fail("{}: the network has {} weights up to here, expected at most {}", plan.name,
           total_weights_, kMaxWeights);
    }
    plan.gains = gain_count(plan.norm, output.channels, spec_.steps);
    plan.neurons = output.size();
    plan.macs = plan.weights * output.pixels();
    total_macs_ += plan.macs;
    if (total_macs_ > kMaxMacs) {
      fail("{}: the network has {} multiply-adds per step up to here, expected at most {}",
           plan.name, total_macs_, kMaxMacs);
    }
    source_ = output;
    map_ = output;
    pool_height_ = 1;
    pool_width_ = 1;
  }

  const NetworkSpec& spec_;
  std::vector<StagePlan> plans_;
  MapShape source_;  // handed over by the stage before
  MapShape map_;     // after the pools seen since
  int64_t pool_height_ = 1;
  int64_t pool_width_ = 1;
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

void check_chain(const NetworkSpec& spec) {
  const auto is_readout = [](const StageSpec& stage) {
    return std::holds_alternative<Readout>(stage);
  };
  const auto stages = static_cast<int64_t>(spec.stages.size());
  if (stages > kMaxStages)
    fail("the network has {} stages, expected at most {}", stages, kMaxStages);
  const int64_t readouts = std::count_if(spec.stages.begin(), spec.stages.end(), is_readout);
  if (readouts != 1) fail("the network has {} readouts, expected exactly 1", readouts);
  if (!is_readout(spec.stages.back())) fail("the readout is not the last stage of the network");
  const int64_t hidden = hidden_stages(spec);
  if (spec.propagation == Propagation::delayed && spec.steps <= hidden) {
    fail(
        "with delayed propagation nothing reaches the readout of {} hidden stages in {} steps, "
        "expected at least {}",
        hidden, spec.steps, hidden + 1);
  }
}

}  // namespace

std::vector<StagePlan> plan_stages(const NetworkSpec& spec) {
  check_count("steps", spec.steps, kMaxSteps);
  check_input(spec.input);
  check_chain(spec);
  Planner planner(spec);
  for (const StageSpec& stage : spec.stages) std::visit(planner, stage);
  return planner.take();
}

int64_t active_steps(const NetworkSpec& spec) {
  return spec.propagation == Propagation::delayed ? spec.steps - hidden_stages(spec) : spec.steps;
}

int64_t classes_of(const NetworkSpec& spec) {
  for (const StageSpec& stage : spec.stages) {
    if (const auto* readout = std::get_if<Readout>(&stage)) return readout->classes;
  }
  fail("the network has 0 readouts, expected exactly 1");
}

}  // namespace bntt
