#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/threads.h"
#include "corner_data.h"
#include "fixtures.h"
#include "small_networks.h"
#include "train/run_trainer.h"
#include "train/times.h"

namespace bntt {
namespace {

using testing::bytes_of;
using testing::corner_data;
using testing::small_config;
using testing::TemporaryDirectory;

/// Runs of 3 epochs of 3 steps on a clock that only moves when a step is done.
class Times : public ::testing::Test {
 protected:
  Times() { set_threads(1); }

  RunPaths paths(const std::string& name) const { return {directory_.path() / name}; }

  /// Each step takes `step_seconds`, on two cores; stops after `stop_at` steps of the run.
  void train(const std::string& name, double step_seconds, int64_t stop_at, bool resume = false) {
    double now = 0.0;
    RunTrainer trainer(small_config(), data_, paths(name), resume, {},
                       [&] { return TimeSpent{.seconds = now, .processor_seconds = 2.0 * now}; });
    int64_t step = trainer.position().step;
    TrainHooks hooks;
    hooks.step = [&](const StepReport& report) {
      step = report.step;
      now += step_seconds;
    };
    hooks.stop = [&] { return step >= stop_at; };
    trainer.run(hooks);
  }
  std::vector<double> seconds(const std::string& name) const {
    std::vector<double> result;
    for (const EpochTime& time : read_epoch_times(paths(name))) {
      EXPECT_EQ(time.epoch, std::ssize(result) + 1);
      EXPECT_DOUBLE_EQ(time.spent.processor_seconds, 2.0 * time.spent.seconds);
      result.push_back(time.spent.seconds);
    }
    return result;
  }

  TemporaryDirectory directory_;
  DatasetSplits data_ = corner_data();
};

TEST_F(Times, EveryEpochSaysHowLongTheRunTookToReachIt) {
  train("run", 0.5, 9);
  EXPECT_EQ(seconds("run"), (std::vector<double>{1.5, 3.0, 4.5}));
}

TEST_F(Times, OfAResumedRunGoOnWhereTheyStopped) {
  for (int64_t stop = 1; stop < 9; ++stop) {
    const std::string name = "stopped-" + std::to_string(stop);
    train(name, 0.5, stop);
    train(name, 0.5, 9, true);
    EXPECT_EQ(seconds(name), (std::vector<double>{1.5, 3.0, 4.5})) << "stopped after " << stop;
  }
}

// The checkpoint is that of step 4; what was logged later belongs to steps that are done again.
TEST_F(Times, AfterTheCheckpointAreCutOffWithTheMetrics) {
  train("run", 0.5, 4);
  std::ofstream(paths("run").times(), std::ios::app)
      << R"({"kind":"epoch","epoch":2,"step":6,"seconds":70.0,"processor_seconds":140.0})"
      << "\n"
      << R"({"kind":"epo)";
  train("run", 1.0, 9, true);
  EXPECT_EQ(seconds("run"), (std::vector<double>{1.5, 4.0, 7.0}));
}

TEST_F(Times, ChangeNoOtherFile) {
  train("quick", 0.5, 9);
  train("slow", 77.0, 9);
  EXPECT_NE(bytes_of(paths("quick").times()), bytes_of(paths("slow").times()));
  for (const auto file : {&RunPaths::checkpoint, &RunPaths::best, &RunPaths::metrics}) {
    EXPECT_EQ(bytes_of((paths("quick").*file)()), bytes_of((paths("slow").*file)()));
  }
}

// Runs of earlier versions have none, and a file may be damaged: the run goes on without them.
TEST_F(Times, WithAnUnknownBeginningAreNotLogged) {
  train("old", 0.5, 4);
  std::filesystem::remove(paths("old").times());
  train("damaged", 0.5, 4);
  std::ofstream(paths("damaged").times()) << "nothing\n";
  for (const std::string name : {"old", "damaged"}) {
    train(name, 0.5, 9, true);
    EXPECT_FALSE(std::filesystem::exists(paths(name).times())) << name;
  }
}

}  // namespace
}  // namespace bntt
