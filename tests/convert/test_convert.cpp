#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "convert/convert.h"
#include "data/loader.h"
#include "fixtures.h"
#include "small_anns.h"

namespace bntt {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::kNoNorm;
using testing::kRelu;
using testing::logits_of;
using testing::make_unlike_new;
using testing::parameter_of;
using testing::refusal;

constexpr MapShape kShape{1, 8, 8};
const EncoderSpec kDirect{.kind = EncoderKind::direct, .normalisation = {{0.5F}, {0.25F}}};
const EncoderSpec kPixels{.kind = EncoderKind::direct, .normalisation = {{0.0F}, {1.0F}}};

const ImageSet& images() {
  static const ImageSet set = testing::noisy_images(40, kShape);
  return set;
}

ConversionImages splits() { return {images(), {0, 32}, {32, 40}}; }

/// With norms, whose folding leaves biases, or without.
Network small_ann(const std::string& norm) {
  Network ann(vgg5({.input = kShape,
                    .classes = 4,
                    .steps = 1,
                    .width = 0.1,
                    .norm = {.kind = norm, .shift = norm != "none"},
                    .neuron = kRelu}),
              6);
  make_unlike_new(ann);
  return ann;
}

/// √ of the mean squared distance from the ANN's logits, relative to these.
double distance_from_ann(const Network& ann, const Conversion& conversion,
                         const EncoderSpec& encoder = kDirect) {
  const Batch batch = EvalLoader(images(), {0, 8}, 8).batch(0);
  const Buffer<float> wanted = logits_of(ann, batch, encoder);
  const Buffer<float> found = logits_of(conversion.network, batch, conversion.encoder);
  double distance = 0.0;
  double size = 0.0;
  for (int64_t i = 0; i < wanted.size(); ++i) {
    distance += std::pow(wanted[i] - found[i], 2);
    size += std::pow(wanted[i], 2);
  }
  return std::sqrt(distance / size);
}

class EveryMethod : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryMethod, ComesNearTheAnnWithTime) {
  for (const std::string norm : {"none", "bn"}) {
    const Network ann = small_ann(norm);
    const auto distance = [&](int64_t steps) {
      const Conversion conversion = convert(
          ann, kDirect, splits(),
          {.method = GetParam(), .steps = steps, .calibration_steps = 50, .calibration_images = 16},
          "run");
      return distance_from_ann(ann, conversion);
    };
    // A network that says nothing is at a distance of 1. Hard resets discard charge: measured were
    // 0.34 to 0.56, and 0.01 to 0.03 with soft ones.
    const bool soft = GetParam() == "rueckauer" || GetParam() == "rmp";
    const double late = distance(600);
    EXPECT_LT(late, soft ? 0.06 : 0.7) << norm;
    EXPECT_LT(late, distance(6)) << norm;
  }
}

