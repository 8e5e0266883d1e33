#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "bntt/error.h"
#include "classical/hats.h"
#include "some_events.h"

namespace bntt {
namespace {

using testing::some_events;

constexpr SensorSize kSensor = {20, 10};
constexpr HatsOptions kWorked = {.cell = 10, .radius = 3, .window_us = 100'000, .tau_us = 50'000};

std::vector<Event> worked_events() {
  const auto event = [](int x, int y, int64_t ms, bool on) {
    return Event{
        .time_us = 1000 * ms, .x = static_cast<int16_t>(x), .y = static_cast<int16_t>(y), .on = on};
  };
  return {event(2, 2, 0, true),   event(3, 2, 40, true), event(3, 2, 50, true),
          event(2, 2, 60, false), event(9, 2, 61, true), event(10, 2, 70, true),
          event(2, 2, 120, true)};
}

std::size_t place(int64_t cell, int64_t polarity, int dx, int dy, int64_t radius = 3) {
  const int64_t side = 2 * radius + 1;
  return static_cast<std::size_t>(((cell * 2 + polarity) * side + dy + radius) * side + dx +
                                  radius);
}

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

TEST(Hats, WorkedExampleDividedByAllEventsOfTheCell) {
  const Hats hats(kSensor, kWorked);
  EXPECT_EQ(hats.features(), 2 * 2 * 49);
  const std::vector<double> features = hats.surfaces(worked_events());
  EXPECT_NEAR(features[place(0, 1, -1, 0)], 0.136201, 5e-7);
  EXPECT_NEAR(features[place(0, 1, 0, 0)], 0.136455, 5e-7);
  EXPECT_NEAR(features[place(0, 1, 1, 0)], 0.074749, 5e-7);
  // All else is 0: the OFF plane, and the event that sees nothing across the border.
  EXPECT_NEAR(sum(features), 0.136201 + 0.136455 + 0.074749, 2e-6);
}

TEST(Hats, WorkedExampleDividedByPolarity) {
  HatsOptions options = kWorked;
  options.divisor = HatsDivisor::polarity;
  const std::vector<double> features = Hats(kSensor, options).surfaces(worked_events());
  EXPECT_NEAR(features[place(0, 1, -1, 0)], 0.163442, 5e-7);
  EXPECT_NEAR(features[place(0, 1, 0, 0)], 0.163746, 5e-7);
  EXPECT_NEAR(features[place(0, 1, 1, 0)], 0.089699, 5e-7);
  // Five events: the sums themselves.
  EXPECT_NEAR(5 * features[place(0, 1, -1, 0)], 0.817208, 5e-7);
  EXPECT_NEAR(5 * features[place(0, 1, 0, 0)], 0.818731, 5e-7);
  EXPECT_NEAR(5 * features[place(0, 1, 1, 0)], 0.448494, 1e-6);
}

TEST(Hats, MemoryOfTheSensorSeesAcrossBorders) {
  HatsOptions options = kWorked;
  options.memory = HatsMemory::sensor;
  const std::vector<double> features = Hats(kSensor, options).surfaces(worked_events());
  // (10, 2) at 70 ms sees (9, 2) at 61 ms, and is alone in its cell.
  EXPECT_NEAR(features[place(1, 1, -1, 0)], std::exp(-9.0 / 50.0), 1e-12);
}

TEST(Hats, OwnEventsNeighboursAndTies) {
  const std::vector<Event> twins = {{.time_us = 7, .x = 2, .y = 2, .on = true},
                                    {.time_us = 7, .x = 3, .y = 2, .on = true}};
  EXPECT_EQ(sum(Hats(kSensor, kWorked).surfaces(twins)), 0.0) << "equal times are hidden";
  HatsOptions options = kWorked;
  options.ties = HatsTies::listed;
  EXPECT_EQ(Hats(kSensor, options).surfaces(twins)[place(0, 1, -1, 0)], 0.5);
  options = kWorked;
  options.self = HatsSelf::counted;
  EXPECT_EQ(Hats(kSensor, options).surfaces(twins)[place(0, 1, 0, 0)], 1.0);
  options = kWorked;
  options.divisor = HatsDivisor::neighbours;
  const std::vector<double> features = Hats(kSensor, options).surfaces(worked_events());
  // (3, 2) at 50 ms sees two events, (3, 2) at 40 ms one.
  EXPECT_NEAR(features[place(0, 1, -1, 0)], std::exp(-0.8) + std::exp(-1.0) / 2, 1e-12);
}

TEST(Hats, FeatureCountsOfThePublishedSettings) {
  EXPECT_EQ(Hats({34, 34}, {.cell = 5, .radius = 2}).features(), 2450);
  EXPECT_EQ(Hats({128, 128}, {.cell = 12, .radius = 4}).features(), 19602);
  EXPECT_EQ(Hats({64, 56}, {.cell = 10, .radius = 3}).features(), 4116);
  EXPECT_EQ(
      Hats({64, 56}, {.cell = 10, .radius = 3, .grid = HatsGrid::floor, .merge_polarities = true})
          .features(),
      1470);
  EXPECT_THROW(Hats({9, 20}, {.cell = 10, .grid = HatsGrid::floor}), Error);
}

TEST(Hats, LaterRecordingIsTheSame) {
  Recording recording = some_events();
  const Hats hats(kSensor, kWorked);
  const SparseFeatures before = hats.extract(recording);
  EXPECT_FALSE(before.empty());
  for (Event& event : recording.events) event.time_us += 123'456'789;
  EXPECT_EQ(hats.extract(recording), before);
}

TEST(Hats, OtherPolaritySwapsPlanes) {
  Recording recording = some_events();
  const Hats hats(kSensor, kWorked);
  const std::vector<double> before = hats.surfaces(recording.events);
  for (Event& event : recording.events) event.on = !event.on;
  const std::vector<double> after = hats.surfaces(recording.events);
  for (std::size_t i = 0; i < before.size(); ++i) {
    ASSERT_EQ(after[(i / 49 ^ 1) * 49 + i % 49], before[i]);
  }
}

TEST(Hats, ShiftByACellMovesBlocks) {
  Recording recording = some_events({.sensor = {10, 10}});
  const Hats hats(kSensor, kWorked);
  const std::vector<double> before = hats.surfaces(recording.events);
  for (Event& event : recording.events) event.x = static_cast<int16_t>(event.x + 10);
  const std::vector<double> after = hats.surfaces(recording.events);
  EXPECT_TRUE(std::equal(before.begin(), before.begin() + 98, after.begin() + 98));
  EXPECT_GT(sum(before), 0.0);
}

TEST(Hats, MergedPolaritiesSeeEachOther) {
  HatsOptions options = kWorked;
  options.merge_polarities = true;
  const std::vector<Event> events = {{.time_us = 0, .x = 2, .y = 2, .on = true},
                                     {.time_us = 50'000, .x = 2, .y = 2, .on = false}};
  EXPECT_NEAR(sum(Hats(kSensor, options).surfaces(events)), std::exp(-1.0) / 2, 1e-12);
}

TEST(Hats, LengthIsOneWhereWanted) {
  HatsOptions options = kWorked;
  options.normalise = HatsNormalise::length;
  double squares = 0.0;
  for (const FeatureEntry& entry : Hats(kSensor, options).extract(some_events())) {
    squares += static_cast<double>(entry.value) * entry.value;
  }
  EXPECT_NEAR(squares, 1.0, 1e-6);
}

}  // namespace
}  // namespace bntt
