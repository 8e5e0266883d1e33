#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "base/threads.h"
#include "bntt/encoder.h"
#include "fixtures.h"

namespace bntt {
namespace {

using testing::refusal;

constexpr EncoderSpec kUnsigned = {};

ChannelStatistics statistics(int64_t channels, float mean, float deviation) {
  const auto count = static_cast<std::size_t>(channels);
  return {std::vector<float>(count, mean), std::vector<float>(count, deviation)};
}

Batch batch_of(const std::vector<uint32_t>& ids, MapShape shape) {
  Batch batch{.sample_ids = ids,
              .labels = std::vector<int64_t>(ids.size()),
              .shape = shape,
              .images = Buffer<float>(static_cast<int64_t>(ids.size()) * shape.size())};
  for (int64_t image = 0; image < batch.size(); ++image) {
    for (int64_t i = 0; i < shape.size(); ++i) {
      batch.images[image * shape.size() + i] =
          static_cast<float>((ids[image] * 31 + i * 7) % 256) / 255.0F;
    }
  }
  return batch;
}

Batch uniform_batch(float pixel, MapShape shape) {
  Batch batch = batch_of({5}, shape);
  batch.images.fill(pixel);
  return batch;
}

SpikeTrain spikes(const Batch& batch, int64_t steps, const EncoderSpec& spec, uint64_t seed = 1,
                  uint32_t epoch = 0, int64_t first_step = 0) {
  return std::get<SpikeTrain>(encode(batch, steps, spec, seed, epoch, first_step));
}

std::vector<float> values(const SpikeTrain& train, int64_t step, int64_t image) {
  std::vector<float> result;
  const MapShape& shape = train.shape();
  for (int64_t y = 0; y < shape.height; ++y) {
    for (int64_t x = 0; x < shape.width; ++x) {
      for (int64_t c = 0; c < shape.channels; ++c) {
        result.push_back(train.value(step, image, y, x, c));
      }
    }
  }
  return result;
}

double mean_value(const SpikeTrain& train) {
  double sum = 0.0;
  for (int64_t step = 0; step < train.steps(); ++step) {
    for (const float value : values(train, step, 0)) sum += value;
  }
  return sum / static_cast<double>(train.steps() * train.shape().size());
}

// Written from the definition, in floats and one position at a time.
float expected_value(const Batch& batch, const EncoderSpec& spec, uint64_t seed, Place place,
                     int64_t image, int64_t position) {
  place.sample = batch.sample_ids[image];
  place.block = static_cast<uint32_t>(position / 4);
  const float random = uniform01(draw4(seed, Purpose::encoding, place)[position % 4]);
  const float pixel = batch.images[image * batch.shape.size() + position];
  if (spec.kind == EncoderKind::poisson_unsigned) return random < pixel ? 1.0F : 0.0F;
  const auto channel = static_cast<std::size_t>(position % batch.shape.channels);
  const float x =
      (pixel - spec.normalisation.mean[channel]) / spec.normalisation.deviation[channel];
  if (x == 0.0F || 2.0F * random > std::abs(x)) return 0.0F;
  return x > 0.0F ? 1.0F : -1.0F;
}

TEST(Encoder, FollowsTheDefinitionAtEveryPosition) {
  for (const MapShape shape : {MapShape{3, 5, 7}, MapShape{1, 3, 3}, MapShape{130, 2, 3}}) {
    for (const EncoderKind kind : {EncoderKind::poisson_unsigned, EncoderKind::poisson_signed}) {
      const EncoderSpec spec = {kind, statistics(shape.channels, 0.4F, 0.25F)};
      const Batch batch = batch_of({4, kFirstTestId + 9}, shape);
      const SpikeTrain train = spikes(batch, 3, spec, 77, 12, 6);
      for (int64_t step = 0; step < 3; ++step) {
        const Place place = {.epoch = 12, .step = static_cast<uint32_t>(6 + step)};
        for (int64_t image = 0; image < 2; ++image) {
          const std::vector<float> got = values(train, step, image);
          for (int64_t position = 0; position < shape.size(); ++position) {
            ASSERT_EQ(got[position], expected_value(batch, spec, 77, place, image, position))
                << "step " << step << " image " << image << " position " << position;
          }
        }
      }
    }
  }
}

TEST(Encoder, UnsignedRateIsTheIntensity) {
  constexpr MapShape kShape = {3, 32, 32};
  for (const float pixel : {0.05F, 0.3F, 0.9F}) {
    const double rate = mean_value(spikes(uniform_batch(pixel, kShape), 50, kUnsigned));
    const double tolerance = 5.0 * std::sqrt(pixel * (1.0 - pixel) / (50.0 * 3072));
    EXPECT_NEAR(rate, pixel, tolerance);
  }
}

// Cao's input, a spike where a random number is below c · pixel: signed spikes of pixels from 0 on
// with the deviation 1/(2c). The counts of T steps have the mean c p T and the variance T cp(1 −
// cp).
TEST(Encoder, CountsOfCaosInputHaveTheMeanAndTheVarianceOnPaper) {
  constexpr MapShape kShape = {1, 100, 100};
  constexpr int64_t kSteps = 40;
  constexpr float kFactor = 0.6F;
  const EncoderSpec spec = {EncoderKind::poisson_signed, statistics(1, 0.0F, 0.5F / kFactor)};
  for (const float pixel : {0.1F, 0.5F, 1.0F}) {
    const SpikeTrain train = spikes(uniform_batch(pixel, kShape), kSteps, spec);
    std::vector<double> counts(10'000, 0.0);
    for (int64_t step = 0; step < kSteps; ++step) {
      const std::vector<float> of_step = values(train, step, 0);
      for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += of_step[i];
    }
    double mean = 0.0;
    for (const double count : counts) mean += count / 10'000;
    double variance = 0.0;
    for (const double count : counts) variance += (count - mean) * (count - mean) / 9'999;
    const double rate = kFactor * pixel;
    const double expected = kSteps * rate * (1.0 - rate);
    EXPECT_NEAR(mean, kSteps * rate, 5.0 * std::sqrt(expected / 10'000)) << pixel;
    EXPECT_NEAR(variance, expected, 0.075 * expected) << pixel;
  }
}

TEST(Encoder, UnsignedExtremesAreCertain) {
  constexpr MapShape kShape = {3, 8, 8};
  for (const float black : {0.0F, -0.5F, std::nanf("")}) {
    EXPECT_EQ(mean_value(spikes(uniform_batch(black, kShape), 20, kUnsigned)), 0.0);
  }
  for (const float white : {1.0F, 1.5F}) {
    EXPECT_EQ(mean_value(spikes(uniform_batch(white, kShape), 20, kUnsigned)), 1.0);
  }
}

TEST(Encoder, SignedRateIsHalfTheMagnitude) {
  constexpr MapShape kShape = {3, 32, 32};
  const EncoderSpec spec = {EncoderKind::poisson_signed, statistics(3, 0.5F, 0.25F)};
  for (const float x : {-1.5F, -0.4F, 0.2F, 1.0F}) {
    const double rate = mean_value(spikes(uniform_batch(0.5F + 0.25F * x, kShape), 50, spec));
    const double expected = std::abs(x) / 2.0;
    const double tolerance = 5.0 * std::sqrt(expected * (1.0 - expected) / (50.0 * 3072));
    EXPECT_NEAR(rate, std::copysign(expected, x), tolerance);
  }
}

TEST(Encoder, SignedExtremesAreCertainAndZeroIsSilent) {
  constexpr MapShape kShape = {3, 8, 8};
  const EncoderSpec spec = {EncoderKind::poisson_signed, statistics(3, 0.5F, 0.125F)};
  const auto mean = [&](float pixel) {
    return mean_value(spikes(uniform_batch(pixel, kShape), 20, spec));
  };
  EXPECT_EQ(mean(0.5F), 0.0);
  EXPECT_EQ(mean(1.0F), 1.0);
  EXPECT_EQ(mean(0.0F), -1.0);
  EXPECT_EQ(mean(std::nanf("")), 0.0);
}

TEST(Encoder, PlanesOfSignedInputAreDisjoint) {
  const EncoderSpec spec = {EncoderKind::poisson_signed, statistics(3, 0.5F, 0.25F)};
  const SpikeTrain train = spikes(batch_of({1, 2}, {3, 8, 8}), 10, spec);
  EXPECT_EQ(train.plane_weights(), (std::vector<float>{1.0F, -1.0F}));
  const int64_t half = train.words().size() / 2;
  SpikeWord any_positive = 0;
  SpikeWord any_negative = 0;
  for (int64_t i = 0; i < half; ++i) {
    EXPECT_EQ(train.words()[i] & train.words()[half + i], 0U);
    any_positive |= train.words()[i];
    any_negative |= train.words()[half + i];
  }
  EXPECT_EQ(any_positive, 7U);
  EXPECT_EQ(any_negative, 7U);
}

TEST(Encoder, SpikesDoNotDependOnBatchOrderThreadsOrWindows) {
  constexpr MapShape kShape = {3, 9, 9};
  const Batch together = batch_of({3, 8, 5}, kShape);
  set_threads(1);
  const SpikeTrain one_thread = spikes(together, 6, kUnsigned);
  set_threads(3);
  const SpikeTrain three_threads = spikes(together, 6, kUnsigned);
  set_threads(0);
  EXPECT_TRUE(std::ranges::equal(one_thread.words(), three_threads.words()));

  const SpikeTrain alone = spikes(batch_of({5}, kShape), 6, kUnsigned);
  const SpikeTrain reordered = spikes(batch_of({5, 3}, kShape), 6, kUnsigned);
  const SpikeTrain window = spikes(together, 2, kUnsigned, 1, 0, 3);
  for (int64_t step = 0; step < 6; ++step) {
    EXPECT_EQ(values(alone, step, 0), values(one_thread, step, 2));
    EXPECT_EQ(values(reordered, step, 0), values(one_thread, step, 2));
    EXPECT_EQ(values(reordered, step, 1), values(one_thread, step, 0));
  }
  EXPECT_EQ(values(window, 0, 1), values(one_thread, 3, 1));
  EXPECT_EQ(values(window, 1, 1), values(one_thread, 4, 1));
}

TEST(Encoder, SeedEpochSampleAndStepEachMatter) {
  constexpr MapShape kShape = {3, 16, 16};
  Batch batch = uniform_batch(0.5F, kShape);
  const SpikeTrain base = spikes(batch, 2, kUnsigned);
  EXPECT_NE(values(base, 0, 0), values(base, 1, 0));
  EXPECT_NE(values(base, 0, 0), values(spikes(batch, 1, kUnsigned, 2), 0, 0));
  EXPECT_NE(values(base, 0, 0), values(spikes(batch, 1, kUnsigned, 1, kEvaluationEpoch), 0, 0));
  batch.sample_ids = {6};
  EXPECT_NE(values(base, 0, 0), values(spikes(batch, 1, kUnsigned), 0, 0));
}

TEST(Encoder, DirectIsTheNormalisedImageOnce) {
  const Batch batch = batch_of({1, 2}, {3, 2, 2});
  const EncoderSpec spec = {EncoderKind::direct, {{0.1F, 0.2F, 0.3F}, {0.5F, 0.25F, 2.0F}}};
  const auto train = std::get<DenseTrain>(encode(batch, 9, spec, 1, 0));
  EXPECT_TRUE(train.constant);
  EXPECT_EQ(train.steps, 9);
  EXPECT_EQ(train.batch, 2);
  EXPECT_EQ(train.shape, batch.shape);
  ASSERT_EQ(train.values.size(), 24);
  for (int64_t i = 0; i < 24; ++i) {
    const auto channel = static_cast<std::size_t>(i % 3);
    EXPECT_EQ(train.values[i], (batch.images[i] - spec.normalisation.mean[channel]) /
                                   spec.normalisation.deviation[channel]);
  }
}

TEST(Encoder, NamesRoundTrip) {
  for (const char* name : {"poisson-unsigned", "poisson-signed", "direct"}) {
    EXPECT_EQ(encoder_name(encoder_from_name(name, "key")), name);
  }
  EXPECT_EQ(refusal([] { encoder_from_name("poison", "data.encoder"); }),
            "data.encoder: unknown encoder 'poison', expected one of poisson-unsigned, "
            "poisson-signed, direct, events");
}

}  // namespace
}  // namespace bntt
