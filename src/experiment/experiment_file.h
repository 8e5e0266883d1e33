#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bntt {

/// The size at which an experiment is run.
enum class Scale {
  full,   ///< the paper's setting
  small,  ///< hours on two cores
  tiny,   ///< seconds: shows that everything runs; says nothing about the methods
};
constexpr auto enum_names(Scale) {
  return std::array{std::pair{Scale::full, "full"}, std::pair{Scale::small, "small"},
                    std::pair{Scale::tiny, "tiny"}};
}

template <typename T>
struct PerScale {
  T full{};
  T small{};
  T tiny{};

  const T& at(Scale scale) const {
    return scale == Scale::full ? full : (scale == Scale::small ? small : tiny);
  }
};

enum class RunKind {
  train,      ///< a network, trained as by bntt train
  convert,    ///< a spiking network converted from a trained ANN, as by bntt convert
  classical,  ///< a method without a trained network, run as by bntt classical
};
constexpr auto enum_names(RunKind) {
  return std::array{std::pair{RunKind::train, "train"}, std::pair{RunKind::convert, "convert"},
                    std::pair{RunKind::classical, "classical"}};
}

/// One run of an experiment, before a scale and a seed are chosen. Changes of settings are written
/// as for --set.
struct RunEntry {
  std::string name;
  std::string label;  ///< in tables and figures; empty: the name
  RunKind kind = RunKind::train;
  std::string like;              ///< another run, with whose settings this one begins
  std::string preset;            ///< or: a preset
  std::string config;            ///< or: a settings file, relative to the experiment's file
  std::string from;              ///< the run whose weights it starts with; for convert, the ANN
  std::string method;            ///< for convert and classical
  std::vector<std::string> set;  ///< at every scale
  PerScale<std::vector<std::string>> at;  ///< after those, at one scale
};

/// Numbers from the paper, named like the columns.
struct PaperNumbers {
  std::optional<double> steps;
  std::optional<double> accuracy;
  std::optional<double> spikes;
  std::optional<double> energy_ratio;
  std::optional<double> measured_ratio;
  std::optional<double> truenorth;
};

struct RowEntry {
  std::string label;
  std::string run;
  PerScale<int64_t> steps;  ///< evaluate after this many steps; 0: after all
  bool early_exit = false;  ///< evaluate at the exit step chosen on validation images
  PaperNumbers paper;
};

/// What a figure shows.
enum class DrawingKind {
  spikes,           ///< per layer and step; a picture for each run (Fig. 1)
  gamma,            ///< mean γ per layer and step; a picture for each run (Fig. 3)
  gamma_histogram,  ///< γ of one layer over time; a picture for each run and layer (Fig. 5)
  spike_rate,       ///< spikes per neuron of each layer, runs side by side (Fig. 4a)
  exit,             ///< accuracy and exit step against the threshold; for each run (Fig. 6)
  noise,            ///< accuracy against Gaussian noise, runs side by side (Fig. 4b)
  fgsm,             ///< accuracy against FGSM, runs side by side (App. F)
  rate_coding,      ///< images as their input spikes add up; for each run (App. B)
};
constexpr auto enum_names(DrawingKind) {
  return std::array{std::pair{DrawingKind::spikes, "spikes"},
                    std::pair{DrawingKind::gamma, "gamma"},
                    std::pair{DrawingKind::gamma_histogram, "gamma-histogram"},
                    std::pair{DrawingKind::spike_rate, "spike-rate"},
                    std::pair{DrawingKind::exit, "exit"},
                    std::pair{DrawingKind::noise, "noise"},
                    std::pair{DrawingKind::fgsm, "fgsm"},
                    std::pair{DrawingKind::rate_coding, "rate-coding"}};
}

