#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "driven.h"

// Neurons of the publications that BNTT is compared with: the numbers on paper, and literal loops
// over steps from the publications' own equations.
namespace bntt {
namespace {

using testing::Driven;
using ::testing::ElementsAre;
using testing::first_parameters;
using ::testing::FloatNear;
using ::testing::Pointwise;
using testing::stage_of;

/// What neurons of one pixel make of currents [step, channel] and of a gradient at their outputs.
struct Made {
  std::vector<float> outputs;
  std::vector<float> gradient;  // at the currents
  std::vector<float> of_parameters;
};

std::vector<float> values_of(const Signal& signal) {
  if (const auto* dense = std::get_if<DenseTrain>(&signal)) {
    return {dense->values.begin(), dense->values.end()};
  }
  const auto& spikes = std::get<SpikeTrain>(signal);
  std::vector<float> values;
  for (int64_t step = 0; step < spikes.steps(); ++step) {
    for (int64_t c = 0; c < spikes.shape().channels; ++c) {
      values.push_back(spikes.value(step, 0, 0, 0, c));
    }
  }
  return values;
}

Made run(const NeuronSpec& spec, int64_t channels, const std::vector<float>& currents,
         const std::vector<float>& arriving, const std::vector<float>& parameter = {}) {
  const int64_t steps = std::ssize(currents) / channels;
  const MapShape map{channels, 1, 1};
  const auto neurons = make_neurons(stage_of(spec, map), Propagation::instant);
  auto parameters = first_parameters(*neurons);
  if (!parameter.empty()) std::ranges::copy(parameter, parameters[0].value.begin());
  Driven driven(steps, channels);
  std::ranges::copy(currents, driven.current.begin());
  auto state = Buffer<float>::zeros(neurons->state_size(map));
  const NeuronInput input = driven.input(*neurons, parameters);
  const Signal output = neurons->forward(input, parameters, state.data());
  RowGradientSums sums{{steps, 1, 1, channels, 1},
                       Buffer<float>::zeros(steps * channels),
                       Buffer<float>::zeros(steps * channels)};
  Made made{.outputs = values_of(output), .gradient = std::vector<float>(currents.size())};
  neurons->backward(input, {{arriving.data()}, {.source = map}}, parameters, {made.gradient.data()},
                    sums);
  for (int64_t i = 0; i < steps * channels; ++i) {
    EXPECT_EQ(sums.gradient[i], made.gradient[i]);
    EXPECT_FLOAT_EQ(sums.gradient_times_unit[i], made.gradient[i] * currents[i]);
  }
  if (!parameters.empty()) {
    made.of_parameters.assign(parameters[0].gradient.begin(), parameters[0].gradient.end());
  }
  return made;
}

std::vector<float> waves(int64_t count, float frequency, float offset) {
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) {
    values.push_back(offset + std::sin(frequency * static_cast<float>(i + 1)));
  }
  return values;
}

// λ = 0.99, x = 0.4: v = 0.4, 0.796, 1.188 fires, and again. Over 10 steps f = λ^7 + λ^4 + λ =
// 2.88266, so the slope is 1 + ln λ · f / 3 = 0.99034.
TEST(LeeNeurons, OnPaper) {
  const std::vector<float> arriving = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512};
  const Made made = run({.kind = "lee", .leak = 0.99F}, 1, std::vector<float>(10, 0.4F), arriving);
  EXPECT_THAT(made.outputs, ElementsAre(0, 0, 1, 0, 0, 1, 0, 0, 1, 0));
  constexpr float kSlope = 0.99034F;
  const std::vector<float> expected = {4 * kSlope,   4 * kSlope,  4 * kSlope,   32 * kSlope,
                                       32 * kSlope,  32 * kSlope, 256 * kSlope, 256 * kSlope,
                                       256 * kSlope, 0.0F};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(made.gradient[i], expected[i], 5e-6F * 256.0F) << "step " << i + 1;
  }
}

/// The definition, neuron by neuron: integrate with a hard reset; then look for the next spike.
void expect_literal_loop(const NeuronSpec& spec, double leak, double height) {
  constexpr int64_t kSteps = 40;
  constexpr int64_t kChannels = 19;
  const std::vector<float> currents = waves(kSteps * kChannels, 1.7F, 0.1F);
  const std::vector<float> arriving = waves(kSteps * kChannels, 0.9F, 0.0F);
  const Made made = run(spec, kChannels, currents, arriving);
  int64_t silent = 0;
  for (int64_t c = 0; c < kChannels; ++c) {
    std::vector<int64_t> spike_steps;
    double potential = 0.0;
    for (int64_t step = 0; step < kSteps; ++step) {
      potential += currents[step * kChannels + c];
      const bool fires = potential > static_cast<double>(spec.threshold);
      ASSERT_EQ(made.outputs[step * kChannels + c], fires ? 1.0F : 0.0F) << c << " at " << step;
      if (fires) spike_steps.push_back(step);
      potential = fires ? 0.0 : leak * potential;
    }
    silent += spike_steps.empty() ? 1 : 0;
    double filtered = 0.0;
    for (const int64_t step : spike_steps) {
      filtered += std::pow(leak, static_cast<double>(kSteps - 1 - step));
    }
    const auto count = static_cast<double>(spike_steps.size());
    const double slope =
        height * ((filtered > 1e-3 ? 1.0 : 0.0) + std::log(leak) * filtered / count);
    for (int64_t step = 0; step < kSteps; ++step) {
      const auto next = std::ranges::lower_bound(spike_steps, step);
      const double expected =
          next == spike_steps.end() ? 0.0 : slope * arriving[*next * kChannels + c];
      EXPECT_NEAR(made.gradient[step * kChannels + c], expected, 1e-5) << c << " at " << step;
    }
  }
  EXPECT_LT(silent, kChannels);
}

