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

/// Runs of a few seconds on the tiny data set, which is mnist's.
class Experiments : public TinyRuns {
 protected:
  Experiments() {
    write_text("own.toml",
               "title = \"Two norms\"\n"
               "columns = [\"steps\", \"accuracy\", \"spikes\"]\n"
               "[scale.tiny]\nimages = 20\nattack_images = 10\nmax_loss = 50.0\n"
               "[[run]]\nname = \"with\"\nlabel = \"BNTT\"\nconfig = \"tiny.toml\"\n"
               "tiny = [\"train.epochs=12\"]\n"
               "[[run]]\nname = \"without\"\nlike = \"with\"\nset = [\"model.norm=layer\"]\n"
               "[[row]]\nlabel = \"BNTT\"\nrun = \"with\"\npaper = { accuracy = 90.5 }\n"
               "[[row]]\nlabel = \"layer norm\"\nrun = \"without\"\n"
               "[[figure]]\nkind = \"noise\"\nruns = [\"with\", \"without\"]\nstrengths = [0.2]\n"
               "[[claim]]\ntext = \"BNTT is better\"\nhigher = \"with\"\nlower = \"without\"\n");
  }

  std::vector<std::string> arguments(const std::string& out,
                                     const std::vector<std::string>& more = {}) const {
    std::vector<std::string> result = {"experiment", path("own.toml"), "--scale", "tiny",
                                       "--data",     data().string(),  "--out",   path(out)};
    result.insert(result.end(), more.begin(), more.end());
    return result;
  }
  /// The directory of a run: its name with the hash of its settings.
  std::string run_of(const std::string& out, const std::string& name) const {
    for (const std::string& file : files_of(out + "/runs")) {
      if (file.starts_with(name + "-")) return out + "/runs/" + file;
    }
    return "";
  }
};

TEST_F(Experiments, OnesOwnFileEndsInTablesFiguresAndAPage) {
  const std::string told = succeed(arguments("out"));
  EXPECT_THAT(told, HasSubstr("2 of 2 runs and 4 measurements left to do, about "));
  EXPECT_THAT(told, HasSubstr("| BNTT | 3 | "));
  EXPECT_THAT(told, HasSubstr(" | 90.5 | "));
  const std::string table = bytes_of(root() / "out/tiny/own.csv");
  EXPECT_THAT(table, HasSubstr("layer norm,accuracy,"));
  EXPECT_THAT(table, HasSubstr("BNTT is better,claim,"));
  EXPECT_THAT(bytes_of(root() / "out/tiny/own-1.svg"), HasSubstr("<svg"));
  const std::string page = bytes_of(root() / "out/tiny/own.html");
  EXPECT_THAT(page, HasSubstr("Two norms"));
  EXPECT_THAT(page, HasSubstr("data:image/svg+xml;base64,"));

  // Once more there is nothing to do, and the same comes out.
  const std::string again = succeed(arguments("out"));
  EXPECT_THAT(again, HasSubstr("0 of 2 runs and 0 measurements left to do"));
  EXPECT_EQ(bytes_of(root() / "out/tiny/own.csv"), table);
}

TEST_F(Experiments, ADryRunOnlySaysWhatWouldBeDone) {
  EXPECT_THAT(succeed(arguments("out", {"--dry-run"})), HasSubstr("0/12 epochs"));
  EXPECT_FALSE(std::filesystem::exists(root() / "out"));
}

TEST_F(Experiments, SeedsGiveAMeanAndADeviation) {
  const std::string told = succeed(arguments("out", {"--seeds", "2"}));
  EXPECT_THAT(told, HasSubstr(" ± "));
  EXPECT_EQ(files_of("out/runs").size(), 4U);
}

TEST_F(Experiments, KilledTheSameCommandGoesOn) {
  succeed(arguments("whole"));
  for (const int signal : {SIGKILL, SIGINT}) {
    const std::string out = signal == SIGKILL ? "killed" : "stopped";
    Process process(arguments(out));
    ASSERT_TRUE(wait_until(process, [&] {
      const std::string run = run_of(out, "with");
      return !run.empty() && std::filesystem::exists(root() / run / "checkpoint.safetensors");
    }));
    process.send(signal);
    const ProcessEnd end = process.wait();
    if (signal == SIGINT) {
      EXPECT_EQ(end.exit_code, 130) << end.error;
      EXPECT_THAT(end.out, HasSubstr("run the same command again to continue"));
    }
    succeed(arguments(out));
    for (const std::string name : {"with", "without"}) {
      expect_same_runs(run_of(out, name), run_of("whole", name));
    }
    EXPECT_EQ(bytes_of(root() / out / "tiny/own.csv"), bytes_of(root() / "whole/tiny/own.csv"));
  }
}

