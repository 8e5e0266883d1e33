#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "process.h"
#include "tiny_runs.h"

namespace bntt {
namespace {

using ::testing::AllOf;
using testing::bytes_of;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ProcessEnd;
using testing::run_bntt;

TEST(SettingsPage, IsWhatTheProgramPrints) {
  const ProcessEnd end = run_bntt({"settings", "--markdown"});
  EXPECT_EQ(end.exit_code, 0) << end.error;
  EXPECT_EQ(end.out, bytes_of(std::filesystem::path(BNTT_DOCS) / "settings.md"))
      << "write it anew: bntt settings --markdown > docs/settings.md";
}

TEST(SettingsPage, ShowsOneKeyASectionOrAll) {
  const std::string key = run_bntt({"settings", "model.norm"}).out;
  EXPECT_THAT(key, AllOf(HasSubstr("norm = \"bntt\""), HasSubstr("bn-time  statistics over batch"),
                         Not(HasSubstr("leak"))));
  const std::string section = run_bntt({"settings", "train"}).out;
  EXPECT_THAT(section, AllOf(HasSubstr("learning_rate = 0.3"), HasSubstr("η in the paper"),
                             HasSubstr("break_even = \"formula\"\n      one of formula, timed, or "
                                       "list of numbers, at least 0"),
                             Not(HasSubstr("[model]"))));
  const std::string all = run_bntt({"settings"}).out;
  EXPECT_THAT(all, AllOf(HasSubstr("[data]"), HasSubstr("[run]"), HasSubstr("surrogate, in")));
}

TEST(SettingsPage, UnknownKeysAreRefused) {
  const ProcessEnd end = run_bntt({"settings", "model.leek"});
  EXPECT_EQ(end.exit_code, 2);
  EXPECT_EQ(end.error, "bntt: settings: unknown key 'model.leek', did you mean 'model.leak'?\n");
  EXPECT_EQ(run_bntt({"settings", "model", "--markdown"}).exit_code, 2);
  EXPECT_THAT(run_bntt({"settings", "model.tau"}).error,
              HasSubstr("did you mean 'model.leak' (1 - 1/tau)?"));
}

TEST(SettingsPage, ShowsTheSettingsThatMayHaveAValue) {
  const std::string norm = run_bntt({"settings", "bn-time"}).out;
  EXPECT_THAT(norm, AllOf(HasSubstr("norm = \"bntt\""), HasSubstr("bn-time  statistics over batch"),
                          Not(HasSubstr("leak"))));
  EXPECT_THAT(run_bntt({"settings", "cosine"}).out, HasSubstr("schedule = "));
  EXPECT_THAT(run_bntt({"settings", "stdb"}).out,
              AllOf(HasSubstr("surrogate = \"triangle\""),
                    HasSubstr("      arctan    α / (1 + (πd)²)\n      rectangle α if")))
      << "meanings stand in one column";
  EXPECT_THAT(run_bntt({"settings", "direct"}).out,
              HasSubstr("      direct           the normalised image itself"));
}

}  // namespace
}  // namespace bntt
