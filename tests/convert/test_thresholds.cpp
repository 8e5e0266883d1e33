#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <span>

#include "convert/activation_scales.h"
#include "convert/largest_values.h"
#include "convert/weighted_inputs.h"
#include "data/loader.h"
#include "fixtures.h"
#include "small_anns.h"

namespace bntt {
namespace {

using ::testing::ElementsAre;
using testing::fill_random;
using ::testing::HasSubstr;
using testing::kNoNorm;
using testing::kRelu;
using testing::parameter_of;
using testing::refusal;

constexpr float kHalf = 127.5F / 255.0F;

/// A pixel of every image is this bright.
Calibration one_pixel(EncoderKind encoder, std::vector<float> channels, int64_t images = 1) {
  Batch batch{.shape = {static_cast<int64_t>(channels.size()), 1, 1},
              .images = Buffer<float>(images * std::ssize(channels))};
  for (int64_t i = 0; i < images; ++i) {
    batch.sample_ids.push_back(static_cast<uint32_t>(i));
    batch.labels.push_back(0);
    std::ranges::copy(channels, batch.images.data() + i * std::ssize(channels));
  }
  Calibration calibration{.encoder = {encoder,
                                      {std::vector<float>(channels.size(), 0.0F),
                                       std::vector<float>(channels.size(), 1.0F)}}};
  calibration.batches.push_back(std::move(batch));
  return calibration;
}

/// Fully connected stages of one neuron each, with these weights.
Network chain_of_ones(int64_t inputs, const std::vector<float>& first, float second) {
  Network ann(
      {.input = {inputs, 1, 1},
       .steps = 1,
       .stages = {Dense{.features = 1, .norm = kNoNorm, .neuron = kRelu},
                  Dense{.features = 1, .norm = kNoNorm, .neuron = kRelu}, Readout{.classes = 2}}},
      1);
  std::ranges::copy(first, parameter_of(ann, "fc1.weight").value.data());
  parameter_of(ann, "fc2.weight").value[0] = second;
  return ann;
}

const SpikingOptions kIf{.neuron = {.kind = "if", .fire = Fire::ge, .reset = Reset::soft},
                         .steps = 64};

TEST(Thresholds, FollowFromTheScalesOfTwoStages) {
  EXPECT_THAT(thresholds_of_scales({4.0F, 2.0F}, 1.0F), ElementsAre(4.0F, 0.5F));
  EXPECT_THAT(thresholds_of_scales({4.0F, 2.0F}, 2.0F), ElementsAre(2.0F, 0.5F));
  EXPECT_THAT(scales_of(std::vector<float>{4.0F, 0.5F}, 1.0F), ElementsAre(1.0F, 4.0F, 2.0F));
}

TEST(Thresholds, OfActivationsAreThoseOnPaper) {
  const Network ann = chain_of_ones(1, {4.0F}, 0.5F);
  const Calibration calibration = one_pixel(EncoderKind::direct, {1.0F});
  EXPECT_THAT(activation_scales(ann, calibration, "run"), ElementsAre(4.0F, 2.0F));
  const Network dead = chain_of_ones(1, {-1.0F}, 0.5F);
  EXPECT_EQ(refusal([&] { activation_scales(dead, calibration, "run"); }),
            "run: cannot be converted: no neuron of fc1 is active for 1 calibration images");
}

// Both inputs fire half of the time: 2 is the largest weighted input, though the mean is 0.5.
TEST(Thresholds, OfWeightedInputsAreTheLargest) {
  const Network ann = chain_of_ones(2, {2.0F, -1.0F}, 1.5F);
  const Calibration calibration =
      one_pixel(EncoderKind::poisson_unsigned, {kHalf, kHalf}, /*images=*/4);
  EXPECT_THAT(balanced_thresholds(ann, kIf, calibration, 1.0F, "run"), ElementsAre(2.0F, 1.5F));
  const Network silent = chain_of_ones(2, {-2.0F, -1.0F}, 1.5F);
  EXPECT_EQ(refusal([&] { balanced_thresholds(silent, kIf, calibration, 1.0F, "run"); }),
            "run: cannot be converted: no weighted input of fc1 is above 0 in 64 steps");
}

/// conv, pool, conv, dense.
Network random_ann() {
  return {vgg5({.input = {2, 8, 8},
                .classes = 4,
                .steps = 1,
                .width = 0.1,
                .norm = kNoNorm,
                .neuron = kRelu}),
          9};
}

Calibration random_calibration(EncoderKind kind) {
  static const ImageSet images = testing::noisy_images(8, {2, 8, 8});
  Calibration calibration{.encoder = {kind, {{0.5F, 0.5F}, {0.25F, 0.25F}}}};
  const EvalLoader loader(images, 3);
  for (int64_t i = 0; i < loader.batches(); ++i) calibration.batches.push_back(loader.batch(i));
  return calibration;
}

TEST(Thresholds, GrowWithTheWeightsOfTheirStageAlone) {
  const Calibration calibration = random_calibration(EncoderKind::poisson_signed);
  Network ann = random_ann();
  const std::vector<float> before = balanced_thresholds(ann, kIf, calibration, 1.0F, "run");
  for (float& weight : parameter_of(ann, "conv2.weight").value) weight *= 4.0F;
  const std::vector<float> after = balanced_thresholds(ann, kIf, calibration, 1.0F, "run");
  ASSERT_EQ(before.size(), 4U);
  EXPECT_THAT(after, ElementsAre(before[0], 4.0F * before[1], before[2], before[3]))
      << "the spikes are the same";
}

// What was the largest is found again, whatever the windows and the batches.
TEST(Thresholds, AreTheLargestWeightedInputsOfEveryStage) {
  const Calibration calibration = random_calibration(EncoderKind::poisson_signed);
  const Network ann = random_ann();
  const std::vector<float> thresholds = balanced_thresholds(ann, kIf, calibration, 1.0F, "run");
  for (std::size_t stage = 0; stage < thresholds.size(); ++stage) {
    const Network probe = weighted_input_probe(ann, kIf, std::span(thresholds).first(stage));
    float largest = 0.0F;
    for (const Batch& batch : calibration.batches) {
      ChainState state = probe.start(batch.size());
      probe.advance(encode(batch, kIf.steps, calibration.encoder, calibration.seed, 0), state,
                    {.observe = [&](std::size_t s, int64_t, const std::vector<const Signal*>&,
                                    const Signal& output) {
                      if (s != stage) return;
                      for (const float x : std::get<DenseTrain>(output).values) {
                        largest = std::max(largest, x);
                      }
                    }});
    }
    EXPECT_FLOAT_EQ(largest, thresholds[stage]) << stage;
  }
}

// Currents of 0.75 and 0.25: with a threshold of 0.75 the second neuron fires at every third step,
// and the next stage sees 2 in between. With a quarter of it both fire at every step: 2 - 1.
TEST(Thresholds, OfScaledSearchesSeeMoreSpikes) {
  Network ann(
      {.input = {2, 1, 1},
       .steps = 1,
       .stages = {Dense{.features = 2, .norm = kNoNorm, .neuron = kRelu},
                  Dense{.features = 1, .norm = kNoNorm, .neuron = kRelu}, Readout{.classes = 2}}},
      1);
  Buffer<float>& first = parameter_of(ann, "fc1.weight").value;  // [in, out]
  std::ranges::copy(std::vector<float>{1.0F, 0.0F, 0.0F, 1.0F}, first.data());
  Buffer<float>& second = parameter_of(ann, "fc2.weight").value;
  const Calibration calibration = one_pixel(EncoderKind::direct, {0.75F, 0.25F});
  std::ranges::copy(std::vector<float>{2.0F, -1.0F}, second.data());
  EXPECT_THAT(balanced_thresholds(ann, kIf, calibration, 1.0F, "run"), ElementsAre(0.75F, 2.0F));
  EXPECT_THAT(balanced_thresholds(ann, kIf, calibration, 0.25F, "run"), ElementsAre(0.75F, 1.0F));
}

TEST(Thresholds, PercentilesOfFramesAreBelowTheLargest) {
  Calibration calibration = random_calibration(EncoderKind::direct);
  const Network ann = random_ann();
  const float largest = balanced_thresholds(ann, kIf, calibration, 1.0F, "run").front();
  calibration.percentile = 90.0;
  const float lower = balanced_thresholds(ann, kIf, calibration, 1.0F, "run").front();
  EXPECT_LT(lower, largest);
  EXPECT_GT(lower, 0.0F);
}

float sorted_percentile(std::vector<float> values, double percentile) {
  std::ranges::sort(values);
  const double rank = percentile / 100.0 * static_cast<double>(values.size() - 1);
  const auto low = static_cast<std::size_t>(rank);
  if (low + 1 == values.size()) return values[low];
  return static_cast<float>(values[low] +
                            (rank - static_cast<double>(low)) * (values[low + 1] - values[low]));
}

TEST(LargestValues, AreThePercentileOfAllPositiveNumbers) {
  Buffer<float> numbers(20'000);
  fill_random(1, -1.0F, 1.0F, numbers);
  std::vector<float> positive;
  std::ranges::copy_if(numbers, std::back_inserter(positive), [](float v) { return v > 0.0F; });
  for (const double percentile : {100.0, 99.9, 99.0, 50.0, 1.0}) {
    LargestValues largest(percentile, numbers.size());
    EXPECT_FALSE(largest.any());
    for (int64_t i = 0; i < numbers.size(); i += 1'000) {
      largest.add(numbers.span().subspan(static_cast<std::size_t>(i), 1'000));
    }
    EXPECT_TRUE(largest.any());
    EXPECT_NEAR(largest.percentile(), sorted_percentile(positive, percentile), 1e-6F) << percentile;
    std::vector<float> copy(numbers.begin(), numbers.end());
    EXPECT_NEAR(percentile_of(copy, percentile),
                sorted_percentile({numbers.begin(), numbers.end()}, percentile), 1e-6F)
        << percentile;
  }
}

}  // namespace
}  // namespace bntt