TEST_F(Experiments, RunsMadeAtOnceAreTheSame) {
  for (const std::string jobs : {"1", "3"}) {
    succeed(arguments("jobs" + jobs, {"--seeds", "2", "--jobs", jobs, "--threads", "3"}));
  }
  const std::vector<std::string> runs = files_of("jobs1/runs");
  EXPECT_EQ(runs.size(), 4U);
  EXPECT_EQ(files_of("jobs3/runs"), runs);
  for (const std::string& run : runs) expect_same_runs("jobs3/runs/" + run, "jobs1/runs/" + run);
  EXPECT_EQ(bytes_of(root() / "jobs3/tiny/own.csv"), bytes_of(root() / "jobs1/tiny/own.csv"));
}

// A process that dies, as when memory runs out, costs its own run alone. That run would take hours.
TEST_F(Experiments, AKilledProcessOfARunIsSaid) {
  write_text("own.toml",
             "title = \"One is killed\"\ncolumns = [\"accuracy\"]\n"
             "[[run]]\nname = \"with\"\nconfig = \"tiny.toml\"\nset = [\"train.epochs=1000000\"]\n"
             "[[run]]\nname = \"without\"\nconfig = \"tiny.toml\"\n"
             "[[row]]\nlabel = \"long\"\nrun = \"with\"\n"
             "[[row]]\nlabel = \"short\"\nrun = \"without\"\n");
  Process process(arguments("out", {"--jobs", "2"}));
  const std::string lock = "/run.lock";
  ASSERT_TRUE(wait_until(process, [&] {
    const std::string run = run_of("out", "with");
    return !run.empty() && std::filesystem::exists(root() / run / "checkpoint.safetensors") &&
           !bytes_of(root() / (run + lock)).empty();
  }));
  ::kill(std::stoi(bytes_of(root() / (run_of("out", "with") + lock))), SIGKILL);
  const ProcessEnd end = process.wait();
  EXPECT_EQ(end.exit_code, 2);
  EXPECT_EQ(end.error, "bntt: 1 of 2 runs failed; the reasons are in the table\n");
  EXPECT_THAT(bytes_of(root() / "out/tiny/own.md"), HasSubstr("killed by signal 9"));
  EXPECT_THAT(succeed(arguments("out", {"--dry-run"})), HasSubstr("1 of 2 runs and "));
}

TEST_F(Experiments, AllOfThePaperAtScaleTiny) {
  write_recordings();
  std::filesystem::rename(root() / "events", data() / "nmnist");
  const std::string told = succeed({"experiment", "all", "--scale", "tiny", "--cache", "none",
                                    "--data", data().string(), "--out", path("out")});
  EXPECT_THAT(told, Not(HasSubstr("was not found")));
  for (const std::string name : {"table1", "table2", "table3", "fig1", "fig3", "fig4", "fig5",
                                 "fig6", "appendix-b", "appendix-e", "appendix-f", "appendix-g"}) {
    EXPECT_TRUE(std::filesystem::exists(root() / "out/tiny" / (name + ".md"))) << name;
    EXPECT_THAT(bytes_of(root() / "out/tiny" / (name + ".md")), Not(HasSubstr("not measured")))
        << name;
  }
  for (const char* picture : {"fig1-2.svg", "fig3-1.svg", "fig4-1.svg", "fig4-2.svg", "fig5-1.svg",
                              "fig6-3.svg", "appendix-b-1.png", "appendix-f-1.svg"}) {
    EXPECT_NE(bytes_of(root() / "out/tiny" / picture), "") << picture;
  }
  EXPECT_THAT(bytes_of(root() / "out/tiny/all.html"), HasSubstr("Appendix G"));
}

