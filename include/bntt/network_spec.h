#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "bntt/api.h"
#include "bntt/kind_info.h"
#include "bntt/shape.h"

namespace bntt {

/// How currents are normalised.
struct NormSpec {
  std::string kind = "bntt";  ///< a name of norm_kinds()
  float epsilon = 1e-4F;      ///< added to the variance
  float momentum = 0.1F;      ///< weight of the newest batch in the running statistics
  bool shift = false;         ///< β in addition to γ: y = γ x̂ + β
  float gain_start = 1.0F;    ///< initial value of γ
  float alpha = 0.0F;         ///< α of tdbn; 0: 1/√n, n the branches of the stage
  bool operator==(const NormSpec&) const = default;
};

/// ∂spike/∂membrane, as a function of the distance from the threshold d = (v − θ)/width.
enum class SurrogateKind {
  triangle,   ///< α max(0, 1 − |d|), as in the paper
  sigmoid,    ///< α 4 s(kd)(1 − s(kd)) with k = 4, s the logistic function
  arctan,     ///< α / (1 + (πd)²)
  rectangle,  ///< α if |d| < 1/2
  stdb,       ///< α e^(−βΔt), Δt the steps since the neuron's previous spike, whatever d is
};

/// The slope that replaces the derivative of the step function in the backward pass.
struct SurrogateSpec {
  SurrogateKind kind = SurrogateKind::triangle;  ///< its shape
  float alpha = 0.3F;                            ///< height at the threshold
  float width = 0.0F;                            ///< volts; 0: the threshold
  bool per_threshold = false;                    ///< times 1/θ, θ in volts
  float decay = 0.01F;                           ///< of stdb: β, per step
  bool operator==(const SurrogateSpec&) const = default;
};

/// What a spike does to the membrane.
enum class Reset {
  soft,  ///< subtracts the threshold
  hard,  ///< sets it to 0
};

/// When a neuron fires.
enum class Fire {
  gt,  ///< v > θ
  ge,  ///< v >= θ
};

/// How neurons integrate, fire and reset.
struct NeuronSpec {
  std::string kind = "lif";   ///< a name of neuron_kinds()
  float leak = 0.95F;         ///< λ of lif; initial value for plif; ignored by if
  float threshold = 1.0F;     ///< θ, in volts
  Fire fire = Fire::gt;       ///< the comparison with θ
  Reset reset = Reset::soft;  ///< what a spike does to the membrane
  bool detach_reset = true;   ///< the reset carries no gradient
  /// Lower limit of the membrane, at most 0 volts. Cao et al. (2015) clip at 0.
  std::optional<float> floor = std::nullopt;
  SurrogateSpec surrogate;        ///< for the backward pass
  float neunorm_decay = 0.9F;     ///< k of neunorm
  float dropout = 0.0F;           ///< in training, the share of neurons whose output is dropped
  bool dropout_per_step = false;  ///< drawn separately for every step; otherwise once for all
  bool operator==(const NeuronSpec&) const = default;
};

/// When a spike arrives at the next stage.
enum class Propagation {
  instant,  ///< in the step in which it was fired
  delayed,  ///< one step later; only for chains
};

/// 3x3, stride 1, padding 1, no bias.
struct Conv3x3 {
  int64_t channels = 1;  ///< of the output
  NormSpec norm;         ///< of the currents
  NeuronSpec neuron;     ///< of the output map
  bool operator==(const Conv3x3&) const = default;
};

/// Fully connected.
struct Dense {
  int64_t features = 1;  ///< of the output
  NormSpec norm;         ///< of the currents
  NeuronSpec neuron;     ///< one for each feature
  bool bias = false;     ///< whether each feature has one
  bool operator==(const Dense&) const = default;
};

/// Averages size x size pixels; incomplete windows at the right and lower edges are dropped. Size 0
/// means the whole map. A pool belongs to the stage after it.
struct AvgPool {
  int64_t size = 2;  ///< side of a square; 0: the whole map
  bool operator==(const AvgPool&) const = default;
};

/// Sums over size x size squares, for the stage after it.
struct SumPool {
  int64_t size = 2;  ///< side of a square; 0: the whole map
  bool operator==(const SumPool&) const = default;
};

/// Maxima of size x size squares, for the stage after it; for spikes, whether any fired.
struct MaxPool {
  int64_t size = 2;  ///< side of a square; 0: the whole map
  bool operator==(const MaxPool&) const = default;
};

/// What connects the source of a branch with its neurons.
enum class SynapseKind {
  conv,      ///< a convolution
  dense,     ///< all inputs with all outputs
  identity,  ///< each input with its own output, without weights
};

/// Only accumulates: v = λ v + y, without a threshold.
struct Readout {
  int64_t classes = 10;              ///< number of logits
  NormSpec norm = {.kind = "none"};  ///< of the currents
  bool divide_by_steps = true;       ///< whether logits are divided by the number of steps
  bool bias = false;                 ///< whether each output has one
  /// Earlier stages whose spikes are added; empty: the previous stage.
  std::vector<std::string> source;
  /// Adjacent outputs per class; their mean is its logit.
  int64_t votes = 1;
  /// dense, or identity: the spikes of classes · votes neurons are the votes.
  SynapseKind synapse = SynapseKind::dense;
  float leak = 1.0F;          ///< λ
  bool leak_newest = false;   ///< v = λ (v + y) instead
  bool leak_gradient = true;  ///< false: the leak does not damp the gradient
  bool operator==(const Readout&) const = default;
};

/// A convolution of any size.
struct Conv {
  int64_t channels = 1;  ///< of the output
  int64_t kernel = 3;    ///< side of the square kernel
  int64_t stride = 1;    ///< of both axes
  int64_t padding = 1;   ///< zeros around the map, at each side
  bool bias = false;     ///< whether each channel has one
  NormSpec norm;         ///< of the currents
  NeuronSpec neuron;     ///< of the output map
  bool operator==(const Conv&) const = default;
};

/// The weights of a branch.
struct SynapseSpec {
  SynapseKind kind = SynapseKind::conv;  ///< what connects source and neurons
  int64_t outputs = 1;  ///< channels or features; ignored for identity, which keeps its source's
  int64_t kernel = 3;   ///< kernel, stride and padding of a convolution
  int64_t stride = 1;   ///< of both axes
  int64_t padding = 1;  ///< zeros around the map, at each side
  bool bias = false;    ///< whether each output has one
  bool operator==(const SynapseSpec&) const = default;
};

/// A pool before the synapse of a branch.
struct PoolSpec {
  PoolKind kind = PoolKind::average;  ///< how the values of a square become one
  int64_t size = 1;                   ///< 1: none; 0: the whole map
  bool operator==(const PoolSpec&) const = default;
};

/// The name of the network's input among the sources of a branch.
inline constexpr const char* kInputName = "input";

/// source → pool → synapse → norm.
struct BranchSpec {
  /// Names of earlier stages, or "input". The spikes of several are added. Empty: the previous
  /// stage.
  std::vector<std::string> source;
  PoolSpec pool;        ///< before the synapse
  SynapseSpec synapse;  ///< the weights
  NormSpec norm;        ///< of the currents
  bool operator==(const BranchSpec&) const = default;
};

/// neurons(Σ over branches of norm(synapse(source))). The other stages are short forms of such
/// stages with one branch.
struct BranchedStage {
  std::string name;                  ///< empty: conv3, fc1, ... as in a chain
  std::vector<BranchSpec> branches;  ///< at least one; all give maps of the same shape
  NeuronSpec neuron;                 ///< of the stage
  bool operator==(const BranchedStage&) const = default;
};

/// One stage, or a pool that belongs to the next one.
using StageSpec =
    std::variant<Conv3x3, Dense, AvgPool, Readout, Conv, SumPool, MaxPool, BranchedStage>;

/// The distribution of the initial weights, with fan_in inputs and fan_out outputs of one weight's
/// neurons. Biases start at 0.
enum class Init {
  xavier,      ///< U(−a, a), a = 2 √(6 / (fan_in + fan_out)), as in the paper
  he_fan_in,   ///< N(0, 2 / fan_in)
  he_fan_out,  ///< N(0, 2 / fan_out)
  vgg,         ///< convolutions like he_fan_out, fully connected N(0, 0.01²)
  pytorch,     ///< U(−a, a), a = 1 / √fan_in
};

/// A network is data: stages in the order in which they run, for a number of steps.
struct NetworkSpec {
  MapShape input;                                  ///< one image or frame
  int64_t steps = 25;                              ///< of one run
  Propagation propagation = Propagation::instant;  ///< of spikes between stages
  Init init = Init::xavier;                        ///< of the initial weights
  std::vector<StageSpec> stages;  ///< in the order in which they run; the last is the readout
  bool operator==(const NetworkSpec&) const = default;
};

/// A branch with everything derived from the spec.
struct BranchPlan {
  /// Index that stands for the network's input instead of a stage.
  static constexpr int64_t kInput = -1;

