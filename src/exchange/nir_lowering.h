#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bntt/network.h"
#include "bntt/network_spec.h"

namespace bntt {

/// One term of a signal's sum: outputs of stages, pooled, through weights, scaled and shifted per
/// channel.
struct NirTerm {
  std::vector<std::string> sources;  ///< stages whose spikes are added, or one of any kind
  bool spikes = true;                ///< false: real values
  PoolSpec pool;
  std::optional<SynapseSpec> synapse;  ///< none: the signal itself
  std::vector<float> weight;           ///< of the synapse, in PyTorch's order
  std::vector<double> scale;           ///< [channel]; empty: 1
  std::vector<double> shift;           ///< [channel]; empty: 0

  bool is_plain() const { return !synapse && scale.empty() && shift.empty(); }
};

/// The output of a node.
struct NirSignal {
  MapShape map;
  bool flat = false;  ///< one axis in the file, whatever the shape of the map
  std::vector<NirTerm> terms;
};

/// Applied to the arriving terms: v = Σ gain · term + constant.
struct NirDrive {
  double gain = 1.0;
  double constant = 0.0;
};

/// Turns signals into stages, and collects their numbers.
class NirLowering {
 public:
  /// `origin` starts every error sentence.
  NirLowering(const MapShape& input, int64_t steps, const std::string& origin);

  NirSignal input(bool flat) const;

  /// Makes it one signal without weights, scale and shift of its own, so that a pool or weights can
  /// follow. If necessary, adds a stage that outputs real values.
  void make_plain(NirSignal& signal, const std::string& name);
  /// Adds a stage of spiking neurons.
  NirSignal fire(const NirSignal& signal, const std::string& name, const NeuronSpec& neuron,
                 const NirDrive& drive);
  /// Adds the last stage. `readout` says how it decodes; classes, synapse, source and bias are
  /// filled in.
  void read_out(NirSignal signal, const std::string& name, Readout readout, const NirDrive& drive);

  Network network() const;

 private:
  std::string unique(const std::string& name);
  BranchSpec branch(const NirTerm& term, const MapShape& map, const std::string& prefix,
                    const NirDrive& drive);
  std::string add_stage(const NirSignal& signal, const std::string& name, const NeuronSpec& neuron,
                        const NirDrive& drive);

  const std::string& origin_;
  NetworkSpec spec_;
  int64_t weights_ = 0;  // of all branches so far
  std::set<std::string> names_;
  std::map<std::string, std::vector<float>> numbers_;  // by parameter, in PyTorch's order
};

}  // namespace bntt
