#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "process.h"

namespace bntt {
namespace {

using ::testing::HasSubstr;
using testing::ProcessEnd;
using testing::run_bntt;

TEST(Help, OfTheProgramNamesEveryCommand) {
  const ProcessEnd end = run_bntt({"--help"});
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_THAT(end.out, HasSubstr("Example"));
  for (const char* command : {"train", "sweep", "eval", "exit", "activity", "energy", "attack",
                              "inspect", "export", "import", "bench"}) {
    EXPECT_THAT(end.out, HasSubstr(command));
  }
}

TEST(Help, OfEveryCommandHasAnExample) {
  for (const std::string command : {"train", "sweep", "eval", "exit", "activity", "energy",
                                    "attack", "inspect", "export", "import", "bench"}) {
    const ProcessEnd end = run_bntt({command, "--help"});
    EXPECT_EQ(end.exit_code, 0) << command;
    EXPECT_THAT(end.out, HasSubstr("Example:\n  bntt " + command)) << command;
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

TEST(Help, VersionIsOneLine) {
  const ProcessEnd end = run_bntt({"--version"});
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_THAT(end.out, ::testing::MatchesRegex("bntt [0-9.]+\n"));
}

}  // namespace
}  // namespace bntt