TEST(LeeNeurons, AgreeWithALiteralLoop) {
  expect_literal_loop({.kind = "lee", .leak = 0.99F}, 0.99F, 1.0);
  expect_literal_loop({.kind = "lee", .leak = 0.8F, .threshold = 0.7F}, 0.8F, 1.0 / 0.7);
  // A strong leak: what early spikes left is forgotten.
  expect_literal_loop({.kind = "lee", .leak = 0.5F, .threshold = 0.9F}, 0.5F, 1.0 / 0.9);
}

TEST(LeeNeurons, OfPoolsHaveNoLeakAndASlopeOfOne) {
  expect_literal_loop({.kind = "lee-if", .leak = 0.5F, .threshold = 0.75F}, 1.0, 1.0);
}

TEST(LeeNeurons, HaveNoUseForResetAndSurrogate) {
  const std::vector<float> currents = waves(60, 1.7F, 0.1F);
  const std::vector<float> arriving = waves(60, 0.9F, 0.0F);
  const Made plain = run({.kind = "lee"}, 3, currents, arriving);
  const Made other = run({.kind = "lee",
                          .reset = Reset::hard,
                          .detach_reset = false,
                          .surrogate = {.kind = SurrogateKind::rectangle, .alpha = 2.0F}},
                         3, currents, arriving);
  EXPECT_EQ(plain.outputs, other.outputs);
  EXPECT_EQ(plain.gradient, other.gradient);
}

// F = 2 channels, both fire: n = 0.05, 0.095, 0.1355, and in the end 1/F.
TEST(NeuNormNeurons, OnPaper) {
  const std::vector<float> currents(200, 5.0F);
  const std::vector<float> arriving(200, 0.0F);
  const Made made = run({.kind = "neunorm"}, 2, currents, arriving, {1.0F, -2.0F});
  const std::vector<float> first(made.outputs.begin(), made.outputs.begin() + 6);
  EXPECT_THAT(first, Pointwise(FloatNear(1e-6F),
                               std::vector<float>{0.95F, 1.1F, 0.905F, 1.19F, 0.8645F, 1.271F}));
  EXPECT_NEAR(made.outputs[198], 0.5F, 1e-4F);
}

TEST(NeuNormNeurons, WithWeightsOfZeroAreLif) {
  const std::vector<float> currents = waves(7 * 70, 1.7F, 0.2F);
  const std::vector<float> arriving = waves(7 * 70, 0.9F, 0.0F);
  NeuronSpec spec{.leak = 0.25F,
                  .threshold = 0.75F,
                  .reset = Reset::hard,
                  .detach_reset = false,
                  .surrogate = {.kind = SurrogateKind::rectangle, .alpha = 1.0F, .width = 1.0F}};
  const Made lif = run(spec, 70, currents, arriving);
  spec.kind = "neunorm";
  const Made neunorm = run(spec, 70, currents, arriving);
  EXPECT_EQ(neunorm.outputs, lif.outputs);
  EXPECT_EQ(neunorm.gradient, lif.gradient);
  EXPECT_THAT(neunorm.of_parameters, ::testing::Contains(::testing::Ne(0.0F)));
}

// ∂L/∂w is exact whatever the surrogate: L = Σ g (o − w n) is linear in w.
TEST(NeuNormNeurons, GradientOfTheWeights) {
  const std::vector<float> currents = waves(6 * 3, 1.7F, 0.4F);
  const std::vector<float> arriving = waves(6 * 3, 0.9F, 0.0F);
  const NeuronSpec spec{.kind = "neunorm", .neunorm_decay = 0.6F};
  const auto loss = [&](const std::vector<float>& weight) {
    const Made made = run(spec, 3, currents, arriving, weight);
    double sum = 0.0;
    for (std::size_t i = 0; i < arriving.size(); ++i) sum += arriving[i] * made.outputs[i];
    return sum;
  };
  const std::vector<float> weight = {0.5F, -0.25F, 0.75F};
  const Made made = run(spec, 3, currents, arriving, weight);
  for (std::size_t c = 0; c < 3; ++c) {
    std::vector<float> moved = weight;
    moved[c] += 1.0F;
    EXPECT_NEAR(made.of_parameters[c], loss(moved) - loss(weight), 1e-5);
  }
}

}  // namespace
}  // namespace bntt
