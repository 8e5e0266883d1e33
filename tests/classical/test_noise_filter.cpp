#include <gtest/gtest.h>

#include "classical/noise_filter.h"

namespace bntt {
namespace {

TEST(NoiseFilter, KeepsEventsWithCompany) {
  NoiseFilter filter({4, 4}, 10'000);
  EXPECT_FALSE(filter.keep({.time_us = 0, .x = 0, .y = 0}));
  EXPECT_FALSE(filter.keep({.time_us = 1'000, .x = 0, .y = 0})) << "its own pixel is no company";
  EXPECT_TRUE(filter.keep({.time_us = 10'999, .x = 1, .y = 1}));
  EXPECT_FALSE(filter.keep({.time_us = 11'000, .x = 3, .y = 3})) << "two pixels away";
  EXPECT_FALSE(filter.keep({.time_us = 21'000, .x = 2, .y = 3})) << "not less than 10 ms";
}

TEST(NoiseFilter, PolarityDoesNotMatterAndZeroKeepsAll) {
  const Recording recording{.sensor = {4, 4},
                            .events = {{.time_us = 5, .x = 3, .y = 3, .on = true},
                                       {.time_us = 6, .x = 3, .y = 2, .on = false}}};
  EXPECT_EQ(without_noise(recording, 10'000).size(), 1U);
  EXPECT_EQ(without_noise(recording, 0), recording.events);
}

}  // namespace
}  // namespace bntt
