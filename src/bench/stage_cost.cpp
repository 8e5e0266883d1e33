#include "bench/stage_cost.h"

#include <algorithm>

#include "kernels/pattern_convolution.h"
#include "kernels/unpack.h"
#include "layers/conv_winograd.h"
#include "layers/unpacked_frames.h"

namespace bntt::bench {
namespace {

constexpr std::array<const char*, kStagePhases> kPhaseNames = {
    "synapse forward",           "norm and neurons forward", "synapse and neurons forward",
    "norm and neurons backward", "weight gradient",          "input gradient"};

bool is_synapse(StagePhase phase) {
  return phase != StagePhase::neuron_forward && phase != StagePhase::neuron_backward;
}

/// What a stage reads.
struct Frames {
  int64_t count = 0;   // images times stored steps
  int64_t planes = 0;  // of spikes; 0 for real values
  double density = 1.0;
};

/// How a synapse does its work when it meets `places` spikes per place of its input. Frames are
/// judged one by one in forward, so that the name is that of the average frame.
std::string path_of(const StagePlan& plan, const BreakEven& break_even, const Frames& input,
                    double places, StagePhase phase) {
  if (!is_synapse(phase)) return "";
  const bool sees_spikes = input.planes > 0 && phase != StagePhase::input_gradient;
  if (plan.synapse != SynapseKind::conv3x3) return sees_spikes ? "walk" : "matmul";
  std::string dense = ConvWinograd::suits(plan) ? "winograd" : "direct";
  if (!sees_spikes) return dense;
  const bool forward = phase != StagePhase::weight_gradient;
  if (forward && kernels::PatternConvolution::suits(pool_of(plan), input.planes)) return "table";
  const float limit = forward ? break_even.forward : break_even.weight_gradient;
  return ConvWinograd::suits(plan) && places > limit ? dense : "walk";
}

/// Multiplications of a path, as a share of those of the direct one.
double work_share(const StagePlan& plan, const Frames& input, const std::string& path,
                  double places) {
  constexpr double kWinograd = 36.0 / 144.0;
  if (path == "walk") return places;
  if (path == "table") {
    const kernels::PatternConvolution table{plan.input, input.planes};
    return static_cast<double>(table.groups()) / static_cast<double>(9 * plan.input.channels);
  }
  return path == "winograd" ? kWinograd : 1.0;
}

/// Least traffic per neuron-step. Forward: the current is written by the synapse, read once by the
/// neurons, which write a bit. Backward: the sums over the batch part it into two passes, each of
/// which reads the current and a gradient and writes a gradient. Synapses read or write one float;
/// where neurons take rows as they are made, nothing but bits is left.
double bytes_per_neuron_step(StagePhase phase, Precision precision) {
  constexpr double kFloat = 4.0;
  constexpr double kBit = 1.0 / 8.0;
  const double current = precision == Precision::mixed ? kFloat / 2.0 : kFloat;
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

PhaseCost phase_cost(const StagePlan& plan, const BreakEven& break_even, Precision precision,
                     StagePhase phase, double seconds, const Frames& input, int64_t neuron_frames) {
  // A spike behind a pool is walked like any other: a pooled place sees all of its window's.
  const double places = input.density * static_cast<double>(plan.pool_height * plan.pool_width);
  PhaseCost cost{.name = kPhaseNames.at(static_cast<std::size_t>(phase)),
                 .path = path_of(plan, break_even, input, places, phase),
                 .seconds = seconds};
  const auto outputs = static_cast<double>(plan.output.size());
  const double bytes = bytes_per_neuron_step(phase, precision) * outputs;
  if (is_synapse(phase)) {
    cost.dense_flops = 2.0 * static_cast<double>(plan.macs * input.count);
    cost.needed_flops = cost.dense_flops * work_share(plan, input, cost.path, places);
    cost.bytes = bytes * static_cast<double>(input.count);
  } else {
    cost.bytes = bytes * static_cast<double>(neuron_frames);
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
  std::vector<StageCost> costs;
  const int64_t steps = active_steps(network.spec());
  const auto* dense = std::get_if<DenseTrain>(&input);
  for (std::size_t i = 0; i < network.stages().size(); ++i) {
    const StagePlan& plan = network.stages()[i];
    const Frames frames = i > 0
                              ? Frames{images * steps, 1, density.stages[i - 1]}
                              : Frames{images * (dense != nullptr ? dense->stored_steps() : steps),
                                       dense != nullptr ? 0 : std::get<SpikeTrain>(input).planes(),
                                       spike_density(input)};
    StageCost cost{.name = plan.name,
                   .density = plan.readout ? 0.0 : density.stages[i],
                   .input_density = frames.density};
    const auto of_stage = seconds.find(plan.name);
    for (std::size_t p = 0; of_stage != seconds.end() && p < kStagePhases; ++p) {
      if (of_stage->second[p] <= 0.0) continue;
      cost.phases.push_back(phase_cost(plan, network.break_even()[i], network.precision(),
                                       static_cast<StagePhase>(p), of_stage->second[p], frames,
                                       images * steps));
    }
    costs.push_back(std::move(cost));
  }
  return costs;
}

}  // namespace bntt::bench
