#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/fields.h"
#include "bench/density.h"
#include "bench/machine.h"
#include "model/stage_clock.h"

namespace bntt::bench {

/// One kind of work of a stage, per timed unit.
struct PhaseCost {
  std::string name;
  std::string path;  ///< the way used: walk, direct, ...; empty if there is no choice
  double seconds = 0.0;
  double dense_flops = 0.0;   ///< if every zero were multiplied
  double needed_flops = 0.0;  ///< of the path taken: a walk only touches spikes
  double bytes = 0.0;         ///< minimum memory traffic
};

struct StageCost {
  std::string name;
  double density = 0.0;        ///< of its neurons; 0 for the readout
  double input_density = 0.0;  ///< of its input, before pooling
  std::vector<PhaseCost> phases;

  double seconds() const;
};

/// The roofline of a phase.
struct Bound {
  bool compute = true;   ///< limited by compute; otherwise by bandwidth
  double of_peak = 0.0;  ///< minimum possible time divided by time taken
};
Bound bound_of(const PhaseCost& phase, const Machine& machine);

const char* phase_name(StagePhase phase);

/// The times that a clock measured for the stages, by name.
using StageSeconds = std::map<std::string, StageClock::Seconds>;

/// Costs of the phases that took time; `seconds` is the time for `images` images.
std::vector<StageCost> stage_costs(const Network& network, const StageSeconds& seconds,
                                   const Density& density, const Signal& input, int64_t images);

template <class Visitor>
void visit_fields(Visitor& visit, PhaseCost& phase) {
  visit("name", phase.name);
  visit("path", phase.path);
  visit("seconds", phase.seconds);
  visit("dense_flops", phase.dense_flops);
  visit("needed_flops", phase.needed_flops);
  visit("bytes", phase.bytes);
}

template <class Visitor>
void visit_fields(Visitor& visit, StageCost& stage) {
  visit("name", stage.name);
  visit("density", stage.density);
  visit("input_density", stage.input_density);
  visit("phases", stage.phases);
}

}  // namespace bntt::bench
