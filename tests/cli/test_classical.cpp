#include <csignal>

#include "base/json.h"
#include "classical/config.h"
#include "sample_files.h"
#include "tiny_runs.h"

// bntt classical from files to a run, and what other commands say of such a run.
namespace bntt {
namespace {

using ::testing::AllOf;
using testing::append_nmnist;
using testing::Bytes;
using testing::bytes_of;
using ::testing::HasSubstr;
using testing::Process;
using testing::ProcessEnd;
using testing::run_bntt;

class Classical : public testing::TinyRuns {
 protected:
  Classical() { write_recordings(); }

  std::vector<std::string> arguments(const std::string& method, const std::string& run,
                                     const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all = {"classical",    method,  "--data",
                                    path("events"), "--out", path(run)};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  static std::string refused(const std::vector<std::string>& arguments) {
    const ProcessEnd end = run_bntt(arguments);
    EXPECT_EQ(end.exit_code, 2) << end.out << end.error;
    EXPECT_EQ(std::count(end.error.begin(), end.error.end(), '\n'), 1) << end.error;
    return end.error;
  }
};

TEST_F(Classical, EveryMethodMakesARun) {
  for (const std::string method : {"hats", "hots", "hfirst", "gabor-snn"}) {
    EXPECT_THAT(succeed(arguments(method, method)),
                AllOf(HasSubstr("of 20 recordings correct"), HasSubstr("27 training"),
                      HasSubstr("run: " + path(method))));
    EXPECT_THAT(files_of(method), ::testing::UnorderedElementsAre("classical.toml", "result.json",
                                                                  "times.json", "predictions.csv"));
    const Json result = parse_json(bytes_of(root() / method / "result.json"), "result");
    EXPECT_EQ(result.at("method"), method);
    EXPECT_EQ(result.at("data").at("test"), 20);
    EXPECT_THAT(bytes_of(root() / method / "classical.toml"), HasSubstr("[" + method + "]"));
    const std::string predictions = bytes_of(root() / method / "predictions.csv");
    EXPECT_EQ(std::count(predictions.begin(), predictions.end(), '\n'), 21);
    EXPECT_THAT(succeed({"inspect", path(method)}),
                AllOf(HasSubstr("published"), HasSubstr("nmnist")));
    const Json inspected = parse_json(succeed({"inspect", path(method), "--json"}), "inspect");
    EXPECT_EQ(inspected.at("result"), result);
  }
  EXPECT_THAT(succeed({"inspect", path("hfirst")}), HasSubstr("31.0 %"));
}

TEST_F(Classical, EveryPresetRunsAndMayBeChanged) {
  const std::vector<std::string> presets = classical_preset_names();
  ASSERT_GE(presets.size(), 10U);
  for (const std::string& preset : presets) {
    succeed({"classical", "--preset", preset, "--data", path("events"), "--limit-train", "6",
             "--limit-test", "3", "--out", path(preset)});
    const ClassicalConfig made =
        classical_config_from_toml(bytes_of(root() / preset / "classical.toml"), preset);
    ClassicalConfig expected = classical_preset(preset, "nmnist");
    expected.data = made.data;
    EXPECT_EQ(to_toml(made), to_toml(expected)) << preset;
  }
  succeed({"classical", "hats", "--preset", "hats-ottati", "--data", path("events"), "--set",
           "hats.self=excluded", "--limit-train", "6", "--limit-test", "3", "--out", path("mine")});
  const HatsOptions mine =
      classical_config_from_toml(bytes_of(root() / "mine" / "classical.toml"), "mine").hats;
  EXPECT_EQ(mine.self, HatsSelf::excluded);
  EXPECT_EQ(mine.divisor, HatsDivisor::polarity);
  EXPECT_EQ(mine.cell, 5) << "as for N-MNIST";
  EXPECT_THAT(refused(arguments("hots", "new", {"--preset", "hats-ottati"})),
              HasSubstr("the method is hots, but the preset hats-ottati is one of hats"));
  EXPECT_THAT(
      refused({"classical", "--preset", "hat-idv", "--data", path("events"), "--out", path("new")}),
      HasSubstr("did you mean 'hats-idv'?"));
  EXPECT_THAT(refused({"classical", "--data", path("events"), "--out", path("new")}),
              HasSubstr("names no method, expected one of hats"));
}

TEST_F(Classical, SettingsAreKeptAndRepeatTheRun) {
  succeed(arguments(
      "hats", "a",
      {"--set", "hats.self=counted", "--limit-train", "25", "--seed", "3", "--threads", "1"}));
  const std::string settings = bytes_of(root() / "a" / "classical.toml");
  EXPECT_THAT(settings, AllOf(HasSubstr("self = \"counted\""), HasSubstr("limit_train = 25"),
                              HasSubstr("seed = 3")));
  succeed(arguments("hats", "b",
                    {"--set", "hats.self=counted", "--set", "data.limit_train=25", "--set",
                     "seed=3", "--threads", "2"}));
  EXPECT_EQ(bytes_of(root() / "a" / "result.json"), bytes_of(root() / "b" / "result.json"));
  EXPECT_EQ(settings, bytes_of(root() / "b" / "classical.toml"));
  const Json printed = parse_json(succeed(arguments("hats", "c", {"--json"})), "json");
  EXPECT_EQ(printed.at("settings").at("hats").at("cell"), 5);
}

TEST_F(Classical, RefusalsAreOneSentence) {
  EXPECT_THAT(refused(arguments("hat", "new")), HasSubstr("did you mean 'hats'"));
  EXPECT_THAT(refused(arguments("hats", "new", {"--dataset", "cifar10"})),
              HasSubstr("cifar10 holds images, expected a data set of event recordings"));
  EXPECT_THAT(refused({"classical", "hats", "--data", data().string(), "--out", path("new")}),
              HasSubstr("is not recognised"));
  EXPECT_THAT(refused(arguments("hats", "new", {"--dataset", "dvs-cifar10"})),
              HasSubstr("airplane"));
  EXPECT_THAT(refused(arguments("hats", "new", {"--set", "hots.filter=true"})), HasSubstr("hots"));
  EXPECT_THAT(refused(arguments("hfirst", "new", {"--seed", "2"})), HasSubstr("seed"));
  std::filesystem::resize_file(root() / "events/Test/4/1.bin", 7);
  EXPECT_THAT(refused(arguments("hats", "new")), HasSubstr("Test/4/1.bin"));
  EXPECT_FALSE(std::filesystem::exists(root() / "new"));
}

TEST_F(Classical, RunsAreNotMixedUp) {
  succeed(arguments("hfirst", "run"));
  EXPECT_THAT(refused(arguments("hats", "run")),
              HasSubstr("already holds a run of a classical method"));
  train("snn", {"--epochs", "1"});
  EXPECT_THAT(refused(arguments("hats", "snn")), HasSubstr("already holds a run"));
  EXPECT_THAT(refused(train_arguments("run")),
              HasSubstr("already holds a run of a classical method"));
  for (const char* command : {"eval", "exit", "energy", "activity"}) {
    EXPECT_THAT(refused({command, path("run")}), HasSubstr("classical method")) << command;
  }
  EXPECT_THAT(refused({"plot", path("run"), "--figure", "gamma", "--out", path("a.svg")}),
              HasSubstr("classical method"));
  EXPECT_THAT(refused({"report", path("run"), "--follow"}), HasSubstr("run of a classical method"));
  write_text("run/result.json", "{\"method\": 3}");
  EXPECT_THAT(refused({"report", path("run")}), HasSubstr("result.json"));
}

TEST_F(Classical, StopsCleanly) {
  for (int digit = 0; digit < 10; ++digit) {
    Bytes bytes;
    for (uint32_t k = 0; k < 60'000; ++k) {
      append_nmnist(static_cast<int>(k * 7 % 34), static_cast<int>(k * 11 / 5 % 34), k % 2 == 0,
                    10 * k, bytes);
    }
    for (const char* split : {"Train", "Test"}) {
      const std::filesystem::path folder = root() / "long" / split / std::to_string(digit);
      std::filesystem::create_directories(folder);
      std::ofstream(folder / "0.bin", std::ios::binary)
          .write(reinterpret_cast<const char*>(bytes.data()),
                 static_cast<std::streamsize>(bytes.size()));
    }
  }
  Process process({"classical", "hots", "--data", path("long"), "--out", path("stopped")});
  ASSERT_TRUE(testing::wait_until(
      process, [&] { return std::filesystem::exists(root() / "stopped" / "run.lock"); }));
  process.send(SIGINT);
  const ProcessEnd end = process.wait();
  EXPECT_EQ(end.exit_code, 130) << end.out << end.error;
  EXPECT_THAT(end.error, HasSubstr("nothing was written"));
  EXPECT_FALSE(std::filesystem::exists(root() / "stopped"));
}

}  // namespace
}  // namespace bntt