  std::string name;                         ///< prefix of its numbers: conv1, or block2.branch2
  std::vector<int64_t> sources;             ///< stages whose outputs are added, or kInput
  MapShape source;                          ///< the map of the sources, before pooling
  PoolKind pool = PoolKind::average;        ///< how values are pooled
  int64_t pool_height = 1;                  ///< pixels that become one
  int64_t pool_width = 1;                   ///< pixels that become one
  MapShape input;                           ///< source after pooling
  SynapseKind synapse = SynapseKind::conv;  ///< what connects input and neurons
  ConvGeometry geometry;                    ///< of a convolution
  bool bias = false;                        ///< whether each output channel has one
  MapShape output;                          ///< of the synapse
  NormSpec norm;                            ///< of the currents

  int64_t fan_in = 0;      ///< inputs of one output neuron
  int64_t weights = 0;     ///< synapse weights; 0 for identity
  int64_t gains = 0;       ///< γ values, over all steps
  int64_t parameters = 0;  ///< everything that is trained: weights, bias, and those of the norm
  int64_t macs = 0;        ///< dense multiply-adds per image and step

  bool pools() const { return pool_height > 1 || pool_width > 1; }  ///< whether anything is pooled
};

/// One stage with everything derived from the spec. Pooled spikes are computed when they are read,
/// never stored (except those of a max pool).
struct StagePlan {
  std::string name;  ///< its own, or conv1, conv2, ..., fc1, ...; the readout is the last fc
  std::vector<BranchPlan> branches;  ///< at least one
  NeuronSpec neuron;                 ///< of the stage; the readout has only its leak
  bool readout = false;              ///< whether it is the last stage
  MapShape output;                   ///< of this stage's neurons

