#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/threads.h"
#include "corner_data.h"
#include "fixtures.h"
#include "model/learned_windows.h"
#include "small_networks.h"
#include "train/metrics.h"
#include "train/run_trainer.h"
#include "train/window_switch.h"

namespace bntt {
namespace {

using testing::bytes_of;
using testing::corner_data;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::refusal;
using testing::small_config;
using testing::small_vgg5;
using testing::TemporaryDirectory;

TrainConfig train_with(const std::function<void(TrainConfig&)>& change) {
  TrainConfig train;
  train.epochs = 10;
  change(train);
  return train;
}

/// Row `step` of a stage's γ.
void set_row(Network& network, const std::string& name, int64_t step, float value) {
  for (Parameter& parameter : network.parameters()) {
    if (parameter.name != name) continue;
    const int64_t channels = parameter.pytorch_shape.back();
    std::fill_n(parameter.value.data() + step * channels, channels, value);
  }
}

TEST(WindowSwitch, HappensAtTheEndsOfTheEpochsBetweenTheTwoFractions) {
  TrainConfig train;
  train.epochs = 10;
  EXPECT_THAT(switching_epochs(train), ElementsAre(4, 5));
  train.epochs = 3;
  EXPECT_THAT(switching_epochs(train), ElementsAre(1));
  train.epochs = 1;
  EXPECT_THAT(switching_epochs(train), IsEmpty());
  train.epochs = 20;
  train.window_from = 0.35;
  train.window_until = 0.4;
  EXPECT_THAT(switching_epochs(train), ElementsAre(7, 8));
}

TEST(WindowSwitch, TakesRowsBelowTheThresholdAndWhatTheOptimiserRemembersOfThem) {
  const TrainConfig train = train_with([](TrainConfig& t) { t.window_threshold = 0.1; });
  Network network = small_vgg5();
  set_row(network, "conv1.norm.weight", 2, -0.09F);  // its mean |γ| counts
  set_row(network, "conv1.norm.weight", 0, -0.5F);
  set_row(network, "fc1.norm.weight", 0, 0.01F);
  const auto optimizer = make_optimizer(network, {});
  for (Buffer<float>& values : optimizer->memories()[0].values) values.fill(1.0F);
  EXPECT_FALSE(switch_steps_off(train, 3, false, network, *optimizer));
  EXPECT_TRUE(network.windows().empty());
  const auto result = switch_steps_off(train, 4, false, network, *optimizer);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->switched, 2);
  EXPECT_EQ(result->threshold, 0.1);
  EXPECT_EQ(result->work, work_left(network, network.windows(), false));
  EXPECT_EQ(windows_json(network).dump(), R"({"conv1":"##.","fc1":".##"})");
  for (std::size_t p = 0; p < network.parameters().size(); ++p) {
    const Parameter& parameter = network.parameters()[p];
    const int64_t channels = parameter.pytorch_shape.back();
    for (int64_t k = 0; k < parameter.value.size(); ++k) {
      const bool off = (parameter.name == "conv1.norm.weight" && k / channels == 2) ||
                       (parameter.name == "fc1.norm.weight" && k / channels == 0);
      EXPECT_EQ(optimizer->memories()[0].values[p][k], off ? 0.0F : 1.0F);
      if (off) {
        EXPECT_EQ(parameter.value[k], 0.0F);
      }
    }
  }
  // Once off, always off.
  const auto later = switch_steps_off(train, 5, false, network, *optimizer);
  EXPECT_EQ(later->switched, 0);
  EXPECT_EQ(windows_json(network).dump(), R"({"conv1":"##.","fc1":".##"})");
}

TEST(WindowSwitch, LeavesEveryLayerItsStrongestStep) {
  const TrainConfig train = train_with([](TrainConfig& t) { t.window_threshold = 100.0; });
  Network network = small_vgg5();
  set_row(network, "conv1.norm.weight", 1, -1.5F);
  const auto optimizer = make_optimizer(network, {});
  switch_steps_off(train, 4, false, network, *optimizer);
  EXPECT_EQ(windows_json(network).at("conv1"), ".#.");
  EXPECT_EQ(windows_json(network).at("fc1"), "#..");
}

TEST(WindowSwitch, OfABudgetLeavesAtLeastItAndLessThanOneStepMore) {
  for (const double goal : {0.9, 0.6, 0.45}) {
    const TrainConfig train = train_with([&](TrainConfig& t) { t.window_work = goal; });
    Network network = small_vgg5();
    float next = 0.0F;
    for (std::size_t i = 0; i < network.stages().size(); ++i) {
      for (int64_t step = 0; step < 3; ++step) {
        next += 0.37F;
        set_row(network, network.stages()[i].name + ".norm.weight", step, next - std::floor(next));
      }
    }
    double whole = 0.0;
    double largest = 0.0;
    for (const StagePlan& plan : network.stages()) {
      whole += static_cast<double>(plan.macs * plan.active_steps);
      largest = std::max(largest, static_cast<double>(plan.macs));
    }
    const auto optimizer = make_optimizer(network, {});
    const auto first = switch_steps_off(train, 4, false, network, *optimizer);
    EXPECT_GE(first->work, (1.0 + goal) / 2.0);
    EXPECT_LT(first->work, (1.0 + goal) / 2.0 + largest / whole);
    const auto last = switch_steps_off(train, 5, false, network, *optimizer);
    EXPECT_GE(last->work, goal);
    EXPECT_LT(last->work, goal + largest / whole);
    EXPECT_LE(last->work, first->work);
  }
}

TEST(WindowSwitch, RefusesSettingsThatCannotWork) {
  const auto refused = [](const std::function<void(TrainConfig&)>& change,
                          const NormSpec& norm = {}) {
    const Network network = small_vgg5({.norm = norm});
    return refusal([&] { expect_window_settings(train_with(change), network, false); });
  };
  // Without windows their range does not matter.
  expect_window_settings(train_with([](TrainConfig& t) { t.window_from = 0.9; }), small_vgg5(),
                         false);
  expect_window_settings(train_with([](TrainConfig& t) { t.window_threshold = 0.1; }), small_vgg5(),
                         false);
  EXPECT_EQ(refused([](TrainConfig& t) {
              t.window_threshold = 0.1;
              t.window_work = 0.5;
            }),
            "train.window_threshold is 0.1 and train.window_work is 0.5, expected one of them");
  EXPECT_EQ(refused([](TrainConfig& t) {
              t.window_threshold = 0.1;
              t.window_from = 0.5;
            }),
            "train.window_from is 0.5, expected less than train.window_until, which is 0.5");
  EXPECT_EQ(refused([](TrainConfig& t) {
              t.window_threshold = 0.1;
              t.epochs = 1;
            }),
            "train.window_from is 0.33 and train.window_until is 0.5, but none of 1 epochs ends "
            "between them");
  EXPECT_EQ(refused([](TrainConfig& t) { t.window_threshold = 0.1; }, {.kind = "bn"}),
            "train.window_threshold: the norm of conv1 is 'bn', expected one with a gain for every "
            "step and no shift, as bntt");
  EXPECT_EQ(refused([](TrainConfig& t) { t.window_work = 0.5; }, {.shift = true}),
            "train.window_work: the norm of conv1 is 'bntt' with a shift, expected one with a gain "
            "for every step and no shift, as bntt");
  EXPECT_THAT(refused([](TrainConfig& t) { t.window_work = 0.01; }),
              HasSubstr("train.window_work is 0.01, expected at least 0.3"));
}

class WindowRuns : public ::testing::Test {
 protected:
  WindowRuns() {
    set_threads(1);
    config_.train.window_work = 0.6;
    config_.train.window_until = 0.7;  // after epochs 1 and 2 of 3
  }

  RunPaths paths(const std::string& name) const { return {directory_.path() / name}; }

  bool train(const std::string& name, int64_t stop_at, bool resume) {
    RunTrainer trainer(config_, data_, paths(name), resume);
    int64_t step = trainer.position().step;
    TrainHooks hooks;
    hooks.step = [&](const StepReport& report) { step = report.step; };
    hooks.stop = [&] { return step >= stop_at; };
    if (trainer.run(hooks) == TrainEnd::stopped) return false;
    trainer.test({});
    return true;
  }

  void expect_same_runs(const std::string& a, const std::string& b) const {
    EXPECT_EQ(bytes_of(paths(a).checkpoint()), bytes_of(paths(b).checkpoint()));
    EXPECT_EQ(bytes_of(paths(a).best()), bytes_of(paths(b).best()));
    EXPECT_EQ(bytes_of(paths(a).metrics()), bytes_of(paths(b).metrics()));
    EXPECT_EQ(bytes_of(paths(a).settings()), bytes_of(paths(b).settings()));
  }

  static constexpr int64_t kAllSteps = 9;
  TemporaryDirectory directory_;
  DatasetSplits data_ = corner_data();
  RunConfig config_ = small_config();
};

TEST_F(WindowRuns, AreResumedBitForBitAtAnyStep) {
  ASSERT_TRUE(train("whole", kAllSteps, false));
  const Network network = load_run_network(paths("whole"), RunWeights::last);
  ASSERT_FALSE(network.windows().empty());
  const double work = work_left(network, network.windows(), false);
  EXPECT_GE(work, 0.6);
  EXPECT_LT(work, 0.85);
  EXPECT_FALSE(load_run_network(paths("whole"), RunWeights::best).windows().empty())
      << "the best network has the windows too";
  for (int64_t stop = 1; stop < kAllSteps; ++stop) {
    SCOPED_TRACE(stop);
    const std::string name = "stopped-" + std::to_string(stop);
    ASSERT_FALSE(train(name, stop, false));
    ASSERT_TRUE(train(name, kAllSteps, true));
    expect_same_runs(name, "whole");
  }
}

TEST_F(WindowRuns, GiveTheSameBytesWhateverTheThreads) {
  ASSERT_TRUE(train("one", kAllSteps, false));
  set_threads(2);
  ASSERT_TRUE(train("two", kAllSteps, false));
  set_threads(1);
  expect_same_runs("one", "two");
}

TEST_F(WindowRuns, TellWhatTheySwitchedOff) {
  ASSERT_TRUE(train("run", kAllSteps, false));
  const std::vector<Json> epochs = read_metrics(paths("run"), "epoch");
  ASSERT_EQ(epochs.size(), 3U);
  EXPECT_TRUE(epochs[0].contains("windows"));
  EXPECT_GE(epochs[1].at("windows").at("work").get<double>(), 0.6);
  EXPECT_GT(epochs[1].at("windows").at("threshold").get<double>(), 0.0);
  EXPECT_FALSE(epochs[2].contains("windows"));
}

TEST_F(WindowRuns, AreKeptByARunThatStartsFromThem) {
  ASSERT_TRUE(train("first", kAllSteps, false));
  const Network source = load_run_network(paths("first"));
  config_.train.window_work.reset();
  config_.train.from = paths("first").directory.string();
  ASSERT_TRUE(train("second", kAllSteps, false));
  EXPECT_EQ(load_run_network(paths("second"), RunWeights::last).windows(), source.windows());
}

TEST_F(WindowRuns, RefusedBeforeAnythingIsWritten) {
  config_.model.norm = "bn";
  EXPECT_THAT(refusal([&] { train("run", kAllSteps, false); }), HasSubstr("train.window_work"));
  EXPECT_FALSE(std::filesystem::exists(paths("run").directory));
}

}  // namespace
}  // namespace bntt
