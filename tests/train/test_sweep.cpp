#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/json.h"
#include "fixtures.h"
#include "train/sweep.h"

namespace bntt {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::refusal;
using testing::TemporaryDirectory;

TEST(Sweep, AnAxisIsAKeyWithItsValues) {
  const SweepAxis axis = parse_sweep_axis("train.learning_rate = 0.1, 0.2,0.3");
  EXPECT_EQ(axis.key, "train.learning_rate");
  EXPECT_THAT(axis.values, ElementsAre("0.1", "0.2", "0.3"));
  EXPECT_THAT(parse_sweep_axis("train.drops=[0.5, 0.7],[],[0.9]").values,
              ElementsAre("[0.5, 0.7]", "[]", "[0.9]"));
  EXPECT_THAT(parse_sweep_axis("data.dir='a,b',c").values, ElementsAre("'a,b'", "c"));
}

TEST(Sweep, WrongAxesAreRefused) {
  for (const char* wrong : {"", "train.epochs", "=1,2", "train.epochs=", "train.epochs=1,,2"}) {
    EXPECT_THAT(refusal([&] { parse_sweep_axis(wrong); }), HasSubstr("--over: ")) << wrong;
  }
  EXPECT_EQ(refusal([] { parse_sweep_axis("train.seed=1,2,1"); }),
            "--over: train.seed has the value 1 more than once");
  EXPECT_EQ(refusal([] {
              sweep_points({}, {{"train.seed", {"1"}}, {"train.seed", {"2"}}});
            }),
            "--over: train.seed is given 2 times");
  EXPECT_THAT(refusal([] {
                sweep_points({}, {{"train.lr", {"1"}}});
              }),
              HasSubstr("--over: unknown key 'train.lr', did you mean 'train.learning_rate'"));
  EXPECT_THAT(refusal([] {
                sweep_points({}, {{"model.width", {"0.5", "-1"}}});
              }),
              HasSubstr("model.width is -1"));
  EXPECT_THAT(refusal([] {
                sweep_points({}, {{"data.dir", {"a/b", "a_b"}}});
              }),
              HasSubstr("share the directory dir=a_b"));
}

TEST(Sweep, PointsAreAllCombinations) {
  RunConfig base;
  base.train.epochs = 3;
  const auto points =
      sweep_points(base, {{"train.learning_rate", {"0.1", "0.2"}}, {"model.norm", {"bntt", "bn"}}});
  std::vector<std::string> names;
  for (const SweepPoint& point : points) {
    names.push_back(point.name);
    EXPECT_EQ(point.config.train.epochs, 3);
  }
  EXPECT_THAT(names, ElementsAre("learning_rate=0.1_norm=bntt", "learning_rate=0.1_norm=bn",
                                 "learning_rate=0.2_norm=bntt", "learning_rate=0.2_norm=bn"));
  EXPECT_EQ(points[3].config.train.learning_rate, 0.2);
  EXPECT_EQ(points[3].config.model.norm, "bn");
  EXPECT_EQ(points[0].config.model.norm, "bntt");
}

TEST(Sweep, KeysOfTheSameNameKeepTheirSections) {
  const auto points = sweep_points({}, {{"model.name", {"vgg5"}}, {"data.name", {"mnist"}}});
  EXPECT_EQ(points.front().name, "model.name=vgg5_data.name=mnist");
}

TEST(Sweep, ARunIsSummarisedByItsMetrics) {
  const TemporaryDirectory directory;
  const RunPaths paths{directory.path()};
  EXPECT_EQ(summarise_run(paths).epochs, 0);
  EXPECT_FALSE(is_finished(summarise_run(paths), {}));
  const auto epoch = [](int number, double accuracy, bool best) {
    return Json{{"kind", "epoch"},
                {"epoch", number},
                {"validation_accuracy", accuracy},
                {"spikes_per_image", 10.0 * number},
                {"best", best}}
               .dump() +
           "\n";
  };
  std::ofstream(paths.metrics()) << epoch(1, 50.0, true) << epoch(2, 70.0, true)
                                 << epoch(3, 60.0, false);
  RunConfig config;
  config.train.epochs = 3;
  const RunSummary untested = summarise_run(paths);
  EXPECT_EQ(untested.epochs, 3);
  EXPECT_EQ(untested.validation_accuracy, 70.0);
  EXPECT_EQ(untested.spikes_per_image, 20.0);
  EXPECT_FALSE(is_finished(untested, config));
  std::ofstream(paths.metrics(), std::ios::app)
      << R"({"kind":"test","accuracy":65.0,"spikes_per_image":9.0})"
      << "\n";
  const RunSummary tested = summarise_run(paths);
  EXPECT_EQ(tested.test_accuracy, 65.0);
  EXPECT_EQ(tested.spikes_per_image, 20.0);
  EXPECT_TRUE(is_finished(tested, config));
  config.train.epochs = 4;
  EXPECT_FALSE(is_finished(tested, config));
}

TEST(Sweep, TheTableKeepsTheSecondsOfEveryRun) {
  const std::vector<SweepAxis> axes = {{"train.drops", {"[0.5,0.7]", "[]"}}};
  const std::vector<SweepRow> rows = {
      {.run = "drops=0.5_0.7",
       .values = {"[0.5,0.7]"},
       .summary = {2, 71.5, 70.25, 1234.0},
       .seconds = 12.25,
       .state = "finished"},
      {.run = "drops=", .values = {"[]"}, .summary = {}, .seconds = 0.0, .state = "waiting"}};
  const std::string csv = sweep_csv(axes, rows);
  EXPECT_EQ(csv,
            "run,seconds,state,train.drops,epochs,validation_accuracy,test_accuracy,"
            "spikes_per_image\n"
            "drops=0.5_0.7,12.2,finished,\"[0.5,0.7]\",2,71.5,70.25,1234\n"
            "drops=,0.0,waiting,[],0,,,\n");
  EXPECT_EQ(seconds_in_csv(csv, "drops=0.5_0.7"), 12.2);
  EXPECT_EQ(seconds_in_csv(csv, "drops=0.5"), 0.0);
  EXPECT_EQ(seconds_in_csv("", "drops="), 0.0);
  EXPECT_EQ(seconds_in_csv("\ndrops=,-3", "drops="), 0.0);
  EXPECT_EQ(seconds_in_csv("\ndrops=,none", "drops="), 0.0);
}

}  // namespace
}  // namespace bntt
