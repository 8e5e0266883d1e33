#include <algorithm>
#include <csignal>

#include "tiny_runs.h"

namespace bntt {
namespace {

using testing::bytes_of;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Process;
using testing::ProcessEnd;
using testing::run_bntt;
using testing::TinyRuns;
using testing::wait_until;

class Sweeps : public TinyRuns {
 protected:
  std::vector<std::string> arguments(const std::string& out,
                                     const std::vector<std::string>& more) const {
    std::vector<std::string> result = {"sweep",         "--config", path("tiny.toml"), "--data",
                                       data().string(), "--out",    path(out)};
    result.insert(result.end(), more.begin(), more.end());
    return result;
  }
  static std::string line_with(const std::string& text, const std::string& part) {
    const auto at = text.find(part);
    if (at == std::string::npos) return "";
    const auto begin = text.rfind('\n', at) + 1;
    return text.substr(begin, text.find('\n', at) - begin);
  }
};

TEST_F(Sweeps, TrainTheGridAndTellWhatCompares) {
  const std::vector<std::string> grid = {
      "--over", "train.learning_rate=0.1,0.3", "--over", "train.seed=1,2", "--epochs", "1"};
  const std::string told = succeed(arguments("grid", grid));
  EXPECT_THAT(told, HasSubstr("train.learning_rate  train.seed"));
  EXPECT_THAT(line_with(told, "compare: "),
              ::testing::MatchesRegex("compare: bntt report .*/learning_rate=0.1_seed=1 .*"
                                      "/learning_rate=0.3_seed=2 --out .*/report.html"));
  EXPECT_THAT(told, HasSubstr("best by validation: learning_rate="));
  const std::string csv = bytes_of(root() / "grid" / "sweep.csv");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 5);
  EXPECT_THAT(line_with(csv, "learning_rate=0.3_seed=1"), HasSubstr(",finished,0.3,1,1,"));
  // Each is a run like any other.
  train("alone", {"--epochs", "1", "--set", "train.learning_rate=0.3", "--set", "train.seed=2"});
  expect_same_runs("grid/learning_rate=0.3_seed=2", "alone");

  // Once more it has nothing to do, and says the same.
  const std::string again = succeed(arguments("grid", grid));
  EXPECT_EQ(line_with(again, "compare: "), line_with(told, "compare: "));
  EXPECT_EQ(bytes_of(root() / "grid" / "sweep.csv"), csv);
  expect_same_runs("grid/learning_rate=0.3_seed=2", "alone");
}

TEST_F(Sweeps, StoppedTheSameCommandGoesOn) {
  const std::vector<std::string> grid = {"--over", "train.learning_rate=0.1,0.3", "--epochs", "30"};
  succeed(arguments("whole", grid));
  Process process(arguments("stopped", grid));
  const std::filesystem::path first = root() / "stopped/learning_rate=0.1/checkpoint.safetensors";
  ASSERT_TRUE(wait_until(process, [&] { return std::filesystem::exists(first); }));
  process.send(SIGINT);
  const ProcessEnd end = process.wait();
  EXPECT_EQ(end.exit_code, 130) << end.error;
  EXPECT_THAT(end.out, HasSubstr("run the same command again to continue"));
  succeed(arguments("stopped", grid));
  for (const std::string run : {"learning_rate=0.1", "learning_rate=0.3"}) {
    expect_same_runs("stopped/" + run, "whole/" + run);
  }
}

TEST_F(Sweeps, ARunThatDivergesIsAResult) {
  const std::string told =
      succeed(arguments("grid", {"--over", "train.learning_rate=1e39,0.1", "--epochs", "1"}));
  EXPECT_THAT(line_with(told, "1e39"), HasSubstr("diverged"));
  EXPECT_THAT(line_with(bytes_of(root() / "grid/sweep.csv"), "learning_rate=1e39"),
              HasSubstr(",diverged,"));
  EXPECT_THAT(line_with(told, "compare: "), Not(HasSubstr("1e39")));
}

TEST_F(Sweeps, WrongGridsAreRefusedBeforeAnythingIsTrained) {
  const auto refused = [&](const std::vector<std::string>& more) {
    const ProcessEnd end = run_bntt(arguments("grid", more));
    EXPECT_EQ(end.exit_code, 2);
    EXPECT_EQ(std::count(end.error.begin(), end.error.end(), '\n'), 1) << end.error;
    EXPECT_FALSE(std::filesystem::exists(root() / "grid"));
    return end.error;
  };
  EXPECT_THAT(refused({}), HasSubstr("--over is required"));
  EXPECT_THAT(refused({"--over", "train.seed"}), HasSubstr("is not a setting with values"));
  EXPECT_THAT(refused({"--over", "train.batch=6,many"}), HasSubstr("train.batch is the string"));
  train("run", {"--epochs", "1"});
  const ProcessEnd in_run = run_bntt(arguments("run", {"--over", "train.seed=1,2"}));
  EXPECT_EQ(in_run.exit_code, 2);
  EXPECT_THAT(in_run.error, HasSubstr("is a run, expected a directory for the runs"));
}

TEST_F(Sweeps, OtherSettingsThanBeforeAreRefused) {
  succeed(arguments("grid", {"--over", "train.seed=1,2", "--epochs", "1"}));
  const ProcessEnd end =
      run_bntt(arguments("grid", {"--over", "train.seed=1,2,3", "--epochs", "2"}));
  EXPECT_EQ(end.exit_code, 2);
  EXPECT_THAT(end.error, HasSubstr("a resumed run keeps its settings, but train.epochs is 2"));
  EXPECT_FALSE(std::filesystem::exists(root() / "grid/seed=3"));
}

}  // namespace
}  // namespace bntt
