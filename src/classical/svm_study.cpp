#include "classical/svm_study.h"

#include <fmt/format.h>

namespace bntt {
namespace {

int64_t right_answers(const LinearClassifier& classifier, const LabelledFeatures& data) {
  int64_t right = 0;
  for (std::size_t i = 0; i < data.rows.size(); ++i) {
    right += highest(classifier.scores(data.rows[i])) == data.labels[i] ? 1 : 0;
  }
  return right;
}

double percent_of(int64_t right, const LabelledFeatures& data) {
  return 100.0 * static_cast<double>(right) / static_cast<double>(data.rows.size());
}

}  // namespace

ExtractedFeatures extract_all(const Extract& extract, RecordingStream& stream) {
  ExtractedFeatures all;
  const auto into = [&](std::vector<SparseFeatures>& rows, int64_t count) {
    rows.resize(static_cast<std::size_t>(count));
    return [&rows, &extract](int64_t index, const Recording& recording) {
      SparseFeatures row = extract(recording);
      row.shrink_to_fit();
      rows[index] = std::move(row);
    };
  };
  stream.each_training("training recordings", stream.train(),
                       into(all.train.rows, stream.train().size()));
  if (stream.validation().size() > 0) {
    stream.each_training("validation recordings", stream.validation(),
                         into(all.validation.rows, stream.validation().size()));
  }
  stream.each_test(kTestPass, into(all.test, stream.test().size()));
  all.train.labels = stream.train_labels(stream.train());
  all.validation.labels = stream.train_labels(stream.validation());
  return all;
}

double mean_nonzero(const LabelledFeatures& data) {
  std::size_t entries = 0;
  for (const SparseFeatures& row : data.rows) entries += row.size();
  return static_cast<double>(entries) / static_cast<double>(data.rows.size());
}

void classify_linearly(ExtractedFeatures features, int64_t count, const ClassicalConfig& config,
                       RecordingStream& stream, ClassicalAnswers& answers) {
  const auto costs = static_cast<int64_t>(config.svm.costs.size());
  stream.tell("fitting the classifier", 0, costs);
  const ChosenClassifier chosen =
      choose_classifier(std::move(features.train), features.validation,
                        {.features = count,
                         .classes = stream.classes(),
                         .options = config.svm,
                         .seed = static_cast<uint64_t>(config.seed)},
                        [&](int64_t done, int64_t of) {
                          stream.tell("fitting the classifier", done, of);
                          return false;
                        });
  answers.cost = chosen.cost;
  for (const CostTrial& trial : chosen.trials) {
    answers.costs.push_back(
        {.cost = trial.cost, .validation_accuracy = percent_of(trial.right, features.validation)});
  }
  if (!features.validation.rows.empty()) {
    answers.validation_accuracy =
        percent_of(right_answers(chosen.classifier, features.validation), features.validation);
  }
  answers.answers.clear();
  answers.scores.clear();
  for (const SparseFeatures& row : features.test) {
    answers.scores.push_back(chosen.classifier.scores(row));
    answers.answers.push_back(highest(answers.scores.back()));
  }
}

std::vector<FeatureMap> class_maps(const LabelledFeatures& train, const RecordingStream& stream,
                                   const std::string& group, int64_t width, int64_t height,
                                   const std::function<int64_t(int64_t index)>& place) {
  std::vector<FeatureMap> maps;
  for (const std::string& name : stream.sets().class_names) {
    maps.push_back({.group = group,
                    .name = name,
                    .width = width,
                    .height = height,
                    .values = std::vector<double>(static_cast<std::size_t>(width * height))});
  }
  std::vector<int64_t> recordings(maps.size());
  for (std::size_t i = 0; i < train.rows.size(); ++i) {
    FeatureMap& map = maps[train.labels[i]];
    for (const FeatureEntry& entry : train.rows[i]) map.values[place(entry.index)] += entry.value;
    ++recordings[train.labels[i]];
  }
  for (std::size_t k = 0; k < maps.size(); ++k) {
    for (double& value : maps[k].values) {
      if (recordings[k] > 0) value /= static_cast<double>(recordings[k]);
    }
  }
  return maps;
}

std::vector<FeatureMap> filter_maps(const GaborBank& bank) {
  std::vector<FeatureMap> maps;
  for (int k = 0; k < GaborBank::kOrientations; ++k) {
    FeatureMap map{.group = "Gabor filters",
                   .name = fmt::format("{}°", 180 / GaborBank::kOrientations * k),
                   .width = GaborBank::kSide,
                   .height = GaborBank::kSide,
                   .values = {}};
    for (int y = -GaborBank::kRadius; y <= GaborBank::kRadius; ++y) {
      for (int x = -GaborBank::kRadius; x <= GaborBank::kRadius; ++x) {
        map.values.push_back(bank.at(x, y, k));
      }
    }
    maps.push_back(std::move(map));
  }
  return maps;
}

}  // namespace bntt
