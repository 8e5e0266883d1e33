#include "report/confusions.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "report/class_name.h"
#include "report/sample_picture.h"

namespace bntt {
namespace {

using Matrix = std::vector<std::vector<int64_t>>;  // [truth][predicted]

struct Pair {
  int64_t truth = 0;
  int64_t predicted = 0;
  int64_t count = 0;
};

Matrix matrix_of(const Sample& sample, const Answers& answers) {
  const auto classes = static_cast<std::size_t>(sample.images.classes);
  Matrix matrix(classes, std::vector<int64_t>(classes));
  for (std::size_t i = 0; i < answers.predictions.size(); ++i) {
    ++matrix[sample.images.labels[sample.range.begin + i]][answers.predictions[i]];
  }
  return matrix;
}

std::vector<Pair> worst_pairs(const Matrix& matrix, std::size_t most) {
  std::vector<Pair> pairs;
  const auto classes = static_cast<int64_t>(matrix.size());
  for (int64_t truth = 0; truth < classes; ++truth) {
    for (int64_t predicted = 0; predicted < classes; ++predicted) {
      const int64_t count = matrix[truth][predicted];
      if (truth != predicted && count > 0) pairs.push_back({truth, predicted, count});
    }
  }
  std::ranges::stable_sort(pairs, std::ranges::greater(), &Pair::count);
  if (pairs.size() > most) pairs.resize(most);
  return pairs;
}

Json examples_of(const Pair& pair, const Sample& sample, const Answers& answers, std::size_t most) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < answers.predictions.size(); ++i) {
    const bool same = sample.images.labels[sample.range.begin + i] == pair.truth &&
                      answers.predictions[i] == pair.predicted;
    if (same) found.push_back(i);
  }
  std::ranges::stable_sort(found, std::ranges::greater(),
                           [&](std::size_t i) { return answers.confidence[i]; });
  if (found.size() > most) found.resize(most);
  Json examples = Json::array();
  for (const std::size_t i : found) {
    const int64_t index = sample.range.begin + static_cast<int64_t>(i);
    examples.push_back(
        {{"image", sample_picture(sample.images, index)}, {"confidence", answers.confidence[i]}});
  }
  return examples;
}

}  // namespace

Json confusions_document(const Sample& sample, const Answers& answers,
                         const ConfusionOptions& options) {
  const Matrix matrix = matrix_of(sample, answers);
  Json classes = Json::array();
  for (int64_t label = 0; label < sample.images.classes; ++label) {
    classes.push_back(class_name(sample.images, label));
  }
  Json confusions = Json::array();
  for (const Pair& pair : worst_pairs(matrix, options.pairs)) {
    const std::vector<int64_t>& row = matrix[pair.truth];
    const int64_t all = std::accumulate(row.begin(), row.end(), int64_t{0});
    confusions.push_back({{"truth", classes[pair.truth]},
                          {"predicted", classes[pair.predicted]},
                          {"count", pair.count},
                          {"share", static_cast<double>(pair.count) / static_cast<double>(all)},
                          {"examples", examples_of(pair, sample, answers, options.examples)}});
  }
  return {{"classes", classes}, {"matrix", matrix}, {"confusions", confusions}};
}

}  // namespace bntt
