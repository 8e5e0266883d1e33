#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "bntt/error.h"
#include "classical/hots.h"
#include "classical/surface_products.h"
#include "some_events.h"

namespace bntt {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using testing::some_events;

SparseSurface sparse(const std::vector<float>& values) {
  SparseSurface surface;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] == 0.0F) continue;
    surface.indices.push_back(static_cast<int32_t>(i));
    surface.values.push_back(values[i]);
    ++surface.size;
  }
  return surface;
}

TEST(Hots, RateFallsWithWins) {
  EXPECT_DOUBLE_EQ(hots_rate(0), 0.01);
  EXPECT_DOUBLE_EQ(hots_rate(20000), 0.005);
}

TEST(Hots, UpdateOnPaper) {
  HotsLayer layer(1, 4);
  layer.set_prototype(0, std::vector<float>{1, 0, 0, 0}, 1);
  EXPECT_EQ(layer.learn(sparse({1, std::exp(-1.0F), 0, 0})), 0);
  EXPECT_EQ(layer.wins(0), 2);
  EXPECT_THAT(layer.prototype(0),
              ElementsAre(FloatNear(1.000615F, 5e-7F), FloatNear(0.003679F, 5e-7F), 0.0F, 0.0F));
}

TEST(Hots, OwnSurfaceLeavesAPrototypeAndHalfOfItShrinksIt) {
  const std::vector<float> prototype = {0.5F, 0.25F, 0, 1};
  HotsLayer layer(1, 4);
  layer.set_prototype(0, prototype, 0);
  layer.learn(sparse(prototype));
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(layer.prototype(0)[i], prototype[i], 1e-7);
  layer.set_prototype(0, prototype, 0);
  layer.learn(sparse({0.25F, 0.125F, 0, 0.5F}));
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(layer.prototype(0)[i], 0.995 * prototype[i], 1e-7);
}

/// The definition, entry by entry.
class PlainSurfaces {
 public:
  PlainSurfaces(int64_t radius, double tau_us) : radius_(radius), tau_us_(tau_us) {}
  std::vector<double> at(const Event& event, int64_t polarity, int64_t polarities) {
    last_[{event.x, event.y, polarity}] = event.time_us;
    std::vector<double> surface;
    for (int64_t y = event.y - radius_; y <= event.y + radius_; ++y) {
      for (int64_t x = event.x - radius_; x <= event.x + radius_; ++x) {
        for (int64_t q = 0; q < polarities; ++q) {
          const auto found = last_.find({x, y, q});
          surface.push_back(
              found == last_.end()
                  ? 0.0
                  : std::exp(-static_cast<double>(event.time_us - found->second) / tau_us_));
        }
      }
    }
    return surface;
  }

 private:
  int64_t radius_;
  double tau_us_;
  std::map<std::tuple<int64_t, int64_t, int64_t>, int64_t> last_;
};

TEST(Hots, SurfacesAreThoseOfTheDefinition) {
  // Over 200 time constants, so that the map's start moves several times.
  const Recording recording = some_events({.count = 1500, .longest_gap_us = 1000});
  const double tau_us = 3000;
  TimeSurfaces surfaces(recording.sensor, {.radius = 3, .polarities = 2, .tau_us = tau_us});
  PlainSurfaces plain(3, tau_us);
  SparseSurface surface;
  for (const Event& event : recording.events) {
    const int64_t polarity = event.on ? 1 : 0;
    surfaces.surface_at(event.x, event.y, polarity, event.time_us, surface);
    const std::vector<double> expected = plain.at(event, polarity, 2);
    std::vector<double> found(expected.size());
    for (int64_t i = 0; i < surface.size; ++i) found[surface.indices[i]] = surface.values[i];
    for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(found[i], expected[i], 1e-6);
    ASSERT_NEAR(found[(3 * 7 + 3) * 2 + polarity], 1.0, 1e-6) << "its own centre";
  }
}

TEST(Hots, CutoffForgetsWhatIsOld) {
  TimeSurfaces surfaces({4, 1}, {.radius = 1, .polarities = 1, .tau_us = 1000, .cutoff = 0.1});
  SparseSurface surface;
  surfaces.surface_at(0, 0, 0, 0, surface);
  surfaces.surface_at(1, 0, 0, 2000, surface);
  EXPECT_EQ(surface.size, 2);
  surfaces.surface_at(1, 0, 0, 2400, surface);
  EXPECT_EQ(surface.size, 1) << "exp(-2.4) is below 0.1";
}

TEST(Hots, ProductsOfEveryLane) {
  for (const int64_t stride : {16, 32}) {
    for (const std::size_t entries : {0U, 1U, 3U, 4U, 11U}) {
      std::vector<float> table(static_cast<std::size_t>(40 * stride));
      for (std::size_t i = 0; i < table.size(); ++i) table[i] = static_cast<float>(i % 23) - 11;
      std::vector<int32_t> indices;
      std::vector<float> values;
      for (std::size_t i = 0; i < entries; ++i) {
        indices.push_back(static_cast<int32_t>(3 * i + 1));
        values.push_back(static_cast<float>(i) + 0.5F);
      }
      std::vector<float> products(static_cast<std::size_t>(stride));
      surface_products(indices, values, table.data(), stride, products.data());
      for (int64_t k = 0; k < stride; ++k) {
        float expected = 0.0F;
        for (std::size_t i = 0; i < entries; ++i) {
          expected += values[i] * table[indices[i] * stride + k];
        }
        ASSERT_EQ(products[k], expected) << "halves and whole numbers are exact";
      }
    }
  }
}

