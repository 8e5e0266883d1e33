#include <gtest/gtest.h>

#include "base/random.h"
#include "classical/linear_classifier.h"
#include "fixtures.h"

namespace bntt {
namespace {

using testing::refusal;

/// Class k has a high feature k among noise.
LabelledFeatures noisy(int64_t count, int64_t classes, uint64_t seed) {
  LabelledFeatures data;
  for (int64_t i = 0; i < count; ++i) {
    const auto bits = draw4(seed, Purpose::shuffle, {.sample = static_cast<uint32_t>(i)});
    SparseFeatures row;
    for (int32_t k = 0; k < classes; ++k) {
      row.push_back({.index = k, .value = uniform01(bits[k % 4]) + (i % classes == k ? 1 : 0)});
    }
    data.rows.push_back(row);
    data.labels.push_back(i % classes);
  }
  return data;
}

class EverySolver : public ::testing::TestWithParam<std::pair<SvmSolver, int64_t>> {};

TEST_P(EverySolver, TellsClassesApart) {
  const auto [solver, classes] = GetParam();
  const LinearClassifier::Settings settings = {
      .features = classes, .classes = classes, .cost = 1.0, .options = {.solver = solver}};
  const LinearClassifier classifier(noisy(200, classes, 1), settings);
  const LabelledFeatures unseen = noisy(100, classes, 2);
  int64_t right = 0;
  for (std::size_t i = 0; i < unseen.rows.size(); ++i) {
    const std::vector<double> scores = classifier.scores(unseen.rows[i]);
    EXPECT_EQ(std::ssize(scores), classes);
    right += highest(scores) == unseen.labels[i] ? 1 : 0;
  }
  EXPECT_GT(right, 95);
}

INSTANTIATE_TEST_SUITE_P(LinearClassifier, EverySolver,
                         ::testing::Values(std::pair{SvmSolver::squared_hinge, 4},
                                           std::pair{SvmSolver::hinge, 3},
                                           std::pair{SvmSolver::crammer_singer, 4},
                                           std::pair{SvmSolver::squared_hinge, 2},
                                           std::pair{SvmSolver::crammer_singer, 2}));

TEST(LinearClassifier, SameSeedSameScores) {
  const LabelledFeatures data = noisy(200, 4, 1);
  const LinearClassifier::Settings settings = {.features = 4, .classes = 4, .seed = 7};
  EXPECT_EQ(LinearClassifier(data, settings).scores(data.rows[3]),
            LinearClassifier(data, settings).scores(data.rows[3]));
}

TEST(LinearClassifier, ClassWithoutRecordingsIsNeverAnswered) {
  LabelledFeatures data = noisy(60, 2, 1);
  for (int64_t& label : data.labels) label *= 2;
  const LinearClassifier classifier(data, {.features = 2, .classes = 4});
  EXPECT_EQ(highest(classifier.scores(data.rows[0])), 0);
  EXPECT_EQ(highest(classifier.scores(data.rows[1])), 2);
}

TEST(LinearClassifier, CostIsChosenByValidation) {
  const LabelledFeatures train = noisy(200, 4, 1);
  const LabelledFeatures validation = noisy(80, 4, 2);
  LinearClassifier::Settings settings = {.features = 4, .classes = 4};
  settings.options.costs = {1.0, 1e-9};
  int64_t fits = 0;
  const auto count = [&](int64_t, int64_t) { return ++fits == 5; };
  const ChosenClassifier chosen = choose_classifier(train, validation, settings, count);
  EXPECT_EQ(fits, 2);
  ASSERT_EQ(chosen.trials.size(), 2U);
  EXPECT_EQ(chosen.trials[0].cost, 1e-9);
  const int64_t better = chosen.trials[1].right > chosen.trials[0].right ? 1 : 0;
  EXPECT_EQ(chosen.cost, chosen.trials[better].cost);
  EXPECT_NE(refusal([&] {
              choose_classifier(train, {}, settings, count);
            }).find("no validation recordings"),
            std::string::npos);
}

}  // namespace
}  // namespace bntt
