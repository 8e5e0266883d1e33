#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/random.h"
#include "layers/synapse.h"

namespace bntt {
namespace {

StagePlan stage_plan(SynapseKind kind, MapShape source, int64_t pool, int64_t outputs) {
  const MapShape input{source.channels, source.height / pool, source.width / pool};
  const bool conv = kind == SynapseKind::conv3x3;
  StagePlan plan;
  plan.synapse = kind;
  plan.source = source;
  plan.pool_height = pool;
  plan.pool_width = pool;
  plan.input = input;
  plan.output = conv ? MapShape{outputs, input.height, input.width} : MapShape{outputs, 1, 1};
  plan.weights = (conv ? 9 * input.channels : input.size()) * outputs;
  return plan;
}

Buffer<float> numbers(int64_t size, uint32_t which) {
  Buffer<float> values(size);
  for (int64_t i = 0; i < size; ++i) {
    const auto bits =
        draw4(7, Purpose::weights, {.sample = which, .block = static_cast<uint32_t>(i)});
    values[i] = uniform01(bits[0]) - 0.5F;
  }
  return values;
}

/// Frame f has about f · 4 % of its places set; two planes of unequal weight.
SpikeTrain spikes_of_rising_density(const MapShape& map, int64_t frames, int64_t steps = 1) {
  SpikeTrain spikes(steps, frames / steps, map, {1.0F, -1.0F});
  for (int64_t f = 0; f < frames; ++f) {
    for (int64_t i = 0; i < map.size(); ++i) {
      const auto bits =
          draw4(7, Purpose::encoding,
                {.sample = static_cast<uint32_t>(f), .block = static_cast<uint32_t>(i)});
      if (uniform01(bits[0]) >= 0.04F * static_cast<float>(f)) continue;
      const int64_t pixel = i / map.channels;
      spikes.set(bits[1] % 2, f / spikes.batch(), f % spikes.batch(), pixel / map.width,
                 pixel % map.width, i % map.channels);
    }
  }
  return spikes;
}

DenseTrain as_dense(const SpikeTrain& spikes) {
  DenseTrain dense{1, spikes.batch(), spikes.shape(), false,
                   Buffer<float>(spikes.batch() * spikes.shape().size())};
  int64_t at = 0;
  for (int64_t f = 0; f < spikes.batch(); ++f) {
    for (int64_t y = 0; y < spikes.shape().height; ++y) {
      for (int64_t x = 0; x < spikes.shape().width; ++x) {
        for (int64_t c = 0; c < spikes.shape().channels; ++c) {
          dense.values[at++] = spikes.value(0, f, y, x, c);
        }
      }
    }
  }
  return dense;
}

struct Results {
  Buffer<float> current, weight_gradient;
};

Results run(const StagePlan& plan, const Signal& input, const BreakEven& break_even) {
  const auto synapse = make_synapse(plan);
  synapse->set_break_even(break_even);
  const Buffer<float> weights = numbers(plan.weights, 1);
  const int64_t frames = stored_frames(input);
  Results results{Buffer<float>(frames * plan.output.size()), Buffer<float>(plan.weights)};
  std::vector<int> heard_of(frames, 0);
  results.current.fill(std::numeric_limits<float>::quiet_NaN());
  synapse->forward(input, *synapse->prepare(weights.data()), results.current.data(),
                   [&](int64_t first, int64_t end, const float* written) {
                     EXPECT_EQ(written, results.current.data() + first * plan.output.size());
                     const bool complete =
                         std::none_of(written, written + (end - first) * plan.output.size(),
                                      [](float value) { return std::isnan(value); });
                     for (int64_t f = first; f < end; ++f) heard_of[f] += complete ? 1 : 100;
                   });
  EXPECT_THAT(heard_of, ::testing::Each(1)) << "each frame once, when it is complete";
  const Buffer<float> gradient = numbers(results.current.size(), 2);
  synapse->weight_gradient(input, gradient.data(), results.weight_gradient.data());
  return results;
}

double relative_error(const Buffer<float>& ours, const Buffer<float>& expected) {
  double difference = 0.0;
  double size = 0.0;
  for (int64_t i = 0; i < ours.size(); ++i) {
    difference += std::pow(ours[i] - expected[i], 2);
    size += std::pow(expected[i], 2);
  }
  return std::sqrt(difference / size);
}

constexpr BreakEven kAlwaysWalk{100.0F, 100.0F};
constexpr BreakEven kAlwaysDense{-1.0F, -1.0F};

class SynapsePaths : public ::testing::TestWithParam<StagePlan> {};
INSTANTIATE_TEST_SUITE_P(Shapes, SynapsePaths,
                         ::testing::Values(stage_plan(SynapseKind::conv3x3, {8, 5, 6}, 1, 9),
                                           stage_plan(SynapseKind::conv3x3, {17, 9, 8}, 2, 20),
                                           stage_plan(SynapseKind::conv3x3, {3, 6, 6}, 1, 12),
                                           stage_plan(SynapseKind::dense, {70, 5, 4}, 2, 33),
                                           stage_plan(SynapseKind::dense, {130, 1, 1}, 1, 10)));

TEST_P(SynapsePaths, SpikesAndTheSameRealValuesGiveTheSame) {
  const SpikeTrain spikes = spikes_of_rising_density(GetParam().source, 12);
  const Results dense = run(GetParam(), as_dense(spikes), {});
  for (const BreakEven& break_even : {kAlwaysWalk, BreakEven{}, kAlwaysDense}) {
    const Results ours = run(GetParam(), spikes, break_even);
    EXPECT_LT(relative_error(ours.current, dense.current), 3e-6);
    EXPECT_LT(relative_error(ours.weight_gradient, dense.weight_gradient), 3e-6);
  }
}

TEST_P(SynapsePaths, EachFrameIsTakenByItsOwnDensity) {
  const SpikeTrain spikes = spikes_of_rising_density(GetParam().source, 12);
  const Results together = run(GetParam(), spikes, {});
  const int64_t size = GetParam().output.size();
  for (int64_t f = 0; f < spikes.batch(); ++f) {
    const std::vector<int64_t> one = {f};
    const Results alone = run(GetParam(), keep_images(Signal(spikes), one), {});
    for (int64_t i = 0; i < size; ++i) {
      ASSERT_EQ(alone.current[i], together.current[f * size + i]) << "frame " << f;
    }
  }
}

TEST_P(SynapsePaths, CurrentsThatNobodyKeepsAreTheSame) {
  const SpikeTrain spikes = spikes_of_rising_density(GetParam().source, 12);
  for (const Signal& input : {Signal(spikes), Signal(as_dense(spikes))}) {
    const Results kept = run(GetParam(), input, {});
    const auto synapse = make_synapse(GetParam());
    const Buffer<float> weights = numbers(GetParam().weights, 1);
    Buffer<float> seen(kept.current.size());
    const int64_t size = GetParam().output.size();
    synapse->forward(input, *synapse->prepare(weights.data()), nullptr,
                     [&](int64_t first, int64_t end, const float* currents) {
                       std::copy_n(currents, (end - first) * size, seen.data() + first * size);
                     });
    EXPECT_TRUE(std::ranges::equal(seen, kept.current));
  }
}

// Of such maps each frame is listed by itself: two could hold more spikes than are listed at once.
TEST(DenseSynapse, GroupsOfFramesAreTheBitsOfEachFrameAlone) {
  const StagePlan plan = stage_plan(SynapseKind::dense, {64, 1024, 1024}, 32, 5);
  SpikeTrain spikes(1, 3, plan.source, {1.0F, -1.0F});
  for (uint32_t i = 0; i < 3000; ++i) {
    const auto bits = draw4(7, Purpose::encoding, {.block = i});
    spikes.set(i % 2, 0, i % 3, bits[0] % 1024, bits[1] % 1024, bits[2] % 64);
  }
  const auto synapse = make_synapse(plan);
  const Buffer<float> weights = numbers(plan.weights, 1);
  const auto prepared = synapse->prepare(weights.data());
  const auto current_of = [&](const Signal& input) {
    Buffer<float> current(stored_frames(input) * plan.output.size());
    synapse->forward(input, *prepared, current.data(), [](int64_t, int64_t, const float*) {});
    return current;
  };
  const Buffer<float> together = current_of(spikes);
  for (int64_t f = 0; f < spikes.batch(); ++f) {
    const Buffer<float> alone = current_of(keep_images(Signal(spikes), std::vector<int64_t>{f}));
    EXPECT_TRUE(std::equal(alone.begin(), alone.end(), together.data() + f * plan.output.size()))
        << "frame " << f;
  }
}

TEST(InputGradients, MayOverwriteTheCurrentsGradient) {
  constexpr int64_t kFrames = 21;  // whole chunks and a rest
  for (const StagePlan& plan : {stage_plan(SynapseKind::conv3x3, {16, 6, 7}, 1, 16),
                                stage_plan(SynapseKind::conv3x3, {3, 6, 6}, 1, 3),
                                stage_plan(SynapseKind::dense, {40, 1, 1}, 1, 40)}) {
    const auto synapse = make_synapse(plan);
    const Buffer<float> weights = numbers(plan.weights, 1);
    Buffer<float> gradient = numbers(kFrames * plan.output.size(), 2);
    Buffer<float> apart(gradient.size());
    synapse->input_gradient(gradient.data(), weights.data(), kFrames, apart.data());
    synapse->input_gradient(gradient.data(), weights.data(), kFrames, gradient.data());
    EXPECT_TRUE(std::ranges::equal(gradient, apart));
  }
}

/// What `forward_by_rows` hands over, put together; every row once, and the steps in order.
Buffer<float> rows_of(const StagePlan& plan, const SpikeTrain& spikes,
                      const BreakEven& break_even) {
  const auto synapse = make_synapse(plan);
  synapse->set_break_even(break_even);
  const Signal input(spikes);
  EXPECT_TRUE(synapse->makes_rows(input));
  const Buffer<float> weights = numbers(plan.weights, 1);
  const MapShape& map = plan.output;
  Buffer<float> current(spikes.steps() * spikes.batch() * map.size());
  current.fill(std::numeric_limits<float>::quiet_NaN());
  Buffer<int64_t> steps_done = Buffer<int64_t>::zeros(spikes.batch() * map.height * map.channels);
  synapse->forward_by_rows(input, *synapse->prepare(weights.data()), [&](const CurrentRow& row) {
    int64_t& done = steps_done[(row.image * map.height + row.y) * map.channels + row.first_channel];
    done = done == row.step ? done + 1 : -100;
    float* frame = current.data() + (row.step * spikes.batch() + row.image) * map.size();
    for (int64_t x = 0; x < map.width; ++x) {
      std::copy_n(row.values + x * row.stride, row.channels,
                  frame + (row.y * map.width + x) * map.channels + row.first_channel);
    }
  });
  for (const int64_t done : steps_done) EXPECT_TRUE(done == 0 || done == spikes.steps());
  return current;
}

TEST_P(SynapsePaths, RowsAreTheBitsOfWholeFrames) {
  if (GetParam().synapse != SynapseKind::conv3x3) {
    EXPECT_FALSE(make_synapse(GetParam())->makes_rows(SpikeTrain(1, 1, GetParam().source)));
    return;
  }
  for (const int64_t steps : {1, 4, 12}) {
    const SpikeTrain spikes = spikes_of_rising_density(GetParam().source, 12, steps);
    for (const BreakEven& break_even : {kAlwaysWalk, BreakEven{}, kAlwaysDense}) {
      const Results frames = run(GetParam(), spikes, break_even);
      const Buffer<float> rows = rows_of(GetParam(), spikes, break_even);
      EXPECT_TRUE(std::ranges::equal(rows, frames.current)) << steps << " steps";
    }
  }
}

}  // namespace
}  // namespace bntt