struct DrawingEntry {
  DrawingKind kind = DrawingKind::spikes;
  std::string title;
  std::vector<std::string> runs;
  std::vector<std::string> layers;  ///< of gamma-histogram; skipped if the network lacks them
  std::vector<double> strengths;    ///< of noise (σ) and fgsm (ε), in units of 0..1 pixels
  double threshold = 0.1;           ///< of gamma's exit region
};

/// The quantity that a claim compares.
enum class ClaimSubject {
  accuracy,        ///< on the same test images, by McNemar's test
  spikes,          ///< per image
  energy_ratio,    ///< E_ANN/E, the paper's form
  measured_ratio,  ///< E_ANN/E, counted work
  noise,           ///< accuracy at every strength of noise, each by McNemar's test
  fgsm,            ///< accuracy at every strength of FGSM, each by McNemar's test
  gamma_peak,      ///< the step of the largest mean γ rises with depth; only for `higher`
};
constexpr auto enum_names(ClaimSubject) {
  return std::array{std::pair{ClaimSubject::accuracy, "accuracy"},
                    std::pair{ClaimSubject::spikes, "spikes"},
                    std::pair{ClaimSubject::energy_ratio, "energy_ratio"},
                    std::pair{ClaimSubject::measured_ratio, "measured_ratio"},
                    std::pair{ClaimSubject::noise, "noise"},
                    std::pair{ClaimSubject::fgsm, "fgsm"},
                    std::pair{ClaimSubject::gamma_peak, "gamma-peak"}};
}

/// An ordering that the paper states: the subject is higher for one run than for the other.
struct ClaimEntry {
  std::string text;
  ClaimSubject subject = ClaimSubject::accuracy;
  std::string higher;
  std::string lower;
  std::vector<double> strengths;  ///< for noise and fgsm
};

/// What differs between scales, apart from settings of runs.
struct ScaleEntry {
  std::string note;              ///< what is smaller than in the paper
  int64_t images = 0;            ///< test images for energy, activity and exit; 0: all
  int64_t attack_images = 1000;  ///< for noise and FGSM; 0: all
  double max_loss = 0.3;         ///< points of accuracy that an early exit may cost
};

enum class Column { steps, accuracy, spikes, energy_ratio, measured_ratio, truenorth };
constexpr auto enum_names(Column) {
  return std::array{std::pair{Column::steps, "steps"},
                    std::pair{Column::accuracy, "accuracy"},
                    std::pair{Column::spikes, "spikes"},
                    std::pair{Column::energy_ratio, "energy_ratio"},
                    std::pair{Column::measured_ratio, "measured_ratio"},
                    std::pair{Column::truenorth, "truenorth"}};
}

/// A table or figure: its runs, what it shows of them, and the numbers of the paper.
struct Experiment {
  std::string name;  ///< of the file
  std::string title;
  std::string note;            ///< what readers should know
  std::vector<RunEntry> runs;  ///< its own, and those of experiments/runs.toml
  std::vector<Column> columns;
  std::string reference;  ///< run whose TrueNorth energy is 1; empty: the paper's conversion
  std::vector<RowEntry> rows;
  std::vector<DrawingEntry> figures;
  std::vector<ClaimEntry> claims;
  PerScale<ScaleEntry> scale;
  std::filesystem::path directory;  ///< of the file; empty: built in

  /// Throws Error if no run has this name.
  const RunEntry& run(std::string_view wanted) const;
  /// The runs that rows, figures and claims refer to, each once, in that order.
  std::vector<std::string> used_runs() const;
  /// False if only the input of the run is shown, which is known without training.
  bool needs_weights(std::string_view run) const;
};

/// Names of the built-in experiments (experiments/*.toml).
std::vector<std::string> experiment_names();

/// A built-in experiment. Throws Error for an unknown name and suggests the nearest known one.
Experiment built_in_experiment(const std::string& name);

/// Runs and scales missing from the text are those of experiments/runs.toml. Throws an Error that
/// begins with `origin`.
Experiment experiment_from_toml(std::string_view text, const std::string& origin);

}  // namespace bntt