const HotsOptions kSmall = {.prototypes = {3, 5}, .radius = {1, 2}, .tau_us = {2000.0, 20000.0}};

Hots learned(const HotsOptions& options, const Recording& recording) {
  Hots hots(recording.sensor, options);
  for (int64_t l = 0; l < hots.layers(); ++l) Hots::Learning(hots, l, 1).add(recording);
  return hots;
}

TEST(Hots, LearningIsThatOfTheDefinition) {
  const Recording recording = some_events({.count = 2000});
  // From random vectors: the first surfaces may be alike, and a last bit then decides who wins.
  HotsOptions options = kSmall;
  options.start = HotsStart::random;
  Hots hots(recording.sensor, options);
  Hots::Learning learning(hots, 0, 1);
  std::vector<std::vector<double>> prototypes;
  for (int64_t k = 0; k < 3; ++k) {
    const std::vector<float> first = hots.layer(0).prototype(k);
    prototypes.emplace_back(first.begin(), first.end());
  }
  learning.add(recording);
  PlainSurfaces plain(1, kSmall.tau_us[0]);
  std::vector<int64_t> wins(3);
  const auto dot = [](const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  };
  for (const Event& event : recording.events) {
    const std::vector<double> surface = plain.at(event, event.on ? 1 : 0, 2);
    std::size_t nearest = 0;
    std::vector<double> distances;
    for (const std::vector<double>& prototype : prototypes) {
      double squares = 0.0;
      for (std::size_t i = 0; i < surface.size(); ++i) {
        squares += (prototype[i] - surface[i]) * (prototype[i] - surface[i]);
      }
      distances.push_back(squares);
      if (squares < distances[nearest]) nearest = distances.size() - 1;
    }
    std::vector<double>& moved = prototypes[nearest];
    const double cosine =
        dot(moved, surface) / std::sqrt(dot(moved, moved) * dot(surface, surface));
    const double rate = hots_rate(wins[nearest]++);
    for (std::size_t i = 0; i < surface.size(); ++i) {
      moved[i] += rate * (surface[i] - cosine * moved[i]);
    }
  }
  for (int64_t k = 0; k < 3; ++k) {
    EXPECT_EQ(hots.layer(0).wins(k), wins[k]);
    const std::vector<float> found = hots.layer(0).prototype(k);
    for (std::size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], prototypes[k][i], 1e-4);
  }
}

TEST(Hots, FirstSurfacesAreThePrototypesAtFirst) {
  Recording recording = some_events({.count = 3});
  const Hots hots = learned(kSmall, recording);
  PlainSurfaces plain(1, kSmall.tau_us[0]);
  for (int64_t k = 0; k < 3; ++k) {
    const Event& event = recording.events[k];
    const std::vector<double> surface = plain.at(event, event.on ? 1 : 0, 2);
    const std::vector<float> prototype = hots.layer(0).prototype(k);
    for (std::size_t i = 0; i < surface.size(); ++i) ASSERT_NEAR(prototype[i], surface[i], 1e-6);
    EXPECT_EQ(hots.layer(0).wins(k), 1);
  }
}

TEST(Hots, LayersPreserveEventsAndTimes) {
  const Recording recording = some_events();
  const Hots hots = learned(kSmall, recording);
  for (int64_t layers = 1; layers <= 2; ++layers) {
    const std::vector<Hots::Output> outputs = hots.outputs(recording, layers);
    ASSERT_EQ(outputs.size(), recording.events.size());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      ASSERT_EQ(outputs[i].time_us, recording.events[i].time_us);
      ASSERT_EQ(outputs[i].x, recording.events[i].x);
      ASSERT_LT(outputs[i].prototype, kSmall.prototypes[layers - 1]);
    }
  }
  double events = 0.0;
  for (const double count : hots.histogram(recording)) events += count;
  EXPECT_EQ(events, 500.0);
}

TEST(Hots, RecordingsDoNotSeeEachOther) {
  const Recording recording = some_events();
  const Hots hots = learned(kSmall, recording);
  EXPECT_EQ(hots.histogram(recording), hots.histogram(recording));
  Recording later = recording;
  for (Event& event : later.events) event.time_us += 40'000'000'000;
  EXPECT_EQ(hots.histogram(later), hots.histogram(recording));
}

TEST(Hots, FilterDropsLonelyEvents) {
  const Recording recording = some_events();
  HotsOptions options = kSmall;
  options.filter = true;
  options.cutoff = 0.5;
  const Hots hots = learned(options, recording);
  const std::size_t left = hots.outputs(recording, 1).size();
  EXPECT_GT(left, 0U);
  EXPECT_LT(left, recording.events.size());
}

TEST(Hots, RandomStartHasLengthOneAndASeed) {
  HotsOptions options = kSmall;
  options.start = HotsStart::random;
  const SensorSize sensor = {20, 10};
  const auto first = [&](uint64_t seed) {
    Hots hots(sensor, options);
    const Hots::Learning learning(hots, 0, seed);
    return hots.layer(0).prototype(2);
  };
  double squares = 0.0;
  for (const float value : first(1)) squares += static_cast<double>(value) * value;
  EXPECT_NEAR(squares, 1.0, 1e-6);
  EXPECT_EQ(first(1), first(1));
  EXPECT_NE(first(1), first(2));
}

TEST(Hots, LayersNeedAsManyOfEach) {
  HotsOptions options = kSmall;
  options.radius = {1};
  EXPECT_THROW(Hots({20, 10}, options), Error);
}

}  // namespace
}  // namespace bntt
