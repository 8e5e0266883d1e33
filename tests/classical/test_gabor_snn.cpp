#include <gtest/gtest.h>

#include <numeric>

#include "classical/gabor_snn.h"
#include "some_events.h"

namespace bntt {
namespace {

constexpr SensorSize kSensor = {32, 32};

TEST(GaborSnn, FeatureCountOfTheDocument) { EXPECT_EQ(GaborSnn({128, 128}, {}).features(), 6144); }

TEST(GaborSnn, RotatedInputMovesCountsBySixOrientations) {
  const Recording recording =
      testing::some_events({.sensor = kSensor, .count = 6000, .longest_gap_us = 4});
  const GaborSnn network(kSensor, {});
  const std::vector<double> before = network.spike_counts(recording.events);
  ASSERT_GT(std::accumulate(before.begin(), before.end(), 0.0), 500.0);
  // A quarter turn: what was at column x is now at row x.
  std::vector<Event> turned = recording.events;
  for (Event& event : turned) {
    const int16_t x = event.x;
    event.x = static_cast<int16_t>(kSensor.width - 1 - event.y);
    event.y = x;
  }
  const std::vector<double> after = network.spike_counts(turned);
  const auto at = [](int64_t cell_x, int64_t cell_y, int64_t polarity, int64_t k) {
    return static_cast<std::size_t>(((cell_y * 4 + cell_x) * 2 + polarity) * 12 + k);
  };
  for (int64_t y = 0; y < 4; ++y) {
    for (int64_t x = 0; x < 4; ++x) {
      for (int64_t polarity = 0; polarity < 2; ++polarity) {
        for (int64_t k = 0; k < 12; ++k) {
          ASSERT_EQ(after[at(3 - y, x, polarity, (k + 6) % 12)], before[at(x, y, polarity, k)]);
        }
      }
    }
  }
}

/// Spikes of events that run along a line of seven pixels again and again.
double line_spikes(const GaborSnnOptions& options, int events, int64_t spacing_us) {
  std::vector<Event> line;
  for (int i = 0; i < events; ++i) {
    line.push_back(
        {.time_us = i * spacing_us, .x = 12, .y = static_cast<int16_t>(9 + i % 7), .on = true});
  }
  const std::vector<double> counts = GaborSnn(kSensor, options).spike_counts(line);
  return std::accumulate(counts.begin(), counts.end(), 0.0);
}

TEST(GaborSnn, NeuronForgets) {
  EXPECT_GT(line_spikes({}, 7, 1), 0.0);
  EXPECT_EQ(line_spikes({}, 7, 20'000), 0.0) << "two time constants apart";
}

TEST(GaborSnn, NeuronRestsAfterASpike) {
  // At most one spike of each of the neurons within 3 pixels, in 21 microseconds.
  EXPECT_LE(line_spikes({}, 210, 1), 7 * 13 * 12);
  EXPECT_GT(line_spikes({.refractory_us = 0}, 210, 1), line_spikes({}, 210, 1));
}

TEST(GaborSnn, LengthIsOne) {
  const Recording recording =
      testing::some_events({.sensor = kSensor, .count = 6000, .longest_gap_us = 4});
  double squares = 0.0;
  for (const FeatureEntry& entry : GaborSnn(kSensor, {}).extract(recording)) {
    squares += static_cast<double>(entry.value) * entry.value;
  }
  EXPECT_NEAR(squares, 1.0, 1e-6);
}

}  // namespace
}  // namespace bntt
