#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "classical/hfirst.h"
#include "some_events.h"

namespace bntt {
namespace {

using ::testing::ElementsAre;

constexpr SensorSize kSensor = {34, 34};

TEST(GaborBank, RowsOnPaper) {
  const GaborBank bank;
  std::vector<int> row;
  for (int x = -3; x <= 3; ++x) row.push_back(bank.at(x, 0, 0));
  EXPECT_THAT(row, ElementsAre(-9, -14, 9, 27, 9, -14, -9));
  int upright = 0;
  int across = 0;
  for (int y = -3; y <= 3; ++y) {
    upright += bank.at(0, y, 0);
    across += bank.at(0, y, 6);
  }
  EXPECT_EQ(upright, 187);
  EXPECT_EQ(across, -1);
}

/// Seven events in a line, `spacing_ms` apart, each with the spikes that it causes.
std::vector<std::vector<OrientedSpike>> line_spikes(HfirstS1& s1, bool transposed,
                                                    int64_t spacing_ms) {
  std::vector<std::vector<OrientedSpike>> result;
  for (int64_t i = 0; i < 7; ++i) {
    result.emplace_back();
    const int64_t along = 7 + i;
    s1.feed(transposed ? along : 10, transposed ? 10 : along, 100 + i * spacing_ms, result.back());
  }
  return result;
}

TEST(Hfirst, SevenEventsInOneMillisecond) {
  const GaborBank bank;
  HfirstS1 s1(kSensor, {}, bank);
  std::vector<OrientedSpike> none;
  const auto spikes = line_spikes(s1, false, 0);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(spikes[i].empty()) << i;
  EXPECT_THAT(spikes[5], ElementsAre(OrientedSpike{100, 10, 9, 0}, OrientedSpike{100, 10, 10, 0}));
  EXPECT_THAT(spikes[6], ElementsAre(OrientedSpike{100, 10, 11, 0}));
}

TEST(Hfirst, SpikesComeAtTheVoltageOnPaper) {
  const GaborBank bank;
  HfirstS1 firing(kSensor, {.s1_threshold = 160}, bank);
  EXPECT_EQ(line_spikes(firing, false, 0)[5].size(), 2U);
  HfirstS1 silent(kSensor, {.s1_threshold = 161}, bank);
  EXPECT_TRUE(line_spikes(silent, false, 0)[5].empty()) << "fires above the threshold, not at it";
}

TEST(Hfirst, TransposedLineHasTheOtherOrientation) {
  const GaborBank bank;
  HfirstS1 s1(kSensor, {}, bank);
  const auto spikes = line_spikes(s1, true, 0);
  EXPECT_THAT(spikes[5], ElementsAre(OrientedSpike{100, 9, 10, 6}, OrientedSpike{100, 10, 10, 6}));
  EXPECT_THAT(spikes[6], ElementsAre(OrientedSpike{100, 11, 10, 6}));
}

TEST(Hfirst, LeakKeepsAnEventEveryMillisecondSilent) {
  const GaborBank bank;
  HfirstS1 s1(kSensor, {}, bank);
  std::vector<OrientedSpike> spikes;
  std::vector<int64_t> voltage;
  for (int64_t i = 0; i < 7; ++i) {
    s1.feed(10, 7 + i, 100 + i, spikes);
    voltage.push_back(s1.voltage(10, 10, 0));
  }
  EXPECT_TRUE(spikes.empty());
  EXPECT_EQ(voltage[0], 26);
  EXPECT_EQ(voltage[1], 28);
  EXPECT_EQ(voltage[6], 37);
}

TEST(Hfirst, PixelRestsAfterASpike) {
  const GaborBank bank;
  HfirstS1 s1(kSensor, {}, bank);
  line_spikes(s1, false, 0);
  std::vector<OrientedSpike> spikes;
  s1.feed(10, 10, 105, spikes);
  EXPECT_EQ(s1.voltage(10, 10, 0), 0) << "not updated 5 ms after its spike";
  s1.feed(10, 10, 106, spikes);
  EXPECT_EQ(s1.voltage(10, 10, 0), 27);
}

TEST(Hfirst, BlocksLetTheFirstSpikePass) {
  HfirstC1 c1(kSensor, {});
  EXPECT_EQ(c1.columns(), 9);
  EXPECT_EQ(c1.size(), 9 * 9 * 12);
  EXPECT_TRUE(c1.pass({.time_ms = 10, .x = 4, .y = 4, .orientation = 1}));
  EXPECT_FALSE(c1.pass({.time_ms = 14, .x = 7, .y = 7, .orientation = 2}));
  EXPECT_TRUE(c1.pass({.time_ms = 14, .x = 8, .y = 7, .orientation = 2})) << "another block";
  EXPECT_TRUE(c1.pass({.time_ms = 16, .x = 5, .y = 5, .orientation = 3}));
}

TEST(Hfirst, WeightsFromCounts) {
  const std::vector<int64_t> counts = {3, 4, 0};
  EXPECT_THAT(hfirst_weights(counts), ElementsAre(60, 80, -1));
}

TEST(Hfirst, ClassesVoteWithSpikes) {
  // Two spikes of 80 pass the threshold of 150 while the leak of 1 mV/ms takes less than 10.
  const HfirstClassifier classifier({{80, 0.5, 0}, {0, 90, 80}}, {});
  const auto votes = [&](const std::vector<BlockSpike>& spikes) {
    return classifier.votes(spikes);
  };
  EXPECT_THAT(votes({{0, 0}, {9, 0}}), ElementsAre(1, 0));
  EXPECT_THAT(votes({{0, 0}, {10, 0}}), ElementsAre(0, 0));
  EXPECT_THAT(votes({{0, 1}, {0, 2}, {5, 1}, {6, 1}, {6, 1}}), ElementsAre(0, 2))
      << "the spike at 5 ms meets resting neurons";
  EXPECT_EQ(most_votes(std::vector<int64_t>{0, 0}), -1);
  EXPECT_EQ(most_votes(std::vector<int64_t>{1, 2, 2}), 1);
}

TEST(Hfirst, ClassesThatCrossTogetherAllFire) {
  const HfirstClassifier classifier({{200}, {200}, {100}}, {});
  EXPECT_THAT(classifier.votes(std::vector<BlockSpike>{{0, 0}}), ElementsAre(1, 1, 0));
}

TEST(Hfirst, FrontMergesPolarities) {
  // Three events of each polarity in a line do not make six of one.
  Recording recording{.sensor = kSensor, .events = {}};
  for (int i = 0; i < 7; ++i) {
    recording.events.push_back(
        {.time_us = 10 * i, .x = 10, .y = static_cast<int16_t>(7 + i), .on = i % 2 == 0});
  }
  const HfirstFront front(kSensor, {.noise_us = 0});
  EXPECT_TRUE(front.spikes(recording).empty());
  for (Event& event : recording.events) event.on = true;
  EXPECT_EQ(front.spikes(recording).size(), 1U) << "(10, 9), (10, 10), (10, 11) share a block";
  for (Event& event : recording.events) event.on = false;
  EXPECT_EQ(front.spikes(recording).size(), 1U);
}

}  // namespace
}  // namespace bntt