TEST_F(Experiments, RowsWithoutDataSayWhatIsMissing) {
  std::filesystem::create_directory(data() / "cifar10");
  const std::string told = succeed(
      {"experiment", "table2", "--scale", "tiny", "--data", data().string(), "--out", path("out")});
  EXPECT_THAT(told, HasSubstr("not measured, since the data set nmnist was not found"));
}

// --data names the directory of one data set, and another experiment needs a second one.
TEST_F(Experiments, ADirectoryWithoutTheDataSetLeavesItsRowsEmptyAndTheOthersGoOn) {
  write_text("two.toml",
             "title = \"Two data sets\"\ncolumns = [\"accuracy\"]\n"
             "[[run]]\nname = \"here\"\nconfig = \"tiny.toml\"\n"
             "[[run]]\nname = \"absent\"\npreset = \"paper-cifar100\"\n"
             "[[run]]\nname = \"after-it\"\nlike = \"here\"\nfrom = \"absent\"\n"
             "[[row]]\nlabel = \"MNIST\"\nrun = \"here\"\n"
             "[[row]]\nlabel = \"CIFAR-100\"\nrun = \"absent\"\npaper = { accuracy = 66.6 }\n"
             "[[row]]\nlabel = \"after\"\nrun = \"after-it\"\n");
  const std::vector<std::string> command = {"experiment", path("two.toml"), "--scale", "tiny",
                                            "--data",     data().string(),  "--out",   path("out")};
  const std::string told = succeed(command);
  const std::size_t announced =
      told.find("2 of 3 runs cannot be made, for the reason given above; their rows stay empty");
  ASSERT_NE(announced, std::string::npos) << told;
  EXPECT_LT(told.find("its data cannot be opened: cifar100: "), announced);
  EXPECT_LT(announced, told.find("run 1/3")) << "said before the start";
  EXPECT_THAT(told, HasSubstr("| CIFAR-100 | – | 66.6 |"));
  EXPECT_THAT(told, HasSubstr("after: not measured, since its data cannot be opened: cifar100: "));
  EXPECT_EQ(files_of("out/runs").size(), 1U);
}

TEST_F(Experiments, ARunThatFailsDoesNotStopTheOthers) {
  write_text("fails.toml",
             "title = \"One fails\"\ncolumns = [\"accuracy\"]\n"
             "[[run]]\nname = \"too-large\"\nlike = \"good\"\nset = [\"train.batch=1000\"]\n"
             "[[run]]\nname = \"good\"\nconfig = \"tiny.toml\"\n"
             "[[row]]\nlabel = \"fails\"\nrun = \"too-large\"\n"
             "[[row]]\nlabel = \"works\"\nrun = \"good\"\n");
  const ProcessEnd end = run_bntt({"experiment", path("fails.toml"), "--scale", "tiny", "--data",
                                   data().string(), "--out", path("out")});
  EXPECT_EQ(end.exit_code, 2);
  EXPECT_EQ(end.error, "bntt: 1 of 2 runs failed; the reasons are in the table\n");
  const std::string table = bytes_of(root() / "out/tiny/fails.md");
  EXPECT_THAT(table, HasSubstr("fails: not measured, since train.batch is 1000, expected at most"));
  EXPECT_THAT(table, ::testing::ContainsRegex("\\| works \\| [0-9]"));
}

TEST_F(Experiments, WhatCannotBeDoneIsRefusedInOneSentence) {
  const auto refused = [&](const std::vector<std::string>& arguments) {
    const ProcessEnd end = run_bntt(arguments);
    EXPECT_EQ(end.exit_code, 2);
    EXPECT_EQ(std::count(end.error.begin(), end.error.end(), '\n'), 1) << end.error;
    return end.error;
  };
  EXPECT_THAT(refused({"experiment", "tabel1", "--out", path("out")}),
              HasSubstr("did you mean 'table1'"));
  write_text("wrong.toml", "columns = [\"accuracy\"]\n");
  EXPECT_THAT(refused({"experiment", path("wrong.toml"), "--out", path("out")}),
              HasSubstr("columns but no rows"));
  EXPECT_THAT(refused(arguments("out", {"--only-run", "nobody"})),
              HasSubstr("'nobody' is none of"));
  EXPECT_FALSE(std::filesystem::exists(root() / "out"));
}

}  // namespace
}  // namespace bntt
