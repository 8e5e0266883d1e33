#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "base/files.h"
#include "fixtures.h"
#include "process.h"

namespace bntt {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using testing::ProcessEnd;
using testing::run_bntt;

TEST(Help, OfTheProgramNamesEveryCommand) {
  const ProcessEnd end = run_bntt({"--help"});
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_THAT(end.out, HasSubstr("Example"));
  for (const char* command :
       {"train", "sweep", "eval", "predict", "experiment", "classical", "convert", "quantize",
        "steps", "exit", "activity", "energy", "attack", "inspect", "export", "import", "bench"}) {
    EXPECT_THAT(end.out, HasSubstr(command));
  }
}

TEST(Help, OfEveryCommandBeginsWithAVerbAndHasAnExample) {
  for (const std::string command :
       {"train",     "sweep",       "experiment",  "eval",          "convert",
        "steps",     "predict",     "exit",        "activity",      "energy",
        "attack",    "classical",   "inspect",     "export",        "import",
        "bench",     "bench train", "bench infer", "bench kernels", "bench break-even",
        "plot",      "report",      "data",        "data get",      "data check",
        "data show", "settings",    "help-pages",  "quantize"}) {
    std::istringstream words(command + " --help");
    const std::vector<std::string> arguments{std::istream_iterator<std::string>(words), {}};
    const ProcessEnd end = run_bntt(arguments);
    EXPECT_EQ(end.exit_code, 0) << command;
    EXPECT_THAT(end.out, ContainsRegex("Example:\n  [^\n]*bntt " + command)) << command;
    // In the imperative: "Train a network", neither "Trains ..." nor "Training ...".
    const std::string verb = end.out.substr(0, end.out.find_first_of(" ,"));
    EXPECT_THAT(verb, AllOf(MatchesRegex("[A-Z][a-z]+"), Not(EndsWith("s")), Not(EndsWith("ing"))))
        << command;
    EXPECT_EQ(end.error, "") << command;
  }
}

TEST(Help, OfTrainNamesThePresets) {
  const ProcessEnd end = run_bntt({"train", "--help"});
  for (const char* preset :
       {"demo-fashion-mnist", "paper-cifar10", "paper-cifar100", "paper-tiny-imagenet",
        "paper-dvs-cifar10", "authors-cifar10", "authors-cifar100"}) {
    EXPECT_THAT(end.out, HasSubstr(preset));
  }
}

TEST(Help, OfConvertAndClassicalNamesTheirPresets) {
  EXPECT_THAT(run_bntt({"convert", "--help"}).out,
              AllOf(HasSubstr("--preset"), HasSubstr("rathi-2020"), HasSubstr("sengupta")));
  EXPECT_THAT(run_bntt({"classical", "--help"}).out,
              AllOf(HasSubstr("--preset"), HasSubstr("hats-ottati"), HasSubstr("hots-two-layers")));
}

TEST(Help, BecomesManualPagesAndCompletion) {
  const testing::TemporaryDirectory directory;
  const std::string pages = (directory.path() / "pages").string();
  ASSERT_EQ(run_bntt({"help-pages", "--out", pages}).exit_code, 0);
  for (const char* page : {"bntt", "bntt-train", "bntt-predict", "bntt-data-get"}) {
    const std::string file = fmt::format("{}/man1/{}.1", pages, page);
    const std::string text = read_text(file);
    EXPECT_THAT(text, ::testing::StartsWith(fmt::format(".TH \"{}\" 1", page)));
    EXPECT_THAT(text, HasSubstr("Example:"));
  }
  EXPECT_THAT(read_text(pages + "/man1/bntt-predict.1"), HasSubstr("\\-\\-exit\\-confidence"));
  const auto completed = [&](const std::string& words) {
    const std::string script = fmt::format(
        ". {}/completions/bntt; COMP_WORDS=({}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _bntt; "
        "echo \"${{COMPREPLY[*]}}\"",
        pages, words);
    return run_bntt({"-c", script}, {.program = "/bin/bash"}).out;
  };
  EXPECT_EQ(completed("bntt pre"), "predict\n");
  EXPECT_EQ(completed("bntt data g"), "get\n");
  EXPECT_EQ(completed("bntt predict runs/demo --exp"), "--explain\n");
}

TEST(Help, VersionIsOneLine) {
  const ProcessEnd end = run_bntt({"--version"});
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_THAT(end.out, ::testing::MatchesRegex("bntt [0-9.]+\n"));
}

}  // namespace
}  // namespace bntt
