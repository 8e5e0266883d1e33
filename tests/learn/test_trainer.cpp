#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "halves.h"
#include "message.h"

namespace bntt {
namespace {

using testing::direct_input;
using testing::Halves;
using ::testing::HasSubstr;
using testing::message_of;
using testing::small_network;

std::vector<float> numbers_of(const Network& network) {
  std::vector<float> numbers;
  for (const Parameter& parameter : network.parameters()) {
    numbers.insert(numbers.end(), parameter.value.begin(), parameter.value.end());
  }
  for (const Statistic& statistic : network.statistics()) {
    numbers.insert(numbers.end(), statistic.value.begin(), statistic.value.end());
  }
  return numbers;
}

class PublicTrainer : public ::testing::Test {
 protected:
  /// Spikes drawn at random, so that a wrong draw shows.
  Trainer trainer() const {
    InputSpec input{.seed = 5};
    return {Network(small_network(), 1), input, options_};
  }
  std::vector<float> trained() {
    Trainer whole = trainer();
    EXPECT_EQ(whole.run(samples_), TrainEnd::finished);
    return numbers_of(whole.network());
  }

  TrainerOptions options_{
      .epochs = 3, .batch = 8, .learning_rate = {.schedule = "cosine", .learning_rate = 0.1}};
  Halves halves_{35};
  LabelledImages samples_{halves_.images(), halves_.labels};
};

TEST_F(PublicTrainer, LearnsAndSavesWhatLoadReads) {
  options_.epochs = 6;
  Trainer trainer(Network(small_network(), 1), direct_input(), options_);
  std::vector<double> losses;
  trainer.run(samples_, {.epoch = [&](const EpochProgress& epoch) {
                losses.push_back(epoch.sums.mean_loss());
              }});
  EXPECT_LT(losses.back(), losses.front());
  const Model model = trainer.model({.class_names = {"left", "right"}});
  EXPECT_EQ(model.card().training.epochs, 6);
  const Halves others(20, 100);
  const auto answers = model.predict(others.images());
  for (std::size_t i = 0; i < answers.size(); ++i) EXPECT_EQ(answers[i].label, others.labels[i]);

  const std::filesystem::path file = std::filesystem::temp_directory_path() /
                                     ("bntt-trainer-" + std::to_string(getpid()) + ".safetensors");
  model.save(file);
  const Model loaded = Model::load(file);
  std::filesystem::remove(file);
  EXPECT_EQ(loaded.class_name(1), "right");
  EXPECT_EQ(loaded.card(), model.card());
  const auto again = loaded.predict(others.images());
  for (std::size_t i = 0; i < answers.size(); ++i) EXPECT_EQ(again[i].logits, answers[i].logits);
}

TEST_F(PublicTrainer, GivesTheSameBitsForAnyNumberOfThreads) {
  const int before = threads();
  set_threads(1);
  const std::vector<float> one = trained();
  set_threads(3);
  EXPECT_EQ(trained(), one);
  set_threads(before);
}

TEST_F(PublicTrainer, ReportsEveryStepAndEpochInOrder) {
  std::vector<std::string> heard;
  Trainer trainer = this->trainer();
  trainer.run(samples_, {.step =
                             [&](const StepProgress& step) {
                               EXPECT_EQ(step.batches, 4);
                               EXPECT_EQ(step.steps, 12);
                               EXPECT_EQ(step.step, (step.epoch - 1) * 4 + step.batch);
                               EXPECT_EQ(step.sums.images, 8);
                               EXPECT_EQ(step.learning_rate,
                                         learning_rate_at(options_.learning_rate, step.step - 1,
                                                          {.epochs = 3, .steps_per_epoch = 4}));
                               heard.push_back("step");
                             },
                         .epoch =
                             [&](const EpochProgress& epoch) {
                               EXPECT_EQ(epoch.epochs, 3);
                               EXPECT_EQ(epoch.sums.images, 32);
                               heard.push_back("epoch " + std::to_string(epoch.epoch));
                             }});
  const std::vector<std::string> steps(4, "step");
  std::vector<std::string> expected;
  for (const char* epoch : {"epoch 1", "epoch 2", "epoch 3"}) {
    expected.insert(expected.end(), steps.begin(), steps.end());
    expected.emplace_back(epoch);
  }
  EXPECT_EQ(heard, expected);
  EXPECT_EQ(trainer.epochs_done(), 3);
  EXPECT_EQ(trainer.steps_done(), 12);
}

TEST_F(PublicTrainer, StopsAnywhereAndGoesOnToTheSameBits) {
  const std::vector<float> whole = trained();
  for (const int64_t stop_at : {1, 4, 6}) {
    Trainer trainer = this->trainer();
    const auto reached = [&] { return trainer.steps_done() == stop_at; };
    EXPECT_EQ(trainer.run(samples_, {.stop = reached}), TrainEnd::stopped);
    EXPECT_EQ(trainer.steps_done(), stop_at);
    EXPECT_EQ(trainer.run(samples_), TrainEnd::finished);
    EXPECT_EQ(numbers_of(trainer.network()), whole) << stop_at;
  }
}

TEST_F(PublicTrainer, GoesOnAfterAnExceptionOfACallback) {
  const std::vector<float> whole = trained();
  Trainer trainer = this->trainer();
  const TrainerCallbacks failing{.step = [](const StepProgress& step) {
    if (step.step == 4) throw std::runtime_error("full disk");
  }};
  EXPECT_THROW(trainer.run(samples_, failing), std::runtime_error);
  EXPECT_EQ(trainer.run(samples_), TrainEnd::finished);
  EXPECT_EQ(numbers_of(trainer.network()), whole);
}

TEST_F(PublicTrainer, TakesSamplesThatTheCallerMakes) {
  /// Hands over what LabelledImages would, and notes what was wanted.
  struct Own final : Samples {
    explicit Own(LabelledImages& images) : from(images) {}
    int64_t size() const override { return from.size(); }
    Batch batch(std::span<const int64_t> samples, uint32_t epoch) override {
      seen.resize(std::max<std::size_t>(seen.size(), epoch + 1));
      seen[epoch].insert(seen[epoch].end(), samples.begin(), samples.end());
      return from.batch(samples, epoch);
    }
    LabelledImages& from;
    std::vector<std::vector<int64_t>> seen;  // [epoch]
  };
  Own own(samples_);
  Trainer trainer = this->trainer();
  trainer.run(own);
  EXPECT_EQ(numbers_of(trainer.network()), trained());
  ASSERT_EQ(own.seen.size(), 3);
  EXPECT_NE(own.seen[0], own.seen[1]) << "another order in every epoch";
  for (std::vector<int64_t> seen : own.seen) {
    EXPECT_EQ(seen.size(), 32) << "the rest of three fills no batch";
    std::ranges::sort(seen);
    EXPECT_EQ(std::ranges::adjacent_find(seen), seen.end()) << "no sample twice";
  }
}

TEST_F(PublicTrainer, TakesEveryLossOptimiserAndSchedule) {
  for (const KindInfo& loss : loss_kinds()) {
    for (const KindInfo& optimizer : optimizer_kinds()) {
      options_.loss.kind = loss.name;
      options_.optimizer.kind = optimizer.name;
      options_.learning_rate.learning_rate = 0.01;
      EXPECT_NE(trained(), numbers_of(Network(small_network(), 1))) << loss.name << optimizer.name;
    }
  }
  for (const KindInfo& schedule : schedule_kinds()) {
    options_.learning_rate.schedule = schedule.name;
    EXPECT_EQ(trained(), trained()) << schedule.name;
  }
}

TEST_F(PublicTrainer, SaysWhenItDiverges) {
  options_.learning_rate = {.schedule = "constant", .learning_rate = 1e38};
  Trainer trainer = this->trainer();
  EXPECT_THROW(trainer.run(samples_), TrainingDiverged);
  EXPECT_THAT(message_of([&] { this->trainer().run(samples_); }),
              HasSubstr("; try a smaller learning rate than 1e+38"));
}

}  // namespace
}  // namespace bntt
