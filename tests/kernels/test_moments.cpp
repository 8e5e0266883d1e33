#include <gtest/gtest.h>

#include <cmath>

#include "guarded.h"

namespace bntt::kernels {
namespace {

using testing::EverySet;
using testing::Guarded;
using testing::Numbers;

struct Moments {
  Guarded<float> mean;
  Guarded<float> squared;
};

Moments moments(const KernelSet& set, const std::vector<float>& values, int64_t channels) {
  const auto samples = static_cast<int64_t>(values.size()) / channels;
  Moments result{Guarded<float>(channels, -7.0F), Guarded<float>(channels, -7.0F)};
  set.channel_moments(values.data(), samples, channels, result.mean.data(), result.squared.data());
  return result;
}

class MomentsOfEverySet : public EverySet {};
INSTANTIATE_TEST_SUITE_P(Sets, MomentsOfEverySet, ::testing::ValuesIn(kernel_sets()),
                         testing::set_name);

TEST_P(MomentsOfEverySet, AreTheReferencesBits) {
  for (const int64_t channels : {1, 3, 7, 8, 9, 15, 16, 17, 63, 64, 65, 130}) {
    for (const int64_t samples : {1, 2, 63, 64, 65, 1000}) {
      SCOPED_TRACE(::testing::Message() << channels << " channels, " << samples << " samples");
      Numbers numbers(static_cast<uint32_t>(channels * 10000 + samples));
      const auto values = numbers.vector(samples * channels, 2.0F, 0.3F);
      const Moments ours = moments(set(), values, channels);
      const Moments expected = moments(reference_, values, channels);
      EXPECT_TRUE(ours.mean.same_bits(expected.mean));
      EXPECT_TRUE(ours.squared.same_bits(expected.squared));
      EXPECT_TRUE(ours.mean.guards_intact() && ours.squared.guards_intact());
    }
  }
}

// E[x²] − μ² in fp32 would leave nothing of a deviation of 0.01 at 1000.
TEST_P(MomentsOfEverySet, SurviveALargeCommonOffset) {
  constexpr int64_t kChannels = 9;
  constexpr int64_t kSamples = 5000;
  Numbers numbers(5);
  const auto values = numbers.vector(kSamples * kChannels, 0.01F, 1000.0F);
  const Moments ours = moments(set(), values, kChannels);
  for (int64_t c = 0; c < kChannels; ++c) {
    double mean = 0.0;
    for (int64_t s = 0; s < kSamples; ++s) mean += values[s * kChannels + c];
    mean /= kSamples;
    double squared = 0.0;
    for (int64_t s = 0; s < kSamples; ++s) {
      squared += std::pow(values[s * kChannels + c] - mean, 2);
    }
    EXPECT_NEAR(ours.mean.data()[c] / mean, 1.0, 1e-7);
    EXPECT_NEAR(ours.squared.data()[c] / squared, 1.0, 1e-6);
  }
}

TEST_P(MomentsOfEverySet, OfEqualValuesHaveNoDeviation) {
  const Moments ours = moments(set(), std::vector<float>(300, 0.1F), 3);
  for (int64_t c = 0; c < 3; ++c) {
    EXPECT_EQ(ours.mean.data()[c], 0.1F);
    EXPECT_EQ(ours.squared.data()[c], 0.0F);
  }
}

}  // namespace
}  // namespace bntt::kernels
