#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyse/inference.h"
#include "analyse/run.h"

namespace bntt {

/// TrueNorth-normalised energy: spikes · spike + steps · step, relative to a reference.
struct TrueNorthTable {
  double spike = 0.4;
  double step = 0.6;
  double reference_spikes = 4193000.0;  ///< per image: the paper's conversion
  double reference_steps = 1000.0;
};

/// The cost of operations, kept as data so that other process technologies can be described.
struct EnergyTable {
  std::string name = "unnamed";
  double mac_pj = 4.6;
  double accumulate_pj = 0.9;
  double int8_accumulate_pj = 0.03;  ///< of a spike that meets weights of int8
  TrueNorthTable truenorth;
};

/// The built-in table (energy/45nm.toml).
EnergyTable default_energy_table();
/// Keys missing from the text keep their built-in values. Throws an Error that begins with
/// `origin`.
EnergyTable energy_table_from_toml(std::string_view text, const std::string& origin);

/// One synapse with its stage, per image.
struct StageEnergy {
  std::string name;
  bool int8 = false;                  ///< its adds are of 8-bit integers
  int64_t neurons = 0;                ///< 0 for the readout
  int64_t flops_ann = 0;              ///< k² O² Cin Cout, or Cin Cout
  double spike_rate = 0.0;            ///< R_s: spikes of the stage over all steps / its neurons
  double flops_snn = 0.0;             ///< the paper's form: flops_ann · R_s
  double accumulates = 0.0;           ///< measured form: arriving spikes times their fan-out
  double multiply_accumulates = 0.0;  ///< measured form: real-valued input
  double ann_pj = 0.0;                ///< flops_ann · mac_pj
  double paper_pj = 0.0;              ///< flops_snn · accumulate_pj, or int8_accumulate_pj
  double measured_pj = 0.0;  ///< accumulates · accumulate_pj + multiply_accumulates · mac_pj
};

/// The cost on this machine, for the images that were run.
struct CpuCost {
  int64_t images = 0;
  int64_t threads = 0;
  double ms_per_image = 0.0;
  std::optional<double> joules_per_image;  ///< from RAPL's package counters, if readable
};

struct EnergyStudy {
  EnergyTable table;
  bool spiking = true;  ///< false for an ANN; the fields about spikes are then absent
  int64_t images = 0;
  int64_t steps = 0;
  double accuracy = 0.0;
  double spikes_per_image = 0.0;  ///< of hidden neurons, not of the encoder
  std::vector<StageEnergy> stages;
  double ann_pj = 0.0;                ///< E_ANN: the same chain as an ANN, one dense pass
  std::optional<double> paper_pj;     ///< E_SNN, the paper's form
  std::optional<double> measured_pj;  ///< E_SNN, from the operations that were executed
  std::optional<double> paper_ratio;  ///< E_ANN / E_SNN (Table 3); absent if nothing fired
  std::optional<double> measured_ratio;
  std::optional<double> truenorth;  ///< relative to the reference (Appendix E)
  CpuCost cpu;
};

struct EnergyOptions {
  EnergyTable table = default_energy_table();
  int64_t steps = 0;  ///< of the run; 0: all
  std::function<bool(int64_t images)> progress;
};

EnergyStudy study_energy(const Network& network, const Sample& sample,
                         const EnergyOptions& options = {});

/// The measured form per image, for any counted inference of the network.
double measured_pj(const Network& network, const Inference& inference, const EnergyTable& table);

}  // namespace bntt
