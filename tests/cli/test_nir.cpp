#include "base/json.h"
#include "tiny_runs.h"

namespace bntt {
namespace {

using ::testing::AllOf;
using testing::bytes_of;
using ::testing::HasSubstr;
using testing::ProcessEnd;
using testing::run_bntt;
using testing::TinyRuns;

class Nir : public TinyRuns {
 protected:
  Json eval(const std::string& run, const std::string& folder) const {
    Json report = parse_json(
        succeed({"eval", path(run), "--data", path(folder), "--cache", "none", "--json"}), "eval");
    report.erase("images_per_second");
    return report;
  }
  ProcessEnd export_nir(const std::string& run, const std::string& file,
                        const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {"export", path(run), "--format", "nir", path(file)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_bntt(arguments);
  }
  std::string refused(const std::vector<std::string>& arguments) const {
    const ProcessEnd end = run_bntt(arguments);
    EXPECT_EQ(end.exit_code, 2) << end.out;
    return end.error;
  }
  /// Eight bins of 12.5 ms; hard reset and one norm for all steps.
  void train_in_bins(const std::string& run) const {
    write_recordings();
    succeed({"train",
             "--preset",
             "nmnist",
             "--data",
             path("events"),
             "--cache",
             "none",
             "--epochs",
             "1",
             "--set",
             "train.batch=4",
             "--set",
             "model.width=0.02",
             "--set",
             "model.norm=bn",
             "--set",
             "model.reset=hard",
             "--set",
             "data.bin_us=12500",
             "--out",
             path(run)});
  }
  /// A recording of `events` events, a millisecond apart.
  void add_test_recording(int events) const {
    std::string bytes;
    for (int k = 0; k < events; ++k) {
      const int time_us = 1000 * k;
      for (const int byte : {k % 30, k % 34, time_us >> 16, time_us >> 8, time_us}) {
        bytes.push_back(static_cast<char>(byte));
      }
    }
    write_text("events/Test/3/long.bin", bytes);
  }
};

TEST_F(Nir, NormsOfEveryStepAndSoftResetsNeedConsentAndComeBackExactly) {
  train("run", {"--epochs", "1"});
  ProcessEnd end = export_nir("run", "out.nir");
  EXPECT_EQ(end.exit_code, 2);
  EXPECT_THAT(end.error, AllOf(HasSubstr("conv1"), HasSubstr("--bntt mean")));
  end = export_nir("run", "out.nir", {"--bntt", "mean"});
  EXPECT_EQ(end.exit_code, 2);
  EXPECT_THAT(end.error, AllOf(HasSubstr("conv1"), HasSubstr("--allow-lossy")));
  EXPECT_FALSE(std::filesystem::exists(path("out.nir")));

  end =
      export_nir("run", "out.nir", {"--bntt", "mean", "--allow-lossy", "--data", data().string()});
  EXPECT_EQ(end.exit_code, 0) << end.error;
  EXPECT_THAT(end.error, HasSubstr("reset by subtraction"));
  const Json report = eval("run", "data");
  EXPECT_THAT(end.out, AllOf(HasSubstr(fmt::format("accuracy {:.2f} % with the norms",
                                                   report.at("accuracy").get<double>())),
                             HasSubstr("on 21 test samples")));
  succeed({"import", path("out.nir"), "--out", path("back")});
  EXPECT_EQ(eval("back", "data"), report);
  EXPECT_THAT(refused({"import", path("out.nir"), "--dt", "1e-3", "--out", path("other")}),
              HasSubstr("leave out --dt"));
}

TEST_F(Nir, TheMeanOverTimeSaysWhatItCosts) {
  train("run", {"--epochs", "1"});
  const std::vector<std::string> lossy = {"--bntt", "mean", "--allow-lossy"};
  ProcessEnd end = export_nir("run", "out.nir", lossy);
  EXPECT_EQ(end.exit_code, 0) << end.error;
  EXPECT_THAT(end.out, AllOf(HasSubstr("% with the norms of every step"),
                             HasSubstr("with their mean"), HasSubstr("on 21 test samples")));
  std::filesystem::rename(path("data"), path("moved"));
  end = export_nir("run", "again.nir", lossy);
  EXPECT_EQ(end.exit_code, 0) << end.error;
  EXPECT_THAT(end.out, AllOf(HasSubstr("was not measured"), HasSubstr("--data DIR")));
  EXPECT_TRUE(std::filesystem::exists(path("again.nir")));
  end = export_nir("run", "third.nir",
                   {"--bntt", "mean", "--allow-lossy", "--data", path("nowhere")});
  EXPECT_EQ(end.exit_code, 2) << end.out;
  EXPECT_FALSE(std::filesystem::exists(path("third.nir")));
}

TEST_F(Nir, FoldedNetworksAnswerAsBefore) {
  train("run", {"--epochs", "1", "--set", "model.norm=bn", "--set", "model.reset=hard", "--set",
                "encoder.kind=direct"});
  const ProcessEnd end = export_nir("run", "out.nir");
  EXPECT_EQ(end.exit_code, 0) << end.error;
  EXPECT_EQ(end.error, "");
  const std::string told = succeed({"import", path("out.nir"), "--out", path("back")});
  EXPECT_THAT(told, AllOf(HasSubstr("conv1: leak 0.95, threshold 1, hard reset"),
                          HasSubstr("3 steps, 10 classes, encoder direct")));
  const Json before = eval("run", "data");
  const Json after = eval("back", "data");
  EXPECT_EQ(after.at("accuracy"), before.at("accuracy"));
  EXPECT_NEAR(after.at("loss").get<double>(), before.at("loss").get<double>(), 1e-3);
  succeed({"inspect", path("back")});
}

TEST_F(Nir, DataThatTheNetworkCannotReadAreRefused) {
  train("run", {"--epochs", "0", "--set", "model.norm=bn", "--set", "model.reset=hard"});
  EXPECT_EQ(export_nir("run", "out.nir").exit_code, 0);
  const auto import_for = [&](const std::string& data) {
    return refused({"import", path("out.nir"), "--set", "data.name=" + data, "--set",
                    "data.mean=[0.5]", "--set", "data.deviation=[0.5]", "--out", path("back")});
  };
  EXPECT_THAT(import_for("cifar10"), HasSubstr("out.nir: takes 1 channels, but the samples of "
                                               "cifar10 have 3"));
  EXPECT_FALSE(std::filesystem::exists(path("back")));
}

TEST_F(Nir, OptionsOfOtherFormatsAreRefused) {
  train("run", {"--epochs", "0"});
  EXPECT_THAT(
      refused({"export", path("run"), "--format", "state-dict", "--allow-lossy", path("out")}),
      HasSubstr("--allow-lossy is only for --format nir"));
  succeed({"export", path("run"), "--format", "state-dict", path("out")});
  EXPECT_THAT(refused({"import", path("out"), "--dt", "1e-3", "--out", path("back")}),
              HasSubstr("is not a NIR file"));
  write_text("broken.nir", "\x89HDF\r\n\x1a\n and then nothing");
  EXPECT_THAT(refused({"import", path("broken.nir"), "--out", path("back")}),
              HasSubstr("broken.nir: is not a whole HDF5 file"));
  EXPECT_FALSE(std::filesystem::exists(path("back")));
}

TEST_F(Nir, RecordingsAreCutIntoBinsOfFixedLength) {
  train_in_bins("run");
  EXPECT_THAT(bytes_of(root() / "run" / "run.toml"),
              AllOf(HasSubstr("bin_us = 12500"), HasSubstr("steps = 8")));
  EXPECT_EQ(eval("run", "events").at("steps"), 8);

  EXPECT_EQ(export_nir("run", "out.nir").exit_code, 0);
  succeed({"import", path("out.nir"), "--set", "data.bin_us=20000", "--set",
           "data.dir=" + path("events"), "--out", path("coarse")});
  EXPECT_THAT(bytes_of(root() / "coarse" / "run.toml"),
              AllOf(HasSubstr("bin_us = 20000"), HasSubstr("steps = 5")));
  EXPECT_EQ(eval("coarse", "events").at("steps"), 5);

  // Shorter than all, then longer.
  add_test_recording(15);
  EXPECT_EQ(eval("run", "events").at("images"), 21);
  add_test_recording(150);
  const ProcessEnd end = run_bntt({"eval", path("run"), "--cache", "none", "--json"});
  EXPECT_EQ(end.exit_code, 0) << end.error;
  EXPECT_THAT(end.error, HasSubstr("1 recordings are longer than the network's 8 bins"));
  const ProcessEnd prediction = run_bntt({"predict", path("run"), path("events/Test/3/long.bin")});
  EXPECT_EQ(prediction.exit_code, 0) << prediction.error;
  EXPECT_THAT(
      prediction.error,
      HasSubstr("long.bin lasts 12 bins of 12500 microseconds and is cut to the network's 8"));
}

// Made by h5py, without metadata of ours; its answers are known from its weights.
TEST_F(Nir, FilesOfOthersMakeRunsForEvalPredictAndReport) {
  write_recordings();
  const ProcessEnd written =
      run_bntt({"-E", "-s", BNTT_FOREIGN_NIR, path("theirs.nir")}, {.program = BNTT_PYTHON});
  ASSERT_EQ(written.exit_code, 0) << written.error;
  const std::vector<std::string> import = {
      "import", path("theirs.nir"),           "--dt",  "1e-3",        "--set", "data.name=nmnist",
      "--set",  "data.dir=" + path("events"), "--out", path("theirs")};
  EXPECT_THAT(refused(import), AllOf(HasSubstr("--steps"), HasSubstr("data.bin_us")));
  std::vector<std::string> in_bins = import;
  in_bins.insert(in_bins.end(), {"--set", "data.bin_us=1000"});
  EXPECT_THAT(succeed(in_bins), AllOf(HasSubstr("pixels: leak 0.5, threshold 1, hard reset"),
                                      HasSubstr("digits: leak 0.9, threshold 1, hard reset"),
                                      HasSubstr("100 steps, 10 classes, encoder events")));

  const Json report = eval("theirs", "events");
  EXPECT_EQ(report.at("accuracy"), 100.0);
  EXPECT_EQ(report.at("images"), 20);
  EXPECT_EQ(report.at("steps"), 100);

  std::istringstream lines(succeed({"predict", path("theirs"), path("events/Test"), "--json"}));
  int recordings = 0;
  for (std::string text; std::getline(lines, text); ++recordings) {
    const Json line = parse_json(text, "line");
    EXPECT_EQ(line.at("name"),
              path(fmt::format("events/Test/{}/{}.bin", recordings / 2, recordings % 2)));
    EXPECT_EQ(line.at("label"), recordings / 2);
    EXPECT_EQ(line.at("steps"), 100);
    EXPECT_GE(line.at("spikes"), 100) << "every event makes a spike";
  }
  EXPECT_EQ(recordings, 20);

  succeed({"report", path("theirs"), "--limit", "12"});
  EXPECT_THAT(
      bytes_of(root() / "theirs" / "report.html"),
      AllOf(HasSubstr("\"activity\":{"), HasSubstr("\"pixels\""), HasSubstr("\"energy\":{")));
}

TEST_F(Nir, LiveStepsLastAsLongAsBins) {
  train_in_bins("run");
  const std::string told =
      succeed({"predict", path("run"), "--events", path("events/Test/3/0.bin"), "--live"});
  EXPECT_THAT(told,
              AllOf(HasSubstr("    12.5 ms  step   1/8"), HasSubstr("    50.0 ms  step   4/8"),
                    HasSubstr("   100.0 ms  step   8/8")));
}

TEST_F(Nir, BinsAreNotForNormsOfEveryStep) {
  write_recordings();
  EXPECT_THAT(
      refused({"train", "--preset", "nmnist", "--data", path("events"), "--cache", "none", "--set",
               "data.bin_us=10000", "--set", "model.norm=bntt", "--out", path("run")}),
      AllOf(HasSubstr("data.bin_us"), HasSubstr("for every step")));
}

}  // namespace
}  // namespace bntt
