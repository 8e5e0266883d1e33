#include "bench/stage_cost.h"

#include <algorithm>

#include "kernels/unpack.h"
#include "layers/synapses/synapse.h"
#include "layers/synapses/unpacked_frames.h"
#include "model/quantise.h"

namespace bntt::bench {
namespace {

constexpr std::array<const char*, kStagePhases> kPhaseNames = {
    "synapse forward",           "norm and neurons forward", "synapse and neurons forward",
    "norm and neurons backward", "weight gradient",          "input gradient"};

bool is_synapse(StagePhase phase) {
  return phase != StagePhase::neuron_forward && phase != StagePhase::neuron_backward;
}

/// The input of a branch.
struct Frames {
  int64_t count = 0;  // images times stored steps
  InputKind kind;
  double density = 1.0;
};

SynapseOperation operation_of(StagePhase phase) {
  switch (phase) {
    case StagePhase::weight_gradient:
      return SynapseOperation::weight_gradient;
    case StagePhase::input_gradient:
      return SynapseOperation::input_gradient;
    default:
      return SynapseOperation::forward;
  }
}

/// Minimum memory traffic per neuron-step. Forward: the synapse writes the current, the neurons
/// read it once and write a bit. Backward: the sums over the batch divide it into two passes, each
/// of which reads the current and a gradient and writes a gradient. Synapses read or write one
/// float; if neurons read rows as soon as they are computed, only bits remain.
double bytes_per_neuron_step(StagePhase phase, Precision precision) {
  constexpr double kFloat = 4.0;
  constexpr double kBit = 1.0 / 8.0;
  const double current = keeps_halves(precision) ? kFloat / 2.0 : kFloat;
  switch (phase) {
    case StagePhase::neuron_forward:
      return current + kBit;
    case StagePhase::forward_by_rows:
      return kBit;
    case StagePhase::neuron_backward:
      return 2.0 * (current + 2.0 * kFloat);
    default:
      return kFloat;
  }
}

/// One branch of a stage, as the stage's synapse sees it.
struct BranchCost {
  const BranchPlan& plan;
  Synapse synapse;
  Frames input;
  Arithmetic arithmetic = Arithmetic::fp32;

  /// Spikes before a pool are walked like any others: a pooled position sees all of its window's.
  double places() const {
    const kernels::PooledMap map = pool_of(plan);
    return input.density * static_cast<double>(map.pool_height * map.pool_width);
  }
  /// The forward pass chooses a way per frame; this is the way for an average frame. For input
  /// gradients the values are real.
  const SynapseWay& way(StagePhase phase) const {
    const SynapseOperation operation = operation_of(phase);
    const bool gradient = operation == SynapseOperation::input_gradient;
    return synapse.way_for(operation, gradient ? InputKind{} : input.kind, places(), arithmetic);
  }
};

PhaseCost phase_cost(const StagePlan& plan, const std::vector<BranchCost>& branches,
                     Precision precision, StagePhase phase, double seconds, int64_t neuron_frames) {
  PhaseCost cost{.name = kPhaseNames.at(static_cast<std::size_t>(phase)), .seconds = seconds};
  const auto outputs = static_cast<double>(plan.output.size());
  const double bytes = bytes_per_neuron_step(phase, precision) * outputs;
  if (!is_synapse(phase)) {
    cost.bytes = bytes * static_cast<double>(neuron_frames);
    return cost;
  }
  for (const BranchCost& branch : branches) {
    if (phase == StagePhase::weight_gradient && branch.plan.weights == 0) continue;
    const SynapseWay& way = branch.way(phase);
    const double flops = 2.0 * static_cast<double>(branch.plan.macs * branch.input.count);
    cost.path += (cost.path.empty() ? "" : "+") + std::string(way.name());
    cost.dense_flops += flops;
    cost.needed_flops += flops * way.work_share(branch.input.kind, branch.places());
    cost.bytes += bytes * static_cast<double>(branch.input.count);
  }
  return cost;
}

double spike_density(const Signal& signal) {
  const auto* spikes = std::get_if<SpikeTrain>(&signal);
  if (spikes == nullptr) return 1.0;
  return static_cast<double>(
             kernels::count_spikes(spikes->words().data(), spikes->words().size())) /
         static_cast<double>(spikes->steps() * spikes->batch() * spikes->shape().size());
}

}  // namespace

const char* phase_name(StagePhase phase) { return kPhaseNames.at(static_cast<std::size_t>(phase)); }

double StageCost::seconds() const {
  double sum = 0.0;
  for (const PhaseCost& phase : phases) sum += phase.seconds;
  return sum;
}

Bound bound_of(const PhaseCost& phase, const Machine& machine) {
  const double computing = phase.needed_flops / machine.flops;
  const double moving = phase.bytes / machine.bytes_per_second;
  return {.compute = computing > moving, .of_peak = std::max(computing, moving) / phase.seconds};
}

std::vector<StageCost> stage_costs(const Network& network, const StageSeconds& seconds,
                                   const Density& density, const Signal& input, int64_t images) {
  const int64_t steps = active_steps(network.spec());
  const auto* constant = std::get_if<DenseTrain>(&input);
  const auto frames_of = [&](const BranchPlan& branch) {
    if (branch.sources.front() == BranchPlan::kInput) {
      return Frames{images * (constant != nullptr ? constant->stored_steps() : steps),
                    InputKind::of(input), spike_density(input)};
    }
    Frames frames{.count = images * steps, .density = 0.0};
    for (const int64_t source : branch.sources) {
      const bool spikes = network.stages()[source].spikes();
      frames.kind.planes += spikes ? 1 : 0;
      frames.kind.largest_value = static_cast<double>(frames.kind.planes);
      frames.density += spikes ? density.stages[source] : 1.0;
    }
    return frames;
  };
  std::vector<StageCost> costs;
  auto break_even = network.break_even().begin();
  for (std::size_t i = 0; i < network.stages().size(); ++i) {
    const StagePlan& plan = network.stages()[i];
    std::vector<BranchCost> branches;
    for (const BranchPlan& branch : plan.branches) {
      const Frames frames = frames_of(branch);
      const bool int8 = frames.kind.spikes() && !scales_of(network, i, branches.size()).empty();
      const Arithmetic of_floats =
          network.precision() == Precision::bf16 ? Arithmetic::bf16 : Arithmetic::fp32;
      branches.push_back({branch, Synapse(branch), frames, int8 ? Arithmetic::int8 : of_floats});
      branches.back().synapse.set_break_even(*break_even++);
    }
    StageCost cost{.name = plan.name,
                   .density = plan.readout ? 0.0 : density.stages[i],
                   .input_density = branches.front().input.density};
    const auto of_stage = seconds.find(plan.name);
    for (std::size_t p = 0; of_stage != seconds.end() && p < kStagePhases; ++p) {
      if (of_stage->second[p] <= 0.0) continue;
      cost.phases.push_back(phase_cost(plan, branches, network.precision(),
                                       static_cast<StagePhase>(p), of_stage->second[p],
                                       images * steps));
    }
    costs.push_back(std::move(cost));
  }
  return costs;
}

}  // namespace bntt::bench
