#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace bntt {

/// Numbers on a grid, to be shown as a picture.
struct FeatureMap {
  std::string group;  ///< heading of the pictures of one kind
  std::string name;
  int64_t width = 0;
  int64_t height = 0;
  std::vector<double> values;  ///< [y, x]
};

/// Another way to evaluate the same answers, or another classifier on the same features.
struct OtherScore {
  std::string name;
  double accuracy = 0.0;  ///< per cent
};

struct PublishedScore {
  double accuracy = 0.0;  ///< per cent
  std::string source;
};

struct CostScore {
  double cost = 0.0;
  double validation_accuracy = 0.0;
};

struct ClassicalDataSummary {
  std::string name;
  std::vector<std::string> classes;
  int64_t sensor_width = 0;
  int64_t sensor_height = 0;
  int64_t train = 0;  ///< recordings
  int64_t validation = 0;
  int64_t test = 0;
};

struct FeatureSummary {
  int64_t count = 0;
  double mean_nonzero = 0.0;  ///< per training recording
  std::string text;           ///< description
};

/// The result of a classical method: result.json of its run. Nothing here depends on time or on the
/// number of threads.
struct ClassicalResult {
  std::string method;
  std::string title;
  std::string source;
  ClassicalDataSummary data;
  FeatureSummary features;
  int64_t right = 0;            ///< test recordings answered correctly
  double accuracy = 0.0;        ///< per cent of the test recordings
  double class_balanced = 0.0;  ///< mean over the classes
  std::optional<double> validation_accuracy;
  std::optional<double> auc;                    ///< for two classes: area under the ROC curve
  std::vector<std::vector<int64_t>> confusion;  ///< [truth][predicted]
  std::vector<int64_t> unanswered;              ///< [truth]
  std::vector<OtherScore> also;
  std::optional<double> cost;  ///< of the linear classifier, chosen among `costs`
  std::vector<CostScore> costs;
  std::optional<PublishedScore> published;
  std::vector<std::string> notes;
  std::vector<FeatureMap> maps;
};

/// One pass over recordings.
struct PassTimes {
  std::string what;
  int64_t recordings = 0;
  int64_t events = 0;
  double reading_ms = 0.0;  ///< processor time per recording: file to events
  double work_ms = 0.0;     ///< events to features or answers
};

/// The pass whose time counts as the time of an answer.
inline constexpr const char* kTestPass = "test recordings";

/// times.json: everything that differs from one repetition to the next.
struct ClassicalTimes {
  int64_t threads = 0;
  double seconds = 0.0;  ///< from the first file to the last answer
  std::vector<PassTimes> passes;
};

Json to_json(const ClassicalResult& result);
Json to_json(const ClassicalTimes& times);

/// Throws an Error that begins with `origin` for text that is not a result, or one that contradicts
/// itself.
ClassicalResult classical_result_from_json(std::string_view text, const std::string& origin);
ClassicalTimes classical_times_from_json(std::string_view text, const std::string& origin);

/// The answers of a method; -1 if it has none.
struct Tally {
  int64_t right = 0;
  std::vector<std::vector<int64_t>> confusion;
  std::vector<int64_t> unanswered;

  /// Mean share of right answers over the classes that occur, in per cent.
  double class_balanced() const;
};
Tally tally(const std::vector<int64_t>& labels, const std::vector<int64_t>& answers,
            int64_t classes);

/// The share of pairs of a class 1 recording and a class 0 recording in which the former has the
/// higher score; equal scores count half.
double area_under_roc(const std::vector<double>& scores, const std::vector<int64_t>& labels);

}  // namespace bntt
