#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analyse/run.h"
#include "base/json.h"
#include "experiment/experiment_file.h"

namespace bntt {

enum class MeasureKind { answers, energy, exit, activity, noise, fgsm };
constexpr auto enum_names(MeasureKind) {
  return std::array{
      std::pair{MeasureKind::answers, "answers"}, std::pair{MeasureKind::energy, "energy"},
      std::pair{MeasureKind::exit, "exit"},       std::pair{MeasureKind::activity, "activity"},
      std::pair{MeasureKind::noise, "noise"},     std::pair{MeasureKind::fgsm, "fgsm"}};
}

/// A measurement on a trained run.
struct Measure {
  MeasureKind kind = MeasureKind::answers;
  int64_t images = 0;             ///< number of test images, from the first on; 0: all of the run's
  int64_t steps = 0;              ///< for answers and energy; 0: all
  double max_loss = 0.0;          ///< for exit
  std::vector<double> strengths;  ///< for noise and fgsm

  /// Name of the result's file without extension; the same for the same measurement.
  std::string file_name() const;
};

/// Reports the current task and its progress; stops if it returns true.
using MeasureProgress = std::function<bool(const std::string& what, int64_t images, int64_t of)>;

/// How a run must be opened for this measurement.
OpenRunOptions open_options(const Measure& measure, const RunConfig& config);

/// The result as JSON: that of the analysis (docs/analyses.md), for noise and FGSM with `right` in
/// every point, and for answers {images, correct, steps, spiking, spikes_per_image, right:
/// "0110..."}. Empty if stopped. Throws Error if the
/// measurement does not apply to the run, for example spikes of an ANN.
std::optional<Json> run_measure(OpenRun& run, const Measure& measure,
                                const MeasureProgress& progress);

/// Roughly how many times all of its images pass through the network; a gradient counts as three.
double passes_of(const Measure& measure);

/// Results of runs on disk: analyses/RUN/FILE.json, valid as long as the run has the same weights.
class ResultStore {
 public:
  explicit ResultStore(std::filesystem::path directory) : directory_(std::move(directory)) {}

  std::optional<Json> find(const std::filesystem::path& run, const Measure& measure) const;
  void keep(const std::filesystem::path& run, const Measure& measure, const Json& result) const;

 private:
  std::filesystem::path file_of(const std::filesystem::path& run, const Measure& measure) const;
  std::filesystem::path directory_;
};

}  // namespace bntt
