#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include <fstream>

#include "base/descriptor.h"
#include "base/files.h"
#include "base/threads.h"
#include "bntt/error.h"
#include "bntt/zoo.h"
#include "train/break_even_table.h"

namespace bntt {
namespace {

namespace fs = std::filesystem;

class BreakEvenTable : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(directory_);
    fs::create_directories(directory_);
  }
  void TearDown() override { fs::remove_all(directory_); }

  // Tests run side by side.
  fs::path directory_ =
      fs::path(::testing::TempDir()) /
      ("bntt-" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
  fs::path file_ = directory_ / "new" / "break-even.json";
  std::vector<StagePlan> stages_ =
      plan_stages(vgg5({.input = {3, 8, 8}, .classes = 4, .steps = 2, .width = 0.125}));
};

bool same(const std::vector<BreakEven>& a, const std::vector<BreakEven>& b) {
  return break_even_values(a) == break_even_values(b);
}

TEST_F(BreakEvenTable, MeasuresOnceAndRemembers) {
  const auto first = machine_break_even(stages_, file_);
  ASSERT_EQ(first.size(), stages_.size());
  EXPECT_TRUE(fs::exists(file_));
  const std::string text = read_text(file_);
  EXPECT_TRUE(same(machine_break_even(stages_, file_), first));
  EXPECT_EQ(read_text(file_), text);
}

TEST_F(BreakEvenTable, SaysWhenItWaitsForAnotherProcess) {
  machine_break_even(stages_, file_, [] { ADD_FAILURE() << "there is nobody to wait for"; });
  // A lock of this process on another descriptor is as good as another process's.
  Descriptor other(open((file_.string() + ".lock").c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(flock(other.get(), LOCK_EX), 0);
  int waits = 0;
  machine_break_even(stages_, file_, [&] {
    ++waits;
    other.close();
  });
  EXPECT_EQ(waits, 1);
}

TEST_F(BreakEvenTable, DoesWithoutADamagedFileAndReplacesIt) {
  fs::create_directories(file_.parent_path());
  std::ofstream(file_) << "{\"not\": [json";
  const auto measured = machine_break_even(stages_, file_);
  EXPECT_TRUE(same(machine_break_even(stages_, file_), measured));
}

TEST_F(BreakEvenTable, DoesWithoutAPlace) {
  const fs::path before = fs::current_path();
  fs::current_path(directory_);
  EXPECT_EQ(machine_break_even(stages_, "").size(), stages_.size());
  fs::current_path(before);
  EXPECT_TRUE(fs::is_empty(directory_)) << "an empty path is no file in the working directory";
  std::ofstream(directory_ / "file") << "in the way";
  EXPECT_EQ(machine_break_even(stages_, directory_ / "file" / "table.json").size(), stages_.size());
}

TEST_F(BreakEvenTable, KnowsEveryNumberOfThreadsByItself) {
  set_threads(1);
  machine_break_even(stages_, file_);
  const std::size_t once = read_text(file_).size();
  set_threads(2);
  machine_break_even(stages_, file_);
  set_threads(0);
  EXPECT_GT(read_text(file_).size(), once);
}

TEST_F(BreakEvenTable, GivenValuesWinAndNothingElseIsTimed) {
  const auto of = [&](const auto& setting) {
    return break_even_values(chosen_break_even(setting, stages_));
  };
  const std::vector<double> formula = of(BreakEvenSource::formula);
  ASSERT_EQ(formula.size(), 2 * stages_.size());
  EXPECT_NE(formula, of(std::vector<double>{0.12, 0.2}));
  EXPECT_EQ(formula, of(std::vector<double>{})) << "as files have it that were written before";
  std::vector<double> given(formula.size(), 0.3);
  EXPECT_EQ(of(std::vector<double>{0.3, 0.3}), given);
  EXPECT_THROW(of(std::vector<double>{0.3}), Error);
}

TEST(BreakEvenText, IsEmptyIfNoSynapseHasAChoice) {
  EXPECT_THAT(
      dense_above_text(Network(vgg5({.steps = 2, .width = 0.125}), 1)),
      ::testing::StartsWith("dense above (spikes per input, forward/weight gradient): conv2 "));
  const NetworkSpec readout{.input = {3, 1, 1}, .steps = 2, .stages = {Readout{.classes = 2}}};
  EXPECT_EQ(dense_above_text(Network(readout, 1)), "");
}

TEST(BreakEvenValues, OnePairForAllOrOneForEach) {
  EXPECT_EQ(break_even_values(break_even_from({0.1, 0.2}, 2)),
            (std::vector<double>{0.1, 0.2, 0.1, 0.2}));
  EXPECT_EQ(break_even_values(break_even_from({0.1, 0.2, 0.3, 0.4}, 2)),
            (std::vector<double>{0.1, 0.2, 0.3, 0.4}));
  EXPECT_THROW(break_even_from({0.1, 0.2, 0.3}, 2), Error);
}

}  // namespace
}  // namespace bntt
