#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "bntt/shape.h"

namespace bntt {

enum class NormKind {
  none,
  bntt,     ///< statistics and gain of every step their own
  bn,       ///< statistics of each step's batch; gain and running statistics shared by all steps
  bn_time,  ///< statistics over batch, space and all steps together
  layer,    ///< statistics per sample and step over channels and space
};

struct NormSpec {
  NormKind kind = NormKind::bntt;
  float epsilon = 1e-4F;
  float momentum = 0.1F;  ///< weight of the newest batch in the running statistics
  bool operator==(const NormSpec&) const = default;
};

/// ∂spike/∂membrane, as a function of the distance from the threshold d = (v − θ)/θ.
enum class SurrogateKind {
  triangle,   ///< α max(0, 1 − |d|): the paper's
  sigmoid,    ///< α 4 s(kd)(1 − s(kd)) with k = 4, s the logistic function
  arctan,     ///< α / (1 + (πd)²)
  rectangle,  ///< α where |d| < 1/2
};

struct SurrogateSpec {
  SurrogateKind kind = SurrogateKind::triangle;
  float alpha = 0.3F;  ///< height at the threshold
  bool operator==(const SurrogateSpec&) const = default;
};

enum class NeuronKind { lif, integrate_and_fire, relu };
enum class Reset { soft, hard };

struct NeuronSpec {
  NeuronKind kind = NeuronKind::lif;
  float leak = 0.95F;  ///< λ; only of lif: integrate_and_fire keeps everything
  float threshold = 1.0F;
  Reset reset = Reset::soft;
  bool detach_reset = true;  ///< the reset carries no gradient
  SurrogateSpec surrogate;
  bool operator==(const NeuronSpec&) const = default;
};

/// When a spike arrives at the next stage.
enum class Propagation {
  instant,  ///< in the step in which it was fired
  delayed,  ///< one step later
};

struct Conv3x3 {
  int64_t channels = 1;
  NormSpec norm;
  NeuronSpec neuron;
  bool operator==(const Conv3x3&) const = default;
};

struct Dense {
  int64_t features = 1;
  NormSpec norm;
  NeuronSpec neuron;
  bool operator==(const Dense&) const = default;
};

/// Averages size x size pixels; a rest at the right and lower edge is dropped. Size 0 averages the
/// whole map.
struct AvgPool {
  int64_t size = 2;
  bool operator==(const AvgPool&) const = default;
};

/// Fully connected, and only accumulates: no leak, no threshold.
struct Readout {
  int64_t classes = 10;
  NormSpec norm = {.kind = NormKind::none};
  bool divide_by_steps = true;
  bool operator==(const Readout&) const = default;
};

using StageSpec = std::variant<Conv3x3, Dense, AvgPool, Readout>;

/// A network is data: a chain of stages, run for a number of steps.
struct NetworkSpec {
  MapShape input;
  int64_t steps = 25;
  Propagation propagation = Propagation::instant;
  std::vector<StageSpec> stages;
  bool operator==(const NetworkSpec&) const = default;
};

enum class SynapseKind { conv3x3, dense };

/// One weighted stage with everything that follows from the spec. A pool belongs to the stage after
/// it: pooled spikes are read through the pool, never stored.
struct StagePlan {
  std::string name;  ///< conv1, conv2, ..., fc1, ...; the readout is the last fc
  SynapseKind synapse = SynapseKind::conv3x3;
  NormSpec norm;
  NeuronSpec neuron;
  bool readout = false;

  MapShape source;          ///< the map that the stage before hands over, before pooling
  int64_t pool_height = 1;  ///< pooling window between source and this synapse
  int64_t pool_width = 1;
  MapShape input;   ///< source after pooling
  MapShape output;  ///< of this stage's neurons

  /// The steps of the whole run in which this stage's work can reach the readout: with delayed
  /// propagation, stage l of L sees nothing before step l, and its last L - l steps lead nowhere.
  /// Elsewhere all of them.
  int64_t first_step = 0;
  int64_t active_steps = 0;

  int64_t fan_in = 0;   ///< inputs of one output neuron
  int64_t weights = 0;  ///< synapse weights
  int64_t gains = 0;    ///< γ values, all steps together
  int64_t neurons = 0;  ///< 0 for the readout
  int64_t macs = 0;     ///< dense multiply-adds per image and step

  int64_t parameters() const { return weights + gains; }
};

/// Validates the spec and computes shapes and counts. Throws Error, in one sentence, for a spec
/// that cannot work.
std::vector<StagePlan> plan_stages(const NetworkSpec& spec);

/// Steps that do something: all, or with delayed propagation all but one per hidden stage.
int64_t active_steps(const NetworkSpec& spec);
int64_t classes_of(const NetworkSpec& spec);

/// Round trips: parse(format(spec)) == spec. `origin` names the source of the text in error
/// messages.
std::string to_json(const NetworkSpec& spec);
NetworkSpec network_from_json(const std::string& text, const std::string& origin);
std::string to_toml(const NetworkSpec& spec);
NetworkSpec network_from_toml(const std::string& text, const std::string& origin);

}  // namespace bntt
