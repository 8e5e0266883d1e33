#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/fields.h"
#include "classical/histogram_distance.h"
#include "classical/svm_study.h"

namespace bntt {
namespace {

void learn(Hots& hots, const ClassicalConfig& config, RecordingStream& stream) {
  SampleRange range = stream.train();
  if (config.hots.learn_recordings > 0) {
    range.end = std::min(range.end, range.begin + config.hots.learn_recordings);
  }
  for (int64_t l = 0; l < hots.layers(); ++l) {
    Hots::Learning learning(hots, l, static_cast<uint64_t>(config.seed));
    stream.in_order(fmt::format("learning layer {} of {}", l + 1, hots.layers()), range,
                    [&](int64_t, const Recording& recording) { learning.add(recording); });
  }
}

/// The prototypes of a layer: those of the first layer by polarity, later ones summed over their
/// inputs.
void add_prototype_maps(const Hots& hots, int64_t l, std::vector<FeatureMap>& maps) {
  const int64_t side = 2 * hots.radius(l) + 1;
  const int64_t polarities = hots.polarities(l);
  const bool apart = l == 0;
  for (int64_t k = 0; k < hots.layer(l).prototypes(); ++k) {
    const std::vector<float> prototype = hots.layer(l).prototype(k);
    for (int64_t shown = 0; shown < (apart ? polarities : 1); ++shown) {
      FeatureMap map{.group = fmt::format("Prototypes of layer {}", l + 1),
                     .name = apart ? fmt::format("{} {}", k + 1, shown == 0 ? "OFF" : "ON")
                                   : fmt::format("{}", k + 1),
                     .width = side,
                     .height = side,
                     .values = std::vector<double>(static_cast<std::size_t>(side * side))};
      for (int64_t i = 0; i < side * side; ++i) {
        for (int64_t q = 0; q < polarities; ++q) {
          if (!apart || q == shown) map.values[i] += prototype[i * polarities + q];
        }
      }
      maps.push_back(std::move(map));
    }
  }
}

std::vector<double> dense(const SparseFeatures& row, int64_t size) {
  std::vector<double> values(static_cast<std::size_t>(size));
  for (const FeatureEntry& entry : row) values[entry.index] = entry.value;
  return values;
}

struct Judgements {
  std::vector<int64_t> answers;
  std::vector<std::vector<double>> scores;
};

/// Classifies by the distance of histograms; a score is a negative distance.
class DistanceJudge {
 public:
  DistanceJudge(HistogramDistance kind, const LabelledFeatures& train, int64_t classes,
                int64_t bins)
      : means_(kind, classes, bins), bins_(bins) {
    for (std::size_t i = 0; i < train.rows.size(); ++i) {
      means_.add(dense(train.rows[i], bins), train.labels[i]);
    }
  }

  Judgements judge(const std::vector<SparseFeatures>& rows) const {
    Judgements judgements;
    for (const SparseFeatures& row : rows) {
      std::vector<double> scores = means_.distances(dense(row, bins_));
      for (double& score : scores) score = -score;
      judgements.answers.push_back(highest(scores));
      judgements.scores.push_back(std::move(scores));
    }
    return judgements;
  }

 private:
  NearestHistogram means_;
  int64_t bins_;
};

double accuracy(const std::vector<int64_t>& answers, const std::vector<int64_t>& labels,
                int64_t classes) {
  return 100.0 * static_cast<double>(tally(labels, answers, classes).right) /
         static_cast<double>(labels.size());
}

/// For the linear classifier: shares, which do not depend on the number of events.
ExtractedFeatures as_shares(ExtractedFeatures features) {
  const auto divide = [](std::vector<SparseFeatures>& rows) {
    for (SparseFeatures& row : rows) {
      double sum = 0.0;
      for (const FeatureEntry& entry : row) sum += entry.value;
      for (FeatureEntry& entry : row) entry.value = static_cast<float>(entry.value / sum);
    }
  };
  divide(features.train.rows);
  divide(features.validation.rows);
  divide(features.test);
  return features;
}

/// A row of shares for each class.
FeatureMap histogram_map(const LabelledFeatures& train, int64_t classes, int64_t bins) {
  FeatureMap map{.group = "Mean histogram",
                 .name = "a row for each class, a column for each prototype of the last layer",
                 .width = bins,
                 .height = classes,
                 .values = std::vector<double>(static_cast<std::size_t>(classes * bins))};
  for (std::size_t i = 0; i < train.rows.size(); ++i) {
    for (const FeatureEntry& entry : train.rows[i]) {
      map.values[train.labels[i] * bins + entry.index] += entry.value;
    }
  }
  for (int64_t k = 0; k < classes; ++k) {
    double sum = 0.0;
    for (int64_t i = 0; i < bins; ++i) sum += map.values[k * bins + i];
    for (int64_t i = 0; i < bins && sum > 0.0; ++i) map.values[k * bins + i] /= sum;
  }
  return map;
}

constexpr const char* kSvmText = "linear SVM on shares";

std::string classifier_text(HistogramDistance kind) {
  switch (kind) {
    case HistogramDistance::euclid:
      return "Euclidean distance of histograms";
    case HistogramDistance::normalised:
      return "Euclidean distance of shares";
    case HistogramDistance::bhattacharyya:
      return "Bhattacharyya distance";
  }
  return "";
}

}  // namespace

ClassicalAnswers run_hots(const ClassicalConfig& config, RecordingStream& stream) {
  Hots hots(stream.sensor(), config.hots);
  learn(hots, config, stream);
  const int64_t bins = hots.bins();
  const int64_t classes = stream.classes();
  const ExtractedFeatures features = extract_all(
      [&](const Recording& recording) { return sparse_features(hots.histogram(recording)); },
      stream);
  const std::vector<int64_t> labels = stream.test_labels();
  // All four classifiers: their cost is negligible compared with the prototypes.
  ClassicalAnswers answers;
  std::string chosen_text = kSvmText;
  classify_linearly(as_shares(features), bins, config, stream, answers);
  answers.also.push_back(
      {.name = kSvmText, .accuracy = accuracy(answers.answers, labels, classes)});
  for (const auto& [kind, name] : enum_names(HistogramDistance{})) {
    const DistanceJudge judge(kind, features.train, classes, bins);
    Judgements test = judge.judge(features.test);
    const bool chosen = name_of(config.hots.classifier) == name;
    answers.also.push_back(
        {.name = classifier_text(kind), .accuracy = accuracy(test.answers, labels, classes)});
    if (!chosen) continue;
    chosen_text = classifier_text(kind);
    answers.answers = std::move(test.answers);
    answers.scores = std::move(test.scores);
    if (!features.validation.rows.empty()) {
      answers.validation_accuracy = accuracy(judge.judge(features.validation.rows).answers,
                                             features.validation.labels, classes);
    }
  }
  answers.features = {
      .count = bins,
      .mean_nonzero = mean_nonzero(features.train),
      .text = fmt::format("histogram of the last of {} layers ({} prototypes), by {}",
                          hots.layers(), fmt::join(config.hots.prototypes, ", "), chosen_text)};
  for (int64_t l = 0; l < hots.layers(); ++l) add_prototype_maps(hots, l, answers.maps);
  answers.maps.push_back(histogram_map(features.train, classes, bins));
  return answers;
}

}  // namespace bntt
