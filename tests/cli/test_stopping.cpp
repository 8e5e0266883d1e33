#include <fmt/format.h>

#include <csignal>

#include "base/json.h"
#include "tiny_runs.h"

namespace bntt {
namespace {

using testing::bytes_of;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::Process;
using testing::ProcessEnd;
using testing::run_bntt;
using testing::TinyRuns;
using testing::wait_until;

class Stopping : public TinyRuns {
 protected:
  std::filesystem::path checkpoint(const std::string& run) const {
    return root() / run / "checkpoint.safetensors";
  }
  /// Whether there is a checkpoint other than the one with these bytes.
  std::function<bool()> checkpoint_after(const std::string& run, const std::string& before) const {
    return [=, this] {
      const std::string now = bytes_of(checkpoint(run));
      return !now.empty() && now != before;
    };
  }
  void resume(const std::string& run) const { succeed({"train", "--out", path(run), "--resume"}); }
};

TEST_F(Stopping, KilledThreeTimesTheRunEndsInTheSameBytes) {
  // Steps are switched off after epochs 4 to 6.
  const std::vector<std::string> long_run = {"--epochs", "12", "--set", "train.window_work=0.6"};
  train("whole", long_run);
  int kills = 0;
  std::string seen;
  for (int attempt = 0; attempt < 3; ++attempt) {
    std::vector<std::string> arguments = train_arguments("killed", long_run);
    if (attempt > 0) arguments = {"train", "--out", path("killed"), "--resume"};
    Process process(arguments);
    if (!wait_until(process, checkpoint_after("killed", seen))) break;
    process.send(SIGKILL);
    kills += process.wait().signal == SIGKILL ? 1 : 0;
    seen = bytes_of(checkpoint("killed"));
  }
  EXPECT_GE(kills, 1);
  EXPECT_NE(bytes_of(checkpoint("killed")), bytes_of(checkpoint("whole")));
  resume("killed");
  expect_same_runs("killed", "whole");
}

TEST_F(Stopping, OneProcessOwnsTheRunAndTheOthersSayWho) {
  train("whole", {"--epochs", "30"});
  Process owner(train_arguments("run", {"--epochs", "30", "--set", "run.checkpoint_steps=1"}));
  ASSERT_TRUE(wait_until(owner, checkpoint_after("run", "")));
  owner.send(SIGSTOP);  // so that it still trains when the others come
  for (int other = 0; other < 3; ++other) {
    const ProcessEnd end = run_bntt({"train", "--resume", path("run")});
    EXPECT_EQ(end.exit_code, 2);
    EXPECT_EQ(end.error,
              fmt::format("bntt: {}: process {} is working on this run; wait for it to end, or "
                          "choose another directory\n",
                          path("run"), owner.id()));
  }
  succeed({"eval", path("run"), "--weights", "last"});
  owner.send(SIGCONT);
  EXPECT_EQ(owner.wait().exit_code, 0);
  EXPECT_THAT(files_of("run"), Each(Not(HasSubstr("lock"))));
  for (const char* file : {"metrics.jsonl", "best.safetensors"}) {
    EXPECT_EQ(bytes_of(root() / "run" / file), bytes_of(root() / "whole" / file)) << file;
  }
}

TEST_F(Stopping, AKilledOwnerLeavesTheRunFree) {
  Process owner(train_arguments("run", {"--epochs", "12"}));
  ASSERT_TRUE(wait_until(owner, checkpoint_after("run", "")));
  owner.send(SIGKILL);
  owner.wait();
  EXPECT_THAT(files_of("run"), ::testing::Contains("run.lock"));
  resume("run");
}

TEST_F(Stopping, ExtendedAndKilledTheRunEndsInTheSameBytes) {
  train("whole", {"--epochs", "2"});
  const std::string told = succeed({"train", "--resume", path("whole"), "--epochs", "12"});
  EXPECT_THAT(told, HasSubstr("12 epochs instead of 2: learning rate 0.3, 0.03 from epoch 7, step "
                              "37, 0.003 from epoch 9, step 52, 0.0003 from epoch 11, step 66"));
  EXPECT_THAT(bytes_of(root() / "whole" / "run.toml"), HasSubstr("epochs = 12"));
  train("killed", {"--epochs", "2"});
  const std::string seen = bytes_of(checkpoint("killed"));
  Process process({"train", "--out", path("killed"), "--resume", "--epochs", "12"});
  ASSERT_TRUE(wait_until(process, checkpoint_after("killed", seen)));
  process.send(SIGKILL);
  process.wait();
  resume("killed");
  expect_same_runs("killed", "whole");
  const ProcessEnd shorter = run_bntt({"train", "--resume", path("whole"), "--epochs", "5"});
  EXPECT_EQ(shorter.exit_code, 2);
  EXPECT_THAT(shorter.error, HasSubstr("train.epochs is 5, but the run is already in epoch 12"));
}

TEST_F(Stopping, StartedFromAnotherRunAndKilledTheRunEndsInTheSameBytes) {
  train("source");
  const std::vector<std::string> fine = {"--from", path("source"), "--epochs",
                                         "12",     "--set",        "model.steps=5"};
  const std::string told = train("whole", fine);
  EXPECT_THAT(told, HasSubstr("starts with the weights of " + path("source")));
  EXPECT_THAT(told, HasSubstr("repeat their last step"));
  Process process(train_arguments("killed", fine));
  ASSERT_TRUE(wait_until(process, checkpoint_after("killed", "")));
  process.send(SIGKILL);
  process.wait();
  resume("killed");
  expect_same_runs("killed", "whole");
  const ProcessEnd wrong =
      run_bntt(train_arguments("wrong", {"--from", path("source"), "--set", "model.width=0.1"}));
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.error, HasSubstr("source: tensor 'conv1.weight' is ["));
}

struct Baseline {
  std::string name;
  std::vector<std::string> settings;
};

class StoppedBaselines : public Stopping, public ::testing::WithParamInterface<Baseline> {};

// Killed while two threads train and resumed with one: the same bytes as one thread alone, as two
// alone.
TEST_P(StoppedBaselines, KilledTheRunEndsInTheSameBytes) {
  std::vector<std::string> settings = {"--epochs", "12"};
  for (const std::string& setting : GetParam().settings) {
    settings.insert(settings.end(), {"--set", setting});
  }
  const auto with_threads = [&](const char* threads) {
    std::vector<std::string> all = settings;
    all.insert(all.end(), {"--threads", threads});
    return all;
  };
  train("one", with_threads("1"));
  train("two", with_threads("2"));
  expect_same_runs("one", "two");
  Process process(train_arguments("killed", with_threads("2")));
  ASSERT_TRUE(wait_until(process, checkpoint_after("killed", "")));
  process.send(SIGKILL);
  EXPECT_EQ(process.wait().signal, SIGKILL);
  EXPECT_NE(bytes_of(checkpoint("killed")), bytes_of(checkpoint("one")));
  succeed({"train", "--out", path("killed"), "--resume", "--threads", "1"});
  expect_same_runs("killed", "one");
}

INSTANTIATE_TEST_SUITE_P(
    Methods, StoppedBaselines,
    ::testing::Values(Baseline{"ann",
                               {"model.neuron=relu", "model.steps=1", "model.norm=none",
                                "encoder.kind=direct", "model.init=he-fan-in", "model.width=0.1",
                                "model.dropout=0.2", "model.dense_dropout=0.5",
                                "model.dropout_before_pools=false", "train.learning_rate=0.02"}},
                      Baseline{"lee",
                               {"model.neuron=lee", "model.norm=none", "model.pool_threshold=0.75",
                                "model.readout_leak=0.99", "model.readout_leak_newest=true",
                                "model.readout_leak_gradient=false", "model.dropout=0.2",
                                "model.steps=6", "model.init=he-fan-in", "train.loss=sse",
                                "train.momentum=0", "train.learning_rate=0.0033"}},
                      Baseline{"neunorm",
                               {"model.name=wu-dvs-net", "model.neuron=neunorm", "model.norm=none",
                                "model.leak=0.25", "model.threshold=0.75", "model.reset=hard",
                                "model.detach_reset=false", "model.surrogate=rectangle",
                                "model.surrogate_width=1", "model.readout_votes=3",
                                "model.dropout=0.5", "model.dropout_per_step=true",
                                "model.init=pytorch", "encoder.kind=direct", "train.loss=mse",
                                "train.learning_rate=0.1", "train.dense_rate_factor=0.1"}}),
    [](const auto& test) { return test.param.name; });

// The run starts with thresholds of another one and must not need it again.
TEST_F(Stopping, AHybridKilledEndsInTheSameBytes) {
  train("ann", {"--set", "model.neuron=relu", "--set", "model.steps=1", "--set", "model.norm=none",
                "--set", "encoder.kind=direct", "--set", "model.init=he-fan-in", "--set",
                "model.width=0.1", "--set", "data.mean=[0.5]", "--set", "data.deviation=[0.25]",
                "--set", "train.learning_rate=0.05"});
  succeed({"convert", path("ann"), "--method", "spike-norm", "--reset", "soft", "--threshold-scale",
           "0.7", "--copy-readout", "--steps", "10", "--calibration-images", "16", "--out",
           path("converted")});
  const auto hybrid = [&](const char* threads) {
    std::vector<std::string> all = {"--from", path("converted"), "--epochs",
                                    "12",     "--threads",       threads};
    for (const char* setting :
         {"data.mean=[0.5]", "data.deviation=[0.25]", "model.width=0.1", "model.steps=10",
          "model.norm=none", "model.leak=0.99", "model.propagation=delayed", "model.surrogate=stdb",
          "model.surrogate_per_threshold=true", "model.divide_by_steps=false",
          "train.from_thresholds=true", "train.optimizer=adam", "train.amsgrad=true",
          "train.learning_rate=1e-3"}) {
      all.insert(all.end(), {"--set", setting});
    }
    return all;
  };
  train("one", hybrid("1"));
  train("two", hybrid("2"));
  expect_same_runs("one", "two");
  Process process(train_arguments("killed", hybrid("2")));
  ASSERT_TRUE(wait_until(process, checkpoint_after("killed", "")));
  process.send(SIGKILL);
  EXPECT_EQ(process.wait().signal, SIGKILL);
  std::filesystem::remove_all(root() / "converted");
  succeed({"train", "--out", path("killed"), "--resume", "--threads", "1"});
  expect_same_runs("killed", "one");
  EXPECT_THAT(succeed({"inspect", path("killed")}),
              HasSubstr("started from " + path("converted") + " with its thresholds"));
}

TEST_F(Stopping, KilledWhileWritingTheFirstMetrics) {
  train("whole");
  Process process(train_arguments("killed"));
  ASSERT_TRUE(
      wait_until(process, [&] { return !bytes_of(root() / "killed" / "metrics.jsonl").empty(); }));
  process.send(SIGKILL);
  process.wait();
  resume("killed");
  expect_same_runs("killed", "whole");
}

TEST_F(Stopping, InterruptedItLeavesACheckpointAndSaysHowToGoOn) {
  const std::vector<std::string> endless = {"--epochs", "100000"};
  for (const int signal : {SIGINT, SIGTERM}) {
    const std::string run = "run" + std::to_string(signal);
    Process process(train_arguments(run, endless));
    ASSERT_TRUE(wait_until(process, checkpoint_after(run, "")));
    process.send(signal);
    const ProcessEnd end = process.wait();
    EXPECT_EQ(end.exit_code, 130);
    EXPECT_EQ(end.error, "");
    EXPECT_THAT(end.out, HasSubstr("stopped after step "));
    EXPECT_THAT(end.out, HasSubstr("--resume"));
    EXPECT_THAT(files_of(run), Each(Not(HasSubstr("tmp"))));
    const std::string report = succeed({"eval", path(run), "--weights", "last", "--json"});
    EXPECT_EQ(parse_json(report, "eval").at("images"), kTestImages);
  }
}

TEST_F(Stopping, InterruptedAndResumedTheRunEndsInTheSameBytes) {
  const std::vector<std::string> long_run = {"--epochs", "12"};
  train("whole", long_run);
  Process process(train_arguments("stopped", long_run));
  ASSERT_TRUE(wait_until(process, checkpoint_after("stopped", "")));
  process.send(SIGINT);
  EXPECT_EQ(process.wait().exit_code, 130);
  resume("stopped");
  expect_same_runs("stopped", "whole");
}

TEST_F(Stopping, OutOfTimeItTestsAndTheRunGoesOnToTheSameBytes) {
  const std::string whole = train("whole", {"--max-minutes", "1000"});
  EXPECT_THAT(whole, HasSubstr("3 epochs will take about "));
  EXPECT_THAT(whole, HasSubstr("and fit into 1000 minutes"));
  const std::string told = train("run", {"--max-minutes", "0.00001"});
  EXPECT_THAT(told, HasSubstr("1e-05 minutes are over; tested with the last weights"));
  EXPECT_THAT(told, HasSubstr("test accuracy "));
  EXPECT_THAT(told, HasSubstr("stopped after step 1;"));
  EXPECT_THAT(bytes_of(root() / "run" / "metrics.jsonl"), HasSubstr("\"kind\":\"test\""));
  resume("run");
  expect_same_runs("run", "whole");
}

TEST_F(Stopping, AFullDiskIsOneSentenceAndTheRunGoesOnLater) {
  train("whole");
  for (const uint64_t largest_file : {3000U, 20000U}) {
    const std::string run = "full" + std::to_string(largest_file);
    const ProcessEnd end = run_bntt(train_arguments(run), {.largest_file = largest_file});
    EXPECT_EQ(end.exit_code, 2);
    EXPECT_THAT(end.error, ::testing::MatchesRegex("bntt: .*safetensors: cannot be written: .*\n"));
    EXPECT_EQ(std::count(end.error.begin(), end.error.end(), '\n'), 1);
    EXPECT_THAT(files_of(run), Each(Not(HasSubstr("tmp"))));
    EXPECT_THAT(files_of(run), Not(::testing::Contains("checkpoint.safetensors")));
    resume(run);
    expect_same_runs(run, "whole");
  }
}

TEST_F(Stopping, ADiskTooFullForTheSettingsLeavesNothing) {
  const ProcessEnd end = run_bntt(train_arguments("run"), {.largest_file = 10});
  EXPECT_EQ(end.exit_code, 2);
  EXPECT_THAT(files_of("run"), ::testing::IsEmpty());
}

TEST_F(Stopping, AReportThatCannotBeWrittenIsAFailure) {
  train("run", {"--epochs", "1"});
  const ProcessEnd end = run_bntt({"eval", path("run"), "--json"}, {.output = "/dev/full"});
  EXPECT_EQ(end.exit_code, 2);
  EXPECT_EQ(end.error, "bntt: the output cannot be written\n");
}

TEST_F(Stopping, AFullDiskDuringExportLeavesNoFile) {
  train("run", {"--epochs", "1"});
  const ProcessEnd end =
      run_bntt({"export", path("run"), "--format", "authors-pytorch", path("out.safetensors")},
               {.largest_file = 1000});
  EXPECT_EQ(end.exit_code, 2);
  EXPECT_THAT(end.error, HasSubstr(path("out.safetensors") + ": cannot be written"));
  EXPECT_FALSE(std::filesystem::exists(path("out.safetensors")));
  for (const auto& entry : std::filesystem::directory_iterator(root())) {
    EXPECT_THAT(entry.path().filename().string(), Not(HasSubstr("tmp")));
  }
}

}  // namespace
}  // namespace bntt
