#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "classical/result.h"
#include "fixtures.h"

namespace bntt {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::refusal;

TEST(Result, TallyCountsAnswers) {
  const Tally counted = tally({0, 0, 1, 1, 1, 2}, {0, 1, 1, -1, 1, 0}, 4);
  EXPECT_EQ(counted.right, 3);
  EXPECT_THAT(counted.confusion[0], ElementsAre(1, 1, 0, 0));
  EXPECT_THAT(counted.unanswered, ElementsAre(0, 1, 0, 0));
  // 1/2, 2/3 and 0 of the classes that there are.
  EXPECT_NEAR(counted.class_balanced(), 100.0 * (0.5 + 2.0 / 3.0) / 3.0, 1e-9);
}

TEST(Result, AreaUnderRoc) {
  EXPECT_DOUBLE_EQ(area_under_roc({1, 2, 3, 4}, {0, 0, 1, 1}), 1.0);
  EXPECT_DOUBLE_EQ(area_under_roc({4, 3, 2, 1}, {0, 0, 1, 1}), 0.0);
  EXPECT_DOUBLE_EQ(area_under_roc({1, 1, 1, 1}, {0, 0, 1, 1}), 0.5);
  EXPECT_DOUBLE_EQ(area_under_roc({1, 3, 2, 4}, {0, 0, 1, 1}), 0.75);
}

ClassicalResult sample() {
  ClassicalResult result{.method = "hats", .title = "HATS", .source = "a paper"};
  result.data = {.name = "nmnist",
                 .classes = {"a", "b"},
                 .sensor_width = 3,
                 .sensor_height = 2,
                 .train = 8,
                 .validation = 1,
                 .test = 3};
  result.features = {.count = 5, .mean_nonzero = 2.5, .text = "five"};
  result.right = 2;
  result.accuracy = 66.625;
  result.confusion = {{1, 0}, {1, 1}};
  result.unanswered = {0, 0};
  result.maps = {{.group = "g", .name = "m", .width = 2, .height = 1, .values = {1, 2}}};
  return result;
}

TEST(Result, RoundTrip) {
  const std::string text = to_json(sample()).dump();
  EXPECT_EQ(to_json(classical_result_from_json(text, "file")).dump(), text);
  const ClassicalTimes times{
      .threads = 2, .seconds = 1.5, .passes = {{.what = "x", .recordings = 3, .work_ms = 0.25}}};
  const std::string timed = to_json(times).dump();
  EXPECT_EQ(to_json(classical_times_from_json(timed, "file")).dump(), timed);
}

TEST(Result, ContradictionsAreRefused) {
  Json damaged = to_json(sample());
  damaged["confusion"] = {{1}};
  EXPECT_THAT(refusal([&] { classical_result_from_json(damaged.dump(), "file"); }),
              HasSubstr("file: confusion and unanswered do not fit the 2 classes"));
  damaged = to_json(sample());
  damaged["maps"][0]["width"] = 3;
  EXPECT_THAT(refusal([&] { classical_result_from_json(damaged.dump(), "file"); }),
              HasSubstr("the map 'm' has 2 values"));
  damaged = to_json(sample());
  damaged["accuracy"] = 101;
  EXPECT_THAT(refusal([&] { classical_result_from_json(damaged.dump(), "file"); }),
              HasSubstr("accuracy"));
}

}  // namespace
}  // namespace bntt
