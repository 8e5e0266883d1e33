#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "data/image_file.h"
#include "fixtures.h"
#include "report/data_sheet.h"

namespace bntt {
namespace {

using ::testing::ElementsAre;
using testing::numbered_images;

/// How many pixels of the drawn sheet have this colour.
int64_t pixels_of(const std::vector<uint8_t>& png, std::array<uint8_t, 3> colour) {
  const Picture image = decode_picture(png, "sheet");
  int64_t found = 0;
  for (std::size_t i = 0; i < image.pixels.size(); i += 3) {
    found += std::equal(colour.begin(), colour.end(),
                        image.pixels.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return found;
}

Picture plain(int64_t side, std::array<uint8_t, 3> colour) {
  Picture picture{.width = side, .height = side, .pixels = {}};
  for (int64_t i = 0; i < side * side; ++i) {
    picture.pixels.insert(picture.pixels.end(), colour.begin(), colour.end());
  }
  return picture;
}

TEST(Pictures, GreyColourAndPolarities) {
  const std::vector<uint8_t> grey = {7, 9};
  EXPECT_THAT(image_picture(grey, {1, 1, 2}).pixels, ElementsAre(7, 7, 7, 9, 9, 9));
  const std::vector<uint8_t> colour = {1, 2, 3};
  EXPECT_THAT(image_picture(colour, {3, 1, 1}).pixels, ElementsAre(1, 2, 3));
  const std::vector<uint8_t> events = {0, 0, 4, 0, 0, 4};  // none, off, on
  EXPECT_THAT(event_picture(events, {2, 1, 3}, 4).pixels,
              ElementsAre(255, 255, 255, 30, 80, 200, 200, 30, 30));
  const std::vector<uint8_t> some = {0, 9};
  EXPECT_THAT(event_picture(some, {2, 1, 1}, 16).pixels, ElementsAre(214, 86, 86));
}

TEST(ContactSheet, EnlargesPicturesByAWholeFactorAndDrawsEachOnce) {
  GridSheet sheet{.title = "title", .columns = 2, .cells = {}};
  sheet.cells.push_back({plain(28, {250, 1, 2}), "one"});
  sheet.cells.push_back({plain(28, {3, 250, 4}), "two"});
  sheet.cells.push_back({plain(28, {5, 6, 250}), "three"});
  const std::vector<uint8_t> png = draw_png(sheet);
  for (const std::array<uint8_t, 3> colour :
       {std::array<uint8_t, 3>{250, 1, 2}, {3, 250, 4}, {5, 6, 250}}) {
    EXPECT_EQ(pixels_of(png, colour), 84 * 84);
  }
  EXPECT_EQ(draw_png(sheet), png);
}

TEST(ContactSheet, DrawsStripsAndLargePicturesAsTheyAre) {
  const StripSheet sheet{.title = "title",
                         .note = "note",
                         .headings = {"a", "b"},
                         .rows = {{"x", {plain(200, {250, 1, 2}), plain(200, {3, 250, 4})}},
                                  {"y", {plain(200, {250, 1, 2}), plain(200, {5, 6, 250})}}}};
  const std::vector<uint8_t> png = draw_png(sheet);
  EXPECT_EQ(pixels_of(png, {250, 1, 2}), 2 * 200 * 200);
  EXPECT_EQ(pixels_of(png, {5, 6, 250}), 200 * 200);
}

TEST(ContactSheet, CaptionsOfStrangersAreDrawnWhateverTheyHold) {
  for (const std::string& caption :
       {std::string("\xff\xfe"), std::string("caf\xc3\xa9"), std::string("cut \xe2\x82"),
        std::string("\xed\xa0\x80"), std::string("\xf5\x80\x80\x80"), std::string("a\nb\0c", 5),
        std::string(5000, 'w'), std::string()}) {
    GridSheet sheet{.title = caption, .cells = {}};
    sheet.cells.push_back({plain(28, {250, 1, 2}), caption});
    EXPECT_EQ(pixels_of(draw_png(sheet), {250, 1, 2}), 84 * 84);
  }
}

TEST(ContactSheet, RefusesASheetThatIsTooLarge) {
  GridSheet sheet{.title = "", .columns = 1, .cells = {}};
  for (int i = 0; i < 300; ++i) sheet.cells.push_back({plain(84, {1, 2, 3}), ""});
  EXPECT_THAT(testing::refusal([&] { draw_png(sheet); }),
              ::testing::MatchesRegex("a sheet of 116x33.* pixels is too large, expected at most "
                                      "30000 on each side; show fewer samples"));
}

TEST(DataSheet, SpreadsSamplesOverTheClasses) {
  const ImageSet set = numbered_images(25, {1, 2, 2}, 10);  // labels 0, 1, ..., 9, 0, 1, ...
  EXPECT_THAT(spread_over_classes(set, 3, 0), ElementsAre(0, 1, 2));
  EXPECT_THAT(spread_over_classes(set, 3, 1), ElementsAre(10, 11, 12));
  EXPECT_THAT(spread_over_classes(set, 100, 2), ElementsAre(20, 21, 22, 23, 24));
  EXPECT_THAT(spread_over_classes(set, 100, 3), ::testing::IsEmpty());
  EXPECT_EQ(spread_over_classes(set, 100, 0).size(), 25U);
}

TEST(DataSheet, AccumulatedSpikesApproachTheImage) {
  const ImageSet set = numbered_images(10, {3, 8, 8}, 10);
  const StripSheet sheet = spike_sheet(set, {7}, "title", {.steps = 4000, .seed = 3});
  EXPECT_EQ(sheet.headings.front(), "image");
  EXPECT_EQ(sheet.headings[1], "1 step");
  EXPECT_EQ(sheet.headings.back(), "4000 steps");
  const std::vector<Picture>& pictures = sheet.rows.at(0).pictures;
  ASSERT_EQ(pictures.size(), sheet.headings.size());
  const auto error = [&](const Picture& picture) {
    double sum = 0;
    for (std::size_t i = 0; i < picture.pixels.size(); ++i) {
      const double difference = picture.pixels[i] - pictures[0].pixels[i];
      sum += difference * difference;
    }
    return std::sqrt(sum / static_cast<double>(picture.pixels.size()));
  };
  for (const uint8_t value : pictures[1].pixels) EXPECT_TRUE(value == 0 || value == 255);
  // The deviation of a mean of n draws of p is sqrt(p (1 - p) / n), at most 128 / sqrt(n) here.
  EXPECT_GT(error(pictures[1]), 50);
  EXPECT_LT(error(pictures[4]), 128 / std::sqrt(25));
  EXPECT_LT(error(pictures.back()), 128 / std::sqrt(4000) + 1);
}

TEST(DataSheet, EventFramesFollowTime) {
  ImageSet set = numbered_images(1, {2, 1, 1});
  set.kind = SampleKind::events;
  set.frames = 3;
  set.pixels = std::vector<uint8_t>{0, 1, 1, 0, 0, 0};
  const StripSheet sheet = event_sheet(set, {0}, "title");
  EXPECT_THAT(sheet.headings, ElementsAre("1", "2", "3"));
  const std::vector<Picture>& pictures = sheet.rows.at(0).pictures;
  EXPECT_THAT(pictures.at(0).pixels, ElementsAre(200, 30, 30));
  EXPECT_THAT(pictures.at(1).pixels, ElementsAre(30, 80, 200));
  EXPECT_THAT(pictures.at(2).pixels, ElementsAre(255, 255, 255));
}

}  // namespace
}  // namespace bntt
