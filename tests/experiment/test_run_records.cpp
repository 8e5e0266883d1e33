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
  records.add("a", WorkKind::spiking, 1e9, 2.0);
  records.add("a", WorkKind::spiking, 1e9, 2.0);
  records.set_diverged("b");
  const RunRecords again(file);
  EXPECT_DOUBLE_EQ(again.speed(WorkKind::spiking), 0.5e9);
  EXPECT_TRUE(again.diverged("b"));
  EXPECT_FALSE(again.diverged("a"));
  EXPECT_FALSE(again.diverged("c"));
}

// An ANN takes several times as long for the same number of multiply-adds.
TEST(Records, HaveASpeedForEachKindOfRun) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "runs.json";
  std::ofstream(file) << R"({"earlier": {"work": 1e12, "seconds": 5.0}})";
  RunRecords records(file);
  const double spiking = records.speed(WorkKind::spiking);
  const double ann = records.speed(WorkKind::ann);
  EXPECT_GT(spiking, 2.0 * ann);
  // Half as fast as guessed: so are the others, until they are timed.
  records.add("a", WorkKind::spiking, 10.0 * spiking, 20.0);
  EXPECT_DOUBLE_EQ(records.speed(WorkKind::spiking), spiking / 2.0);
  EXPECT_DOUBLE_EQ(records.speed(WorkKind::ann), ann / 2.0);
  records.add("b", WorkKind::ann, 10.0 * ann, 5.0);
  EXPECT_DOUBLE_EQ(records.speed(WorkKind::ann), 2.0 * ann);
  EXPECT_DOUBLE_EQ(records.speed(WorkKind::spiking), spiking / 2.0);
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
