#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "classical/recording_stream.h"

namespace bntt {

/// The answers of a method to the test recordings, and how it found them.
struct ClassicalAnswers {
  FeatureSummary features;
  std::vector<int64_t> answers;             ///< [test recording]; -1: none
  std::vector<std::vector<double>> scores;  ///< [test recording][class], higher is likelier
  std::optional<double> validation_accuracy;
  std::vector<OtherScore> also;
  std::optional<double> cost;
  std::vector<CostScore> costs;
  std::vector<FeatureMap> maps;
};

struct ClassicalMethod {
  std::string name;
  std::string title;
  std::string source;  ///< the publication
  ClassicalAnswers (*run)(const ClassicalConfig& config, RecordingStream& stream);
};

// One file per method.
ClassicalAnswers run_hats(const ClassicalConfig& config, RecordingStream& stream);
ClassicalAnswers run_hots(const ClassicalConfig& config, RecordingStream& stream);
ClassicalAnswers run_hfirst(const ClassicalConfig& config, RecordingStream& stream);
ClassicalAnswers run_gabor_snn(const ClassicalConfig& config, RecordingStream& stream);

const std::vector<ClassicalMethod>& classical_methods();
std::vector<std::string> classical_method_names();
/// Throws Error for an unknown name.
const ClassicalMethod& classical_method(std::string_view name);

/// The published number with which a method's result on a data set is compared, if there is one.
std::optional<PublishedScore> published_score(std::string_view method, std::string_view dataset);
/// What readers should know about that number.
std::vector<std::string> published_notes(std::string_view method);

/// A finished study.
struct ClassicalStudy {
  ClassicalResult result;
  ClassicalTimes times;
  std::string predictions;  ///< CSV, one row per test recording
};

/// Runs a method on the training and test recordings of its data set. Empty if `progress` stopped
/// it. Equal settings give equal results, whatever the number of threads.
std::optional<ClassicalStudy> study_classical(const ClassicalConfig& config,
                                              const ClassicalProgress& progress);

}  // namespace bntt
