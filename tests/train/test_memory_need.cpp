#include <gtest/gtest.h>

#include "bntt/zoo.h"
#include "train/memory_need.h"

namespace bntt {
namespace {

// A readout alone, on paper: 3 inputs in 2 classes are 6 weights.
TEST(MemoryNeed, OfAReadoutOnPaper) {
  const NetworkSpec spec{.input = {3, 1, 1}, .steps = 5, .stages = {Readout{.classes = 2}}};
  constexpr int64_t kParameters = 3 * 6 * 4;
  constexpr int64_t kFrames = 5 * 10;  // steps x images
  EXPECT_EQ(training_bytes(spec, 10, Precision::fp32),
            kParameters + kFrames * (2 * 4 + 8) + 2 * kFrames * 2 * 4);
  EXPECT_EQ(training_bytes(spec, 10, Precision::mixed),
            kParameters + kFrames * (2 * 2 + 8) + 2 * kFrames * 2 * 4);
  EXPECT_EQ(training_bytes(spec, 10, Precision::bf16),
            kParameters + kFrames * (2 * 2 + 8) + 2 * kFrames * 2 * 2);
}

// 6 weights twice, membranes and currents of 2 classes, 3 inputs and a word of spikes at every
// step.
TEST(MemoryNeed, OfAnEvaluationOnPaper) {
  const NetworkSpec spec{.input = {3, 1, 1}, .steps = 5, .stages = {Readout{.classes = 2}}};
  EXPECT_EQ(evaluation_bytes(spec, 10), 2 * 6 * 4 + 10 * 2 * 4 + 50 * (2 * 4 + 3 * 4 + 8));
}

TEST(MemoryNeed, GrowsWithTheBatchButForTheParameters) {
  const NetworkSpec spec = vgg9({});
  const int64_t one = training_bytes(spec, 1, Precision::mixed);
  const int64_t two = training_bytes(spec, 2, Precision::mixed);
  const int64_t three = training_bytes(spec, 3, Precision::mixed);
  EXPECT_EQ(three - two, two - one);
  EXPECT_GT(evaluation_bytes(spec, 2), evaluation_bytes(spec, 1));
  EXPECT_LT(evaluation_bytes(spec, 100), training_bytes(spec, 100, Precision::mixed));
  const auto bytes = [](int64_t steps) {
    return evaluation_bytes(vgg16({.steps = steps, .norm = {.kind = "none"}}), 4);
  };
  EXPECT_EQ(bytes(2500), bytes(25)) << "by windows";
}

TEST(MemoryNeed, OfReadingCountsTheBufferThatGrows) {
  EXPECT_EQ(reading_bytes(10'000, 784), 23'520'000);
  EXPECT_EQ(reading_bytes(0, 784), 0);
}

TEST(MemoryNeed, IsToldInFewDigits) {
  EXPECT_EQ(bytes_text(1), "1 MB");
  EXPECT_EQ(bytes_text(640'000'000), "640 MB");
  EXPECT_EQ(bytes_text(3'210'000'000), "3.2 GB");
}

}  // namespace
}  // namespace bntt
