#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "layers/synapses/prepared_weights.h"
#include "layers/synapses/synapse.h"

// Event counts enter as planes of weight 1, 2, 4, ...: to a synapse they are the numbers that they
// add up to.
namespace bntt {
namespace {

constexpr int64_t kSteps = 3;
constexpr int64_t kBatch = 2;
constexpr MapShape kInput = {2, 6, 7};

float drawn(int64_t i, uint32_t stream) {
  return uniform01(draw4(stream, Purpose::weights, {.block = static_cast<uint32_t>(i)})[0]) - 0.5F;
}

struct Counts {
  SpikeTrain planes{kSteps, kBatch, kInput, {1.0F, 2.0F, 4.0F, 8.0F}};
  DenseTrain values{.steps = kSteps,
                    .batch = kBatch,
                    .shape = kInput,
                    .constant = false,
                    .values = Buffer<float>(kSteps * kBatch * kInput.size())};
};

Counts counts() {
  Counts result;
  for (int64_t i = 0; i < result.values.values.size(); ++i) {
    const auto count =
        static_cast<int>(draw4(5, Purpose::encoding, {.block = static_cast<uint32_t>(i)})[0] % 16);
    result.values.values[i] = static_cast<float>(count);
    const int64_t frame = i / kInput.size();
    const int64_t pixel = i % kInput.size() / kInput.channels;
    for (int64_t plane = 0; plane < 4; ++plane) {
      if ((count >> plane & 1) != 0) {
        result.planes.set(plane, frame / kBatch, frame % kBatch, pixel / kInput.width,
                          pixel % kInput.width, i % kInput.channels);
      }
    }
  }
  return result;
}

void expect_near(const Buffer<float>& got, const Buffer<float>& expected) {
  for (int64_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], expected[i], 1e-4F * std::max(1.0F, std::abs(expected[i]))) << i;
  }
}

const FramesWritten kNobody = [](int64_t, int64_t, float*) {};

void expect_same_as_numbers(const BranchPlan& plan) {
  const Synapse synapse(plan);
  const Counts input = counts();
  Buffer<float> weights(plan.weights);
  for (int64_t i = 0; i < weights.size(); ++i) weights[i] = drawn(i, 1);
  const int64_t outputs = kSteps * kBatch * plan.output.size();
  Buffer<float> from_planes(outputs);
  Buffer<float> from_values(outputs);
  const PreparedWeights prepared(weights.data());
  synapse.forward(input.planes, prepared, from_planes.data(), kNobody);
  synapse.forward(input.values, prepared, from_values.data(), kNobody);
  expect_near(from_planes, from_values);

  Buffer<float> gradient(outputs);
  for (int64_t i = 0; i < outputs; ++i) gradient[i] = drawn(i, 2);
  Buffer<float> planes_gradient(plan.weights);
  Buffer<float> values_gradient(plan.weights);
  synapse.weight_gradient(input.planes, {gradient.data()}, planes_gradient.data());
  synapse.weight_gradient(input.values, {gradient.data()}, values_gradient.data());
  expect_near(planes_gradient, values_gradient);
}

BranchPlan plan_of(const StageSpec& stage) {
  return plan_stages({.input = kInput, .steps = kSteps, .stages = {stage, Readout{.classes = 2}}})
      .front()
      .branches.front();
}

TEST(CountPlanes, ConvolveAsTheNumbersTheyStandFor) {
  expect_same_as_numbers(plan_of(Conv3x3{.channels = 5}));
}

TEST(CountPlanes, AddUpInFullyConnectedStages) {
  expect_same_as_numbers(plan_of(Dense{.features = 5}));
}

}  // namespace
}  // namespace bntt
