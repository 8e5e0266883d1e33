#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/random.h"
#include "bntt/error.h"
#include "layers/synapses/prepared_weights.h"
#include "layers/synapses/synapse.h"

namespace bntt {
namespace {

struct Shape {
  SynapseKind kind = SynapseKind::conv;
  MapShape source;
  int64_t pool = 1;
  int64_t outputs = 1;
  ConvGeometry geometry;
  PoolKind pool_kind = PoolKind::average;
};

BranchPlan plan_of(const Shape& shape) {
  BranchPlan plan;
  plan.synapse = shape.kind;
  plan.source = shape.source;
  plan.pool = shape.pool_kind;
  plan.pool_height = shape.pool;
  plan.pool_width = shape.pool;
  plan.input = {shape.source.channels, shape.source.height / shape.pool,
                shape.source.width / shape.pool};
  plan.geometry = shape.geometry;
  switch (shape.kind) {
    case SynapseKind::conv:
      plan.output = shape.geometry.output(plan.input, shape.outputs);
      plan.fan_in = shape.geometry.taps() * plan.input.channels;
      break;
    case SynapseKind::dense:
      plan.output = {shape.outputs, 1, 1};
      plan.fan_in = plan.input.size();
      break;
    case SynapseKind::identity:
      plan.output = plan.input;
      return plan;
  }
  plan.weights = plan.fan_in * shape.outputs;
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

Results run(const BranchPlan& plan, const Signal& input, const BreakEven& break_even) {
  Synapse synapse(plan);
  synapse.set_break_even(break_even);
  const Buffer<float> weights = numbers(plan.weights, 1);
  const int64_t frames = stored_frames(input);
  Results results{Buffer<float>(frames * plan.output.size()), Buffer<float>(plan.weights)};
  std::vector<int> heard_of(frames, 0);
  results.current.fill(std::numeric_limits<float>::quiet_NaN());
  synapse.forward(input, PreparedWeights(weights.data()), results.current.data(),
                  [&](int64_t first, int64_t end, const float* written) {
                    EXPECT_EQ(written, results.current.data() + first * plan.output.size());
                    const bool complete =
                        std::none_of(written, written + (end - first) * plan.output.size(),
                                     [](float value) { return std::isnan(value); });
                    for (int64_t f = first; f < end; ++f) heard_of[f] += complete ? 1 : 100;
                  });
  EXPECT_THAT(heard_of, ::testing::Each(1)) << "each frame once, when it is complete";
  const Buffer<float> gradient = numbers(results.current.size(), 2);
  if (plan.weights > 0) {
    synapse.weight_gradient(input, {gradient.data()}, results.weight_gradient.data());
  }
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

constexpr ConvGeometry kPointwise{.kernel = 1, .stride = 1, .padding = 0};
constexpr ConvGeometry kShortcut{.kernel = 1, .stride = 2, .padding = 0};
constexpr ConvGeometry kHalving{.kernel = 3, .stride = 2, .padding = 1};
constexpr ConvGeometry kWide{.kernel = 5, .stride = 1, .padding = 2};
constexpr ConvGeometry kWidest{.kernel = 7, .stride = 2, .padding = 3};
constexpr ConvGeometry kUnpadded{.kernel = 3, .stride = 1, .padding = 0};

std::vector<BranchPlan> every_shape() {
  using enum SynapseKind;
  std::vector<BranchPlan> plans;
  for (const Shape& shape :
       {Shape{conv, {8, 5, 6}, 1, 9}, Shape{conv, {17, 9, 8}, 2, 20}, Shape{conv, {3, 6, 6}, 1, 12},
        Shape{conv, {70, 6, 5}, 1, 33, kPointwise}, Shape{conv, {16, 7, 6}, 1, 32, kShortcut},
        Shape{conv, {16, 7, 6}, 1, 32, kHalving}, Shape{conv, {9, 6, 7}, 1, 10, kWide},
        Shape{conv, {3, 9, 8}, 1, 11, kWidest}, Shape{conv, {8, 6, 6}, 1, 8, kUnpadded},
        Shape{conv, {8, 8, 8}, 2, 9, {}, PoolKind::sum}, Shape{dense, {70, 5, 4}, 2, 33},
        Shape{dense, {130, 1, 1}, 1, 10}, Shape{dense, {12, 6, 4}, 2, 7, {}, PoolKind::sum},
        Shape{identity, {70, 5, 6}, 1}, Shape{identity, {9, 6, 6}, 2}}) {
    plans.push_back(plan_of(shape));
  }
  return plans;
}

class SynapsePaths : public ::testing::TestWithParam<BranchPlan> {};
INSTANTIATE_TEST_SUITE_P(Shapes, SynapsePaths, ::testing::ValuesIn(every_shape()));

/// Weights that are scale · integer, with the scale of every output channel.
struct ScaledWeights {
  explicit ScaledWeights(const BranchPlan& plan) : weights(numbers(plan.weights, 1)) {
    if (plan.weights == 0) return;
    for (int64_t c = 0; c < plan.output.channels; ++c) {
      scales.push_back((0.5F + 0.1F * static_cast<float>(c % 7)) / 127.0F);
    }
    for (int64_t i = 0; i < weights.size(); ++i) {
      const float scale = scales[static_cast<std::size_t>(i) % scales.size()];
      weights[i] = scale * static_cast<float>(nearest_integer(weights[i], scale));
    }
  }
  float scale_at(int64_t output) const {
    return scales[static_cast<std::size_t>(output) % scales.size()];
  }

  Buffer<float> weights;
  std::vector<float> scales;
};

// Every entry of the list does what the last one, the reference, does.
TEST_P(SynapsePaths, EveryWayAgreesWithTheReference) {
  const BranchPlan& plan = GetParam();
  const Synapse synapse(plan);
  const SynapseWay& reference = *synapse.ways().back();
  const ScaledWeights scaled(plan);
  const Buffer<float>& weights = scaled.weights;
  const SpikeTrain spikes = spikes_of_rising_density(plan.source, 12);
  std::vector<int64_t> frames(12);
  std::iota(frames.begin(), frames.end(), 0);
  const Buffer<float> gradient = numbers(12 * plan.output.size(), 2);
  for (const Signal& input : {Signal(spikes), Signal(as_dense(spikes))}) {
    const PreparedWeights prepared(weights.span(), scaled.scales);
    const auto forward = [&](const SynapseWay& way) {
      Buffer<float> current(12 * plan.output.size());
      way.forward(input, frames, prepared.of(way, input), {current.data(), 0, plan.output.size()});
      if (way.arithmetic() == Arithmetic::int8) {
        for (int64_t i = 0; i < current.size(); ++i) current[i] *= scaled.scale_at(i);
      }
      return current;
    };
    const auto weight_gradient = [&](const SynapseWay& way) {
      Buffer<float> result(plan.weights);
      way.weight_gradient(input, {gradient.data()}, result.data());
      return result;
    };
    const auto input_gradient = [&](const SynapseWay& way) {
      Buffer<float> result(12 * plan.input.size());
      way.input_gradient({gradient.data()}, weights.data(), 12, {result.data()});
      return result;
    };
    for (const auto& way : synapse.ways()) {
      SCOPED_TRACE(way->name());
      const InputKind kind = InputKind::of(input);
      const double tolerance = way->arithmetic() == Arithmetic::bf16 ? 0.03 : 3e-6;
      if (way->does(SynapseOperation::forward, kind)) {
        EXPECT_LT(relative_error(forward(*way), forward(reference)), tolerance);
      }
      if (way->does(SynapseOperation::weight_gradient, kind)) {
        EXPECT_LT(relative_error(weight_gradient(*way), weight_gradient(reference)), tolerance);
      }
      if (way->does(SynapseOperation::input_gradient, {})) {
        EXPECT_LT(relative_error(input_gradient(*way), input_gradient(reference)), tolerance);
      }
    }
  }
}

Buffer<kernels::BFloat16> rounded(const Buffer<float>& values) {
  Buffer<kernels::BFloat16> halves(values.size());
  kernels::GradientPlace{nullptr, halves.data()}.write(values.data(), values.size());
  return halves;
}

// Gradients in bf16 are read as the floats that they are, and rounded only where they are written.
TEST_P(SynapsePaths, EveryWayTakesAndGivesGradientsInBf16) {
  constexpr int64_t kFrames = 13;
  const BranchPlan& plan = GetParam();
  const Synapse synapse(plan);
  const Buffer<float> weights = numbers(plan.weights, 1);
  const SpikeTrain spikes = spikes_of_rising_density(plan.source, kFrames);
  Buffer<float> floats = numbers(kFrames * plan.output.size(), 2);
  const Buffer<kernels::BFloat16> halves = rounded(floats);
  kernels::GradientView{nullptr, halves.data()}.read(floats.size(), floats.data());
  for (const Signal& input : {Signal(spikes), Signal(as_dense(spikes))}) {
    for (const auto& way : synapse.ways()) {
      SCOPED_TRACE(way->name());
      if (way->does(SynapseOperation::weight_gradient, InputKind::of(input))) {
        Buffer<float> of_floats(plan.weights);
        Buffer<float> of_halves(plan.weights);
        way->weight_gradient(input, {floats.data()}, of_floats.data());
        way->weight_gradient(input, {nullptr, halves.data()}, of_halves.data());
        EXPECT_TRUE(std::ranges::equal(of_halves, of_floats));
      }
      if (way->does(SynapseOperation::input_gradient, {})) {
        Buffer<float> as_floats(kFrames * plan.input.size());
        Buffer<kernels::BFloat16> as_halves(as_floats.size());
        way->input_gradient({floats.data()}, weights.data(), kFrames, {as_floats.data()});
        way->input_gradient({nullptr, halves.data()}, weights.data(), kFrames,
                            {nullptr, as_halves.data()});
        EXPECT_TRUE(std::ranges::equal(as_halves, rounded(as_floats)));
        way->input_gradient({floats.data()}, weights.data(), kFrames, {nullptr, as_halves.data()});
        EXPECT_TRUE(std::ranges::equal(as_halves, rounded(as_floats))) << "from floats";
      }
    }
  }
}

/// In units of the scales.
Buffer<float> integer_currents(const BranchPlan& plan, const Signal& input) {
  const Synapse synapse(plan);
  const ScaledWeights scaled(plan);
  const PreparedWeights prepared(scaled.weights.span(), scaled.scales);
  Buffer<float> current(stored_frames(input) * plan.output.size());
  synapse.forward(input, prepared, current.data(), [](int64_t, int64_t, const float*) {});
  return current;
}

TEST_P(SynapsePaths, Int8WaysServeThemselvesAlone) {
  const BranchPlan& plan = GetParam();
  const Synapse synapse(plan);
  for (const double density : {0.0, 0.1, 100.0}) {
    const InputKind two_signs{.planes = 2, .largest_value = 2.0};
    const auto arithmetic_of = [&](Arithmetic wanted) {
      return synapse.way_for(SynapseOperation::forward, two_signs, density, wanted).arithmetic();
    };
    EXPECT_EQ(arithmetic_of(Arithmetic::fp32), Arithmetic::fp32);
    EXPECT_NE(arithmetic_of(Arithmetic::bf16), Arithmetic::int8);
    if (plan.weights == 0) continue;
    EXPECT_EQ(arithmetic_of(Arithmetic::int8), Arithmetic::int8);
  }
}

// Integers: what plain loops over the same integers give is the answer, to the last bit. The pools
// here divide by 4 or by nothing.
TEST_P(SynapsePaths, Int8CurrentsAreExactSumsOfIntegers) {
  const BranchPlan& plan = GetParam();
  if (plan.weights == 0) return;
  for (const std::vector<float>& planes :
       {std::vector{1.0F, -1.0F}, std::vector{1.0F, 16.0F}, std::vector{0.5F, 1.0F}}) {
    const SpikeTrain drawn = spikes_of_rising_density(plan.source, 12);
    SpikeTrain spikes(1, 12, plan.source, planes);
    spikes.words() = drawn.words();
    const ScaledWeights scaled(plan);
    const Buffer<int8_t> integers = integer_weights(scaled.weights.span(), scaled.scales);
    const Buffer<float> as_floats = [&] {
      Buffer<float> result(integers.size());
      std::copy(integers.begin(), integers.end(), result.begin());
      return result;
    }();
    const Synapse synapse(plan);
    const PreparedWeights plain(as_floats.data());
    std::vector<int64_t> frames(12);
    std::iota(frames.begin(), frames.end(), 0);
    Buffer<float> expected(12 * plan.output.size());
    const SynapseWay& reference = *synapse.ways().back();
    reference.forward(spikes, frames, plain.of(reference, spikes),
                      {expected.data(), 0, plan.output.size()});
    EXPECT_TRUE(std::ranges::equal(integer_currents(plan, spikes), expected));
  }
}

TEST_P(SynapsePaths, Int8FramesDoNotDependOnTheOthersOfABatch) {
  const SpikeTrain spikes = spikes_of_rising_density(GetParam().source, 12);
  const Buffer<float> together = integer_currents(GetParam(), spikes);
  for (int64_t f = 0; f < spikes.batch(); ++f) {
    const std::vector<int64_t> one = {f};
    const Buffer<float> alone = integer_currents(GetParam(), keep_images(Signal(spikes), one));
    EXPECT_TRUE(std::equal(alone.begin(), alone.end(), together.data() + f * alone.size()));
  }
}

TEST_P(SynapsePaths, RealValuesMeetInt8WeightsAsFloats) {
  const Signal values = as_dense(spikes_of_rising_density(GetParam().source, 12));
  const ScaledWeights scaled(GetParam());
  const Synapse synapse(GetParam());
  Buffer<float> floats(stored_frames(values) * GetParam().output.size());
  const PreparedWeights unscaled(scaled.weights.data());
  synapse.forward(values, unscaled, floats.data(), [](int64_t, int64_t, const float*) {});
  EXPECT_TRUE(std::ranges::equal(integer_currents(GetParam(), values), floats));
}

TEST(IntegerWeights, AreRefusedUnlessTheyAreTheScaleTimesAnInteger) {
  const std::vector<float> scales = {0.5F, 0.25F};
  const std::vector<float> good = {-63.5F, 31.75F, 0.0F, -0.25F};
  const Buffer<int8_t> integers = integer_weights(good, scales);
  EXPECT_THAT(integers.span(), ::testing::ElementsAre(-127, 127, 0, -1));
  for (const float bad : {0.3F, 64.0F, -64.0F, std::numeric_limits<float>::quiet_NaN(),
                          std::numeric_limits<float>::infinity()}) {
    EXPECT_THROW(integer_weights(std::vector<float>{bad, 0.0F}, scales), Error) << bad;
  }
}

TEST_P(SynapsePaths, SpikesAndTheSameRealValuesGiveTheSame) {
  const SpikeTrain spikes = spikes_of_rising_density(GetParam().source, 12);
  const Results dense = run(GetParam(), as_dense(spikes), {});
  for (const BreakEven& break_even : {kAlwaysWalk, BreakEven{}, kAlwaysDense}) {
    const Results ours = run(GetParam(), spikes, break_even);
    EXPECT_LT(relative_error(ours.current, dense.current), 3e-6);
    if (GetParam().weights == 0) continue;
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
    const Synapse synapse(GetParam());
    const Buffer<float> weights = numbers(GetParam().weights, 1);
    Buffer<float> seen(kept.current.size());
    const int64_t size = GetParam().output.size();
    synapse.forward(input, PreparedWeights(weights.data()), nullptr,
                    [&](int64_t first, int64_t end, const float* currents) {
                      std::copy_n(currents, (end - first) * size, seen.data() + first * size);
                    });
    EXPECT_TRUE(std::ranges::equal(seen, kept.current));
  }
}

// Of such maps each frame is listed by itself: two could hold more spikes than are listed at once.
TEST(DenseSynapse, GroupsOfFramesAreTheBitsOfEachFrameAlone) {
  const BranchPlan plan = plan_of({SynapseKind::dense, {64, 1024, 1024}, 32, 5});
  SpikeTrain spikes(1, 3, plan.source, {1.0F, -1.0F});
  for (uint32_t i = 0; i < 3000; ++i) {
    const auto bits = draw4(7, Purpose::encoding, {.block = i});
    spikes.set(i % 2, 0, i % 3, bits[0] % 1024, bits[1] % 1024, bits[2] % 64);
  }
  const Synapse synapse(plan);
  const Buffer<float> weights = numbers(plan.weights, 1);
  const PreparedWeights prepared(weights.data());
  const auto current_of = [&](const Signal& input) {
    Buffer<float> current(stored_frames(input) * plan.output.size());
    synapse.forward(input, prepared, current.data(), [](int64_t, int64_t, const float*) {});
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
  for (const BranchPlan& plan : {plan_of({SynapseKind::conv, {16, 6, 7}, 1, 16}),
                                 plan_of({SynapseKind::conv, {3, 6, 6}, 1, 3}),
                                 plan_of({SynapseKind::conv, {16, 6, 8}, 1, 64, kHalving}),
                                 plan_of({SynapseKind::identity, {16, 6, 8}, 1}),
                                 plan_of({SynapseKind::dense, {40, 1, 1}, 1, 40})}) {
    const Synapse synapse(plan);
    const Buffer<float> weights = numbers(plan.weights, 1);
    for (const Arithmetic arithmetic : {Arithmetic::fp32, Arithmetic::bf16}) {
      Buffer<float> gradient = numbers(kFrames * plan.output.size(), 2);
      Buffer<float> apart(gradient.size());
      Buffer<kernels::BFloat16> halves = rounded(gradient);
      Buffer<kernels::BFloat16> halves_apart(gradient.size());
      const auto input_gradient = [&](const kernels::GradientPlace& from,
                                      const kernels::GradientPlace& to) {
        synapse.input_gradient(from.view(), weights.data(), kFrames, to, arithmetic);
      };
      input_gradient({gradient.data()}, {apart.data()});
      input_gradient({gradient.data()}, {gradient.data()});
      EXPECT_TRUE(std::ranges::equal(gradient, apart));
      input_gradient({nullptr, halves.data()}, {nullptr, halves_apart.data()});
      input_gradient({nullptr, halves.data()}, {nullptr, halves.data()});
      EXPECT_TRUE(std::ranges::equal(halves, halves_apart));
    }
  }
}

/// The rows of all blocks, put together; 0 where the synapse rests.
Buffer<float> rows_of(const BranchPlan& plan, const SpikeTrain& spikes, const BreakEven& break_even,
                      const PreparedWeights& prepared, const RestingFrames& resting = {}) {
  Synapse synapse(plan);
  synapse.set_break_even(break_even);
  const Signal input(spikes);
  EXPECT_TRUE(synapse.makes_rows(input));
  const MapShape& map = plan.output;
  const auto rows = synapse.rows(input, prepared, resting);
  const int64_t width = synapse.block_channels();
  std::vector<float> scratch(map.width * width);
  auto current = Buffer<float>::zeros(spikes.steps() * spikes.batch() * map.size());
  for (int64_t frame = 0; frame < spikes.steps() * spikes.batch(); ++frame) {
    if (!resting.empty() && resting[frame]) continue;
    for (int64_t first = 0; first < map.channels; first += width) {
      for (int64_t y = 0; y < map.height; ++y) {
        const RowView row = rows->row(frame, first / width, y, scratch.data());
        for (int64_t x = 0; x < map.width; ++x) {
          std::copy_n(
              row.values + x * row.stride, std::min(width, map.channels - first),
              current.data() + frame * map.size() + (y * map.width + x) * map.channels + first);
        }
      }
    }
  }
  return current;
}

TEST_P(SynapsePaths, RowsAreTheBitsOfWholeFrames) {
  if (GetParam().synapse == SynapseKind::dense) {
    EXPECT_FALSE(Synapse(GetParam()).makes_rows(SpikeTrain(1, 1, GetParam().source)));
    return;
  }
  const Buffer<float> weights = numbers(GetParam().weights, 1);
  const ScaledWeights scaled(GetParam());
  for (const int64_t steps : {1, 4, 12}) {
    const SpikeTrain spikes = spikes_of_rising_density(GetParam().source, 12, steps);
    for (const BreakEven& break_even : {kAlwaysWalk, BreakEven{}, kAlwaysDense}) {
      const Results frames = run(GetParam(), spikes, break_even);
      const PreparedWeights prepared(weights.data());
      const Buffer<float> rows = rows_of(GetParam(), spikes, break_even, prepared);
      EXPECT_TRUE(std::ranges::equal(rows, frames.current)) << steps << " steps";
    }
    const PreparedWeights int8(scaled.weights.span(), scaled.scales);
    EXPECT_TRUE(std::ranges::equal(rows_of(GetParam(), spikes, {}, int8),
                                   integer_currents(GetParam(), spikes)));
  }
}

TEST_P(SynapsePaths, FramesAtRestAreZeroAndLeaveTheOthersAlone) {
  const BranchPlan& plan = GetParam();
  const SpikeTrain spikes = spikes_of_rising_density(plan.source, 12);
  const int64_t size = plan.output.size();
  for (const RestingFrames& resting :
       {RestingFrames{true, true, true, false, false, false, false, false, true, true, true, true},
        RestingFrames{false, true, true, false, true, false, false, true, false, true, true, false},
        RestingFrames(12, true)}) {
    for (const BreakEven& break_even : {kAlwaysWalk, BreakEven{}, kAlwaysDense}) {
      for (const Signal& input : {Signal(spikes), Signal(as_dense(spikes))}) {
        Buffer<float> expected = run(plan, input, break_even).current;
        for (int64_t f = 0; f < 12; ++f) {
          if (resting[f]) std::fill_n(expected.data() + f * size, size, 0.0F);
        }
        Synapse synapse(plan);
        synapse.set_break_even(break_even);
        const Buffer<float> weights = numbers(plan.weights, 1);
        Buffer<float> current(expected.size());
        current.fill(std::numeric_limits<float>::quiet_NaN());
        synapse.forward(input, PreparedWeights(weights.data()), current.data(), nullptr,
                        Arithmetic::fp32, resting);
        EXPECT_TRUE(std::ranges::equal(current, expected));
        if (plan.synapse == SynapseKind::dense || !synapse.makes_rows(input)) continue;
        const PreparedWeights prepared(weights.data());
        EXPECT_TRUE(
            std::ranges::equal(rows_of(plan, spikes, break_even, prepared, resting), expected));
      }
    }
  }
}

}  // namespace
}  // namespace bntt
