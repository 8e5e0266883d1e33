#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/threads.h"
#include "bntt/zoo.h"
#include "corner_data.h"
#include "fixtures.h"
#include "train/epoch_warnings.h"
#include "train/metrics.h"
#include "train/run_trainer.h"

namespace bntt {
namespace {

using testing::corner_data;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::small_config;
using testing::TemporaryDirectory;

class EpochWarnings : public ::testing::Test {
 protected:
  std::vector<std::string> of(double loss, const std::vector<double>& densities) const {
    return epoch_warnings(train_, network_, {.loss = 10.0 * loss, .images = 10}, densities);
  }

  TrainConfig train_;
  Network network_{vgg5({.classes = 10, .steps = 2, .width = 0.05}), 1};
};

TEST_F(EpochWarnings, AHealthyEpochHasNone) {
  EXPECT_THAT(of(2.3, {0.1, 0.2, 0.01, 0.3}), IsEmpty());
  EXPECT_THAT(of(23.0, {0.1, 0.0, 0.0, 0.001}), IsEmpty()) << "spikes reach the readout";
  EXPECT_THAT(of(2.3, {}), IsEmpty()) << "no stage spikes";
}

TEST_F(EpochWarnings, SilenceNamesTheStage) {
  EXPECT_THAT(of(2.3, {0.0, 0.0, 0.0, 0.0}), ElementsAre(HasSubstr("no neuron fires")));
  EXPECT_THAT(of(2.3, {0.1, 0.1, 0.0, 0.0}),
              ElementsAre(HasSubstr("no neuron of fc1 fires, so no spike reaches the readout")));
}

TEST_F(EpochWarnings, ALossFarAboveGuessing) {
  train_.learning_rate = 100.0;
  EXPECT_THAT(of(23.1, {0.1, 0.1, 0.1, 0.1}),
              ElementsAre("the training loss is 23.1, but guessing would give 2.30: try a smaller "
                          "train.learning_rate than 100"));
  EXPECT_THAT(of(3351.4, {0.1, 0.0}), ElementsAre(HasSubstr("fc1"), HasSubstr("3351,")));
  train_.loss = "sse";
  EXPECT_THAT(of(23.1, {0.1}), IsEmpty()) << "its scale is another";
}

class WarnedRuns : public ::testing::Test {
 protected:
  WarnedRuns() { set_threads(1); }

  /// The warnings of every epoch; metrics.jsonl must record the same.
  std::vector<std::string> warnings(const std::string& name) const {
    const RunPaths paths{directory_.path() / name};
    std::vector<std::string> told;
    {
      RunTrainer trainer(config_, data_, paths, false);
      TrainHooks hooks;
      hooks.epoch = [&](const EpochReport& report) {
        told.insert(told.end(), report.warnings.begin(), report.warnings.end());
      };
      trainer.run(hooks);
    }
    std::vector<std::string> logged;
    for (const Json& line : read_metrics(paths, "epoch")) {
      if (!line.contains("warnings")) continue;
      for (const Json& warning : line.at("warnings")) logged.push_back(warning);
    }
    EXPECT_EQ(logged, told);
    return told;
  }

  TemporaryDirectory directory_;
  DatasetSplits data_ = corner_data();
  RunConfig config_ = small_config();
};

TEST_F(WarnedRuns, NeuronsThatNeverFire) {
  config_.model.width = 0.2;
  EXPECT_THAT(warnings("fine"), IsEmpty());
  config_.train.epochs = 2;
  config_.model.norm = "none";
  config_.model.threshold = 1000.0F;
  const auto silent = ElementsAre(HasSubstr("no neuron fires"), HasSubstr("no neuron fires"));
  EXPECT_THAT(warnings("silent"), silent);
  config_.data.validation = 0.0;
  EXPECT_THAT(warnings("unvalidated"), silent);
}

TEST_F(WarnedRuns, ALossThatHasRisenAbsurdly) {
  config_.train.epochs = 1;
  config_.model.norm = "none";
  config_.train.learning_rate = 3000.0;
  EXPECT_THAT(warnings("risen"), Contains(HasSubstr("smaller train.learning_rate than 3000")));
}

}  // namespace
}  // namespace bntt
