#include <fmt/format.h>

#include <mutex>
#include <numeric>

#include "classical/svm_study.h"

namespace bntt {
namespace {

/// Spikes of C1 [class][index], and the mean number of indices that a recording reaches.
struct LearnedCounts {
  std::vector<std::vector<int64_t>> of_class;
  double mean_nonzero = 0.0;
};

LearnedCounts learn(const HfirstFront& front, RecordingStream& stream) {
  LearnedCounts learned;
  learned.of_class.assign(static_cast<std::size_t>(stream.classes()),
                          std::vector<int64_t>(static_cast<std::size_t>(front.features())));
  const std::vector<int64_t> labels = stream.train_labels(stream.train());
  int64_t reached = 0;
  std::mutex mutex;  // integers: the order of addition does not matter
  stream.each_training("training recordings", stream.train(),
                       [&](int64_t index, const Recording& recording) {
                         std::vector<int64_t> counts(static_cast<std::size_t>(front.features()));
                         for (const BlockSpike& spike : front.spikes(recording)) {
                           ++counts[spike.index];
                         }
                         const std::lock_guard lock(mutex);
                         std::vector<int64_t>& sums = learned.of_class[labels[index]];
                         for (std::size_t i = 0; i < counts.size(); ++i) {
                           sums[i] += counts[i];
                           reached += counts[i] > 0 ? 1 : 0;
                         }
                       });
  learned.mean_nonzero = static_cast<double>(reached) / static_cast<double>(labels.size());
  return learned;
}

/// The answer and the share of right spikes of each recording.
struct Votes {
  std::vector<int64_t> answers;
  std::vector<double> right_share;
  std::vector<std::vector<double>> scores;

  void resize(int64_t count) {
    answers.resize(static_cast<std::size_t>(count));
    right_share.resize(answers.size());
    scores.resize(answers.size());
  }
  void set(int64_t index, const std::vector<int64_t>& votes, int64_t label) {
    const int64_t all = std::accumulate(votes.begin(), votes.end(), int64_t{0});
    answers[index] = most_votes(votes);
    right_share[index] =
        all == 0 ? 0.0 : static_cast<double>(votes[label]) / static_cast<double>(all);
    scores[index].assign(votes.begin(), votes.end());
  }
};

/// Mean over the classes, in per cent.
double class_balanced(const std::vector<double>& values, const std::vector<int64_t>& labels,
                      int64_t classes) {
  double sum = 0.0;
  int64_t present = 0;
  for (int64_t k = 0; k < classes; ++k) {
    double of_class = 0.0;
    int64_t count = 0;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (labels[i] != k) continue;
      of_class += values[i];
      ++count;
    }
    if (count == 0) continue;
    sum += of_class / static_cast<double>(count);
    ++present;
  }
  return present == 0 ? 0.0 : 100.0 * sum / static_cast<double>(present);
}

std::vector<FeatureMap> weight_maps(const HfirstFront& front, const LearnedCounts& learned,
                                    const RecordingStream& stream) {
  std::vector<FeatureMap> maps;
  for (std::size_t k = 0; k < learned.of_class.size(); ++k) {
    FeatureMap map{
        .group = "Spikes of each C1 block, by class",
        .name = stream.sets().class_names[k],
        .width = front.columns(),
        .height = front.rows(),
        .values = std::vector<double>(static_cast<std::size_t>(front.columns() * front.rows()))};
    for (std::size_t i = 0; i < learned.of_class[k].size(); ++i) {
      map.values[i / GaborBank::kOrientations] += static_cast<double>(learned.of_class[k][i]);
    }
    maps.push_back(std::move(map));
  }
  return maps;
}

}  // namespace

ClassicalAnswers run_hfirst(const ClassicalConfig& config, RecordingStream& stream) {
  const HfirstFront front(stream.sensor(), config.hfirst);
  const LearnedCounts learned = learn(front, stream);
  std::vector<std::vector<double>> weights;
  for (const std::vector<int64_t>& counts : learned.of_class) {
    weights.push_back(hfirst_weights(counts));
  }
  const HfirstClassifier classifier(std::move(weights), config.hfirst);
  const auto vote = [&](const std::vector<int64_t>& labels, Votes& votes) {
    votes.resize(static_cast<int64_t>(labels.size()));
    return [&](int64_t index, const Recording& recording) {
      votes.set(index, classifier.votes(front.spikes(recording)), labels[index]);
    };
  };
  ClassicalAnswers answers;
  if (stream.validation().size() > 0) {
    const std::vector<int64_t> labels = stream.train_labels(stream.validation());
    Votes votes;
    stream.each_training("validation recordings", stream.validation(), vote(labels, votes));
    answers.validation_accuracy =
        100.0 * static_cast<double>(tally(labels, votes.answers, stream.classes()).right) /
        static_cast<double>(labels.size());
  }
  const std::vector<int64_t> labels = stream.test_labels();
  Votes votes;
  stream.each_test(kTestPass, vote(labels, votes));
  answers.features = {.count = front.features(),
                      .mean_nonzero = learned.mean_nonzero,
                      .text = fmt::format("spikes of {} orientations in {} x {} blocks",
                                          GaborBank::kOrientations, front.columns(), front.rows())};
  answers.also.push_back({.name = "share of right spikes, mean over the classes",
                          .accuracy = class_balanced(votes.right_share, labels, stream.classes())});
  answers.answers = std::move(votes.answers);
  answers.scores = std::move(votes.scores);
  answers.maps = filter_maps(front.bank());
  for (FeatureMap& map : weight_maps(front, learned, stream)) {
    answers.maps.push_back(std::move(map));
  }
  return answers;
}

}  // namespace bntt
