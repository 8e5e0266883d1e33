#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "experiment/run_records.h"
#include "fixtures.h"
#include "message.h"

namespace bntt {
namespace {

using testing::message_of;
using testing::TemporaryDirectory;

TEST(Records, OutliveTheProcessThatMadeThem) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "runs.json";
  RunRecords records(file);
  const double guessed = records.speed();
  EXPECT_GT(guessed, 0.0);
  records.add("a", 1e9, 2.0);
  records.add("a", 1e9, 2.0);
  records.set_diverged("b");
  const RunRecords again(file);
  EXPECT_DOUBLE_EQ(again.speed(), 0.5e9);
  EXPECT_TRUE(again.diverged("b"));
  EXPECT_FALSE(again.diverged("a"));
  EXPECT_FALSE(again.diverged("c"));
}

TEST(Records, AFileOfSomethingElseIsRefused) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "runs.json";
  for (const char* text : {"{\"a\": 3}", "{\"a\": {\"seconds\": \"long\"}}"}) {
    std::ofstream(file) << text;
    EXPECT_THAT(message_of([&] { RunRecords records(file); }),
                ::testing::HasSubstr("'a' is not the record of a run"));
  }
}

}  // namespace
}  // namespace bntt