  /// The steps of the whole run in which this stage's work can reach the readout: with delayed
  /// propagation, stage l of L sees nothing before step l, and its last L - l steps do not reach
  /// the readout. With instant propagation, all steps.
  int64_t first_step = 0;
  int64_t active_steps = 0;  ///< their number, from first_step on

  int64_t weights = 0;     ///< sum over the branches
  int64_t gains = 0;       ///< sum over the branches
  int64_t parameters = 0;  ///< including those of the neurons
  int64_t macs = 0;        ///< sum over the branches
  int64_t neurons = 0;     ///< neurons that fire or rectify: 0 for the readout and neurons `none`

  /// Whether its output is spikes; otherwise real values.
  bool spikes() const {
    return !readout && neuron.kind != "relu" && neuron.kind != "none" && neuron.kind != "neunorm";
  }
};

/// Validates the spec and computes shapes and counts. Throws Error, with one sentence, for a spec
/// that cannot work. Thread-safe, as all functions here are.
BNTT_API std::vector<StagePlan> plan_stages(const NetworkSpec& spec);

/// Steps in which a stage works: all, or with delayed propagation all but one per hidden stage.
/// Throws Error if there would be none.
BNTT_API int64_t active_steps(const NetworkSpec& spec);
/// The number of classes of the readout. Throws Error for a network without one.
BNTT_API int64_t classes_of(const NetworkSpec& spec);
/// The readout, which is part of the spec. Throws Error for a network without one.
BNTT_API const Readout& readout_of(const NetworkSpec& spec);

/// The values that NormSpec::kind may have, including registered ones.
BNTT_API std::vector<KindInfo> norm_kinds();
/// The values that NeuronSpec::kind may have.
BNTT_API std::vector<KindInfo> neuron_kinds();

/// The spec as text. Throws Error for an enum without one of its values.
BNTT_API std::string to_json(const NetworkSpec& spec);
/// The spec that to_json wrote: network_from_json(to_json(spec), "") == spec. `origin` names the
/// source of the text in error messages. Throws Error for anything else.
BNTT_API NetworkSpec network_from_json(const std::string& text, const std::string& origin);

}  // namespace bntt
