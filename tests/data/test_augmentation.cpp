#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "data/augmentation.h"
#include "fixtures.h"

namespace bntt {
namespace {

using ::testing::ElementsAre;
using testing::refusal;

constexpr MapShape kShape = {2, 2, 3};
// [y, x, channel]: red counts up, green is red + 100.
const std::vector<uint8_t> kImage = {1, 101, 2, 102, 3, 103, 4, 104, 5, 105, 6, 106};

// The red bytes of the result; checks that green followed.
std::vector<int> red_after(const CropFlip& crop) {
  std::vector<float> out(12, -1.0F);
  crop_flip(kImage.data(), kShape, crop, out.data());
  std::vector<int> red;
  for (std::size_t i = 0; i < out.size(); i += 2) {
    red.push_back(static_cast<int>(std::lround(out[i] * 255.0F)));
    EXPECT_EQ(std::lround(out[i + 1] * 255.0F), red.back() == 0 ? 0 : red.back() + 100);
  }
  return red;
}

TEST(Augmentation, KnownCropsAndFlips) {
  EXPECT_THAT(red_after({}), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(red_after({.flip = true}), ElementsAre(3, 2, 1, 6, 5, 4));
  EXPECT_THAT(red_after({.top = 1}), ElementsAre(4, 5, 6, 0, 0, 0));
  EXPECT_THAT(red_after({.top = -1}), ElementsAre(0, 0, 0, 1, 2, 3));
  EXPECT_THAT(red_after({.left = 1}), ElementsAre(2, 3, 0, 5, 6, 0));
  EXPECT_THAT(red_after({.left = -2}), ElementsAre(0, 0, 1, 0, 0, 4));
  EXPECT_THAT(red_after({.top = -1, .left = 1, .flip = true}), ElementsAre(0, 0, 0, 0, 3, 2));
}

TEST(Augmentation, PixelsAreExactFractionsOf255) {
  std::vector<float> out(1);
  for (int byte = 0; byte < 256; ++byte) {
    const auto pixel = static_cast<uint8_t>(byte);
    crop_flip(&pixel, {1, 1, 1}, {}, out.data());
    EXPECT_EQ(out[0], static_cast<float>(byte) / 255.0F);
  }
}

TEST(Augmentation, EveryPlaceIsDrawnAboutEquallyOften) {
  std::map<std::tuple<int64_t, int64_t, bool>, int> counts;
  constexpr int kDraws = 18000;
  for (uint32_t sample = 0; sample < kDraws; ++sample) {
    const CropFlip crop = draw_crop_flip({.pad = 1, .flip = true}, kShape, 7, 3, sample);
    ++counts[{crop.top, crop.left, crop.flip}];
  }
  ASSERT_EQ(counts.size(), 18U);
  for (const auto& [place, count] : counts) {
    EXPECT_LE(std::abs(std::get<0>(place)), 1);
    EXPECT_LE(std::abs(std::get<1>(place)), 1);
    EXPECT_NEAR(count, kDraws / 18, 160);  // 5 standard deviations
  }
}

TEST(Augmentation, IsAFunctionOfSeedEpochAndSample) {
  const auto draw = [](uint64_t seed, uint32_t epoch, uint32_t sample) {
    const CropFlip crop = draw_crop_flip({.pad = 1000, .flip = true}, kShape, seed, epoch, sample);
    return std::tuple(crop.top, crop.left);
  };
  EXPECT_EQ(draw(1, 2, 3), draw(1, 2, 3));
  const std::set<std::tuple<int64_t, int64_t>> all = {draw(1, 2, 3), draw(9, 2, 3), draw(1, 9, 3),
                                                      draw(1, 2, 9)};
  EXPECT_EQ(all.size(), 4U);
}

TEST(Augmentation, CanBeSwitchedOff) {
  for (uint32_t sample = 0; sample < 100; ++sample) {
    const CropFlip crop = draw_crop_flip({.pad = 0, .flip = false}, kShape, 7, 3, sample);
    EXPECT_EQ(crop.top, 0);
    EXPECT_EQ(crop.left, 0);
    EXPECT_FALSE(crop.flip);
  }
}

TEST(Augmentation, RefusesAnImpossiblePad) {
  EXPECT_EQ(refusal([] { validate({.pad = 3}, kShape); }),
            "the augmentation pads by 3 pixels, expected 0 to 2 for images of 2x3");
  EXPECT_THROW(validate({.pad = -1}, kShape), Error);
  EXPECT_NO_THROW(validate({.pad = 2}, kShape));
}

}  // namespace
}  // namespace bntt