INSTANTIATE_TEST_SUITE_P(Convert, EveryMethod,
                         ::testing::Values("diehl", "rueckauer", "spike-norm", "rmp"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

// a_1 is at most 4, a_2 at most 2, for the brightest pixel there is.
TEST(Convert, RatesAreActivationsInUnitsOfTheirScale) {
  Network ann(
      {.input = {1, 1, 1},
       .steps = 1,
       .stages = {Dense{.features = 1, .norm = kNoNorm, .neuron = kRelu},
                  Dense{.features = 1, .norm = kNoNorm, .neuron = kRelu}, Readout{.classes = 4}}},
      1);
  parameter_of(ann, "fc1.weight").value[0] = 4.0F;
  parameter_of(ann, "fc2.weight").value[0] = 0.5F;
  ImageSet pixels;
  pixels.shape = {1, 1, 1};
  pixels.classes = 4;
  pixels.pixels = std::vector<uint8_t>{255, 51};
  pixels.labels = {0, 1};
  const Conversion conversion = convert(
      ann, kPixels, {pixels, {0, 2}, {}},
      {.method = "rueckauer", .steps = 100, .calibration_images = 2, .percentile = 100.0}, "run");
  EXPECT_EQ(conversion.encoder.kind, EncoderKind::direct);
  ASSERT_EQ(conversion.stages.size(), 2U);
  EXPECT_EQ(conversion.stages[0].threshold, 4.0F);
  EXPECT_EQ(conversion.stages[1].threshold, 0.5F);
  EXPECT_EQ(conversion.stages[0].scale, 4.0F);
  EXPECT_EQ(conversion.stages[1].scale, 2.0F);
  Activity activity;
  ChainState state = conversion.network.start(2);
  const Batch batch = EvalLoader(pixels, 2).batch(0);
  conversion.network.advance(encode(batch, 100, conversion.encoder, 1, 0), state, &activity);
  for (const std::size_t stage : {0, 1}) {
    int64_t spikes = 0;
    for (const int64_t at_step : activity.spikes[stage]) spikes += at_step;
    // Rates 1 and a fifth: rounding may hold the last spike of the second back.
    EXPECT_NEAR(static_cast<double>(spikes), 120.0, 1.0) << stage;
  }
}

TEST(Convert, CaoClipsMembranesAndLetsPoolsFire) {
  const Network ann = small_ann("none");
  const Conversion conversion =
      convert(ann, kPixels, splits(), {.method = "cao", .steps = 20}, "run");
  EXPECT_EQ(conversion.encoder.kind, EncoderKind::poisson_unsigned);
  std::vector<std::string> names;
  for (const StagePlan& plan : conversion.network.stages()) {
    names.push_back(plan.name);
    if (plan.readout) continue;
    EXPECT_EQ(plan.neuron.floor, 0.0F) << plan.name;
    EXPECT_EQ(plan.neuron.threshold, 1.0F) << plan.name;
    EXPECT_EQ(plan.neuron.reset, Reset::hard) << plan.name;
  }
  EXPECT_THAT(names, ElementsAre("conv1", "pool1", "conv2", "conv3", "pool2", "fc1", "fc2", "fc3"));
}

// Outputs of 3/4, 1/2 and −1 for a white pixel: with hard resets they fire at every second step, at
// every second step, and never; with thresholds half as high at every step, at every step, never.
TEST(Convert, CaoCountsTheSpikesOfTheOutputs) {
  Network ann(
      {.input = {1, 1, 1},
       .steps = 1,
       .stages = {Dense{.features = 1, .norm = kNoNorm, .neuron = kRelu}, Readout{.classes = 3}}},
      1);
  parameter_of(ann, "fc1.weight").value[0] = 1.0F;
  Buffer<float>& weights = parameter_of(ann, "fc2.weight").value;
  std::ranges::copy(std::vector<float>{0.75F, 0.5F, -1.0F}, weights.begin());
  ImageSet pixels;
  pixels.shape = {1, 1, 1};
  pixels.classes = 3;
  pixels.pixels = std::vector<uint8_t>{255};
  pixels.labels = {0};
  for (const double scale : {1.0, 0.5}) {
    const Conversion conversion =
        convert(ann, kPixels, {pixels, {0, 1}, {}},
                {.method = "cao", .steps = 8, .threshold_scale = scale}, "run");
    const StagePlan& output = conversion.network.stages()[1];
    EXPECT_EQ(output.name, "fc2");
    EXPECT_EQ(output.neuron.threshold, static_cast<float>(scale));
    EXPECT_EQ(output.neuron.floor, 0.0F);
    const float rate = scale == 1.0 ? 0.5F : 1.0F;
    const Buffer<float> logits =
        logits_of(conversion.network, EvalLoader(pixels, 1).batch(0), conversion.encoder);
    EXPECT_THAT(std::vector<float>(logits.begin(), logits.end()), ElementsAre(rate, rate, 0.0F));
  }
}

// The voltages of a copied readout are those of the scaled one, divided by the last scale.
TEST(Convert, AReadoutMayBeCopied) {
  Network ann = small_ann("none");
  ConversionOptions options{
      .method = "rmp", .steps = 40, .calibration_images = 8, .threshold_scale = 0.5};
  const Conversion scaled = convert(ann, kDirect, splits(), options, "run");
  options.copy_readout = true;
  Conversion copied = convert(ann, kDirect, splits(), options, "run");
  const Batch batch = EvalLoader(images(), {0, 8}, 8).batch(0);
  const Buffer<float> wanted = logits_of(scaled.network, batch, scaled.encoder);
  const Buffer<float> found = logits_of(copied.network, batch, copied.encoder);
  const float scale = scaled.stages.back().scale;
  for (int64_t i = 0; i < wanted.size(); ++i) {
    EXPECT_NEAR(found[i] * scale, wanted[i], 1e-4F * scale) << i;
  }
  EXPECT_TRUE(std::ranges::equal(parameter_of(copied.network, "fc2.weight").value,
                                 parameter_of(ann, "fc2.weight").value));
}

// Activations above the scale are clipped: a neuron fires at most once per step.
TEST(Convert, RatesAreAtMostOne) {
  Network ann(
      {.input = {1, 1, 1},
       .steps = 1,
       .stages = {Dense{.features = 1, .norm = kNoNorm, .neuron = kRelu}, Readout{.classes = 4}}},
      1);
  parameter_of(ann, "fc1.weight").value[0] = 4.0F;
  ImageSet pixels;
  pixels.shape = {1, 1, 1};
  pixels.classes = 4;
  pixels.pixels = std::vector<uint8_t>{51, 255};
  pixels.labels = {0, 1};
  const Conversion conversion =
      convert(ann, kPixels, {pixels, {0, 1}, {}},
              {.method = "rueckauer", .steps = 50, .calibration_images = 1}, "run");
  EXPECT_FLOAT_EQ(conversion.stages[0].threshold, 0.8F);
  Activity activity;
  ChainState state = conversion.network.start(1);
  const Batch bright = EvalLoader(pixels, {1, 2}, 1).batch(0);
  conversion.network.advance(encode(bright, 50, conversion.encoder, 1, 0), state, &activity);
  EXPECT_THAT(activity.spikes[0], Each(1));
}

TEST(Convert, EveryThresholdIsScaled) {
  const Network ann = small_ann("none");
  ConversionOptions options{.method = "rmp", .steps = 20, .calibration_images = 8};
  const Conversion plain = convert(ann, kDirect, splits(), options, "run");
  EXPECT_EQ(plain.encoder.kind, EncoderKind::poisson_signed);
  options.threshold_scale = 0.5;
  const Conversion scaled = convert(ann, kDirect, splits(), options, "run");
  for (std::size_t i = 0; i < plain.stages.size(); ++i) {
    EXPECT_EQ(scaled.stages[i].threshold, 0.5F * plain.stages[i].threshold);
  }
}

TEST(Convert, ASweepTakesTheBestOnValidationImages) {
  const Network ann = small_ann("none");
  const Conversion swept = convert(
      ann, kDirect, splits(),
      {.method = "rmp", .steps = 30, .calibration_images = 8, .sweep = {100.0, 0.8, 0.5}}, "run");
  ASSERT_EQ(swept.sweep.size(), 3U);
  const auto best = std::ranges::max_element(swept.sweep, {}, &ScaleTrial::accuracy);
  EXPECT_EQ(swept.threshold_scale, best->threshold_scale);
  // The network is the one that this scale gives by itself.
  const Conversion plain = convert(ann, kDirect, splits(),
                                   {.method = "rmp", .steps = 30, .calibration_images = 8}, "run");
  const Conversion chosen = convert(ann, kDirect, splits(),
                                    {.method = "rmp",
                                     .steps = 30,
                                     .calibration_images = 8,
                                     .threshold_scale = best->threshold_scale},
                                    "run");
  for (std::size_t i = 0; i < plain.stages.size(); ++i) {
    const float threshold = swept.network.stages()[i].neuron.threshold;
    EXPECT_FLOAT_EQ(threshold, static_cast<float>(best->threshold_scale) *
                                   plain.network.stages()[i].neuron.threshold);
    EXPECT_EQ(threshold, swept.stages[i].threshold);
  }
  EXPECT_EQ(swept.network.spec(), chosen.network.spec());
  EXPECT_TRUE(std::ranges::equal(swept.network.parameters().back().value,
                                 chosen.network.parameters().back().value))
      << "the readout has the scale, too";
}

TEST(Convert, OptionsThatDoNotFitAreRefused) {
  const Network ann = small_ann("none");
  const auto told = [&](const EncoderSpec& encoder, const ConversionOptions& options) {
    return refusal([&] { convert(ann, encoder, splits(), options, "run"); });
  };
  EXPECT_THAT(told({.kind = EncoderKind::poisson_signed, .normalisation = kDirect.normalisation},
                   {.calibration_images = 8}),
              HasSubstr("its encoder is poisson-signed, expected direct"));
  EXPECT_THAT(told(kDirect, {.calibration_images = 33}),
              HasSubstr("--calibration-images is 33, expected 1 to the 32 training images"));
  EXPECT_THAT(told(kDirect, {.calibration_images = 8, .percentile = 0.0}),
              HasSubstr("--percentile is 0"));
  EXPECT_THAT(told(kDirect, {.calibration_images = 8, .threshold_scale = -1.0}),
              HasSubstr("--threshold-scale has -1"));
  EXPECT_THAT(told(kDirect, {.calibration_images = 8, .encoder = EncoderKind::poisson_unsigned}),
              HasSubstr("the ANN reads normalised images"));
  EXPECT_THAT(told(kDirect, {.method = "rmq"}), HasSubstr("did you mean 'rmp'?"));
  EXPECT_THAT(refusal([&] {
                convert(ann, kDirect, {images(), {0, 32}, {}},
                        {.calibration_images = 8, .sweep = {1.0}}, "run");
              }),
              HasSubstr("has no validation images"));
}

}  // namespace
}  // namespace bntt
