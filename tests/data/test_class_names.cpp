#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/class_names.h"
#include "fixtures.h"

namespace bntt {
namespace {

using ::testing::ElementsAre;
using testing::refusal;
using Names = std::vector<std::string>;

ImageSet labelled(const Names& names, const std::vector<int64_t>& labels) {
  return {.classes = static_cast<int64_t>(names.size()),
          .pixels = {},
          .labels = labels,
          .class_names = names};
}

TEST(ClassNames, LabelsFollowTheirNames) {
  ImageSet set = labelled({"bird", "cat", "dog"}, {0, 1, 2, 2, 0});
  match_classes(set, Names{"dog", "bird", "cat"}, "folder");
  EXPECT_THAT(set.labels, ElementsAre(1, 2, 0, 0, 1));
  EXPECT_THAT(set.class_names, ElementsAre("dog", "bird", "cat"));
  match_classes(set, Names{"dog", "bird", "cat"}, "folder");
  EXPECT_THAT(set.labels, ElementsAre(1, 2, 0, 0, 1));
}

TEST(ClassNames, BothSplitsAreMatched) {
  DatasetSplits splits{.train = labelled({"a", "b"}, {0, 1}), .test = labelled({"a", "b"}, {1})};
  match_classes(splits, Names{"b", "a"}, "folder");
  EXPECT_THAT(splits.train.labels, ElementsAre(1, 0));
  EXPECT_THAT(splits.test.labels, ElementsAre(0));
}

TEST(ClassNames, OtherClassesAreRefusedByName) {
  ImageSet set = labelled({"bird", "cat"}, {0, 1});
  const auto refused = [&](const Names& names) {
    return refusal([&] { match_classes(set, names, "folder"); });
  };
  EXPECT_EQ(refused({"bird", "cat", "dog"}),
            "folder: the class 'dog' of the run is missing from the data");
  EXPECT_EQ(refused({"bird"}),
            "folder: the data have the class 'cat', which the run does not know");
  EXPECT_EQ(refused({"Bird", "cat"}),
            "folder: the class 'Bird' of the run is missing from the data");
  EXPECT_EQ(refused({"bird", "cat", "cat"}), "folder: the run has the class 'cat' twice");
  EXPECT_THAT(set.labels, ElementsAre(0, 1));
}

TEST(ClassNames, TheDifferenceNamesTheFirstFew) {
  EXPECT_EQ(class_difference(Names{"cat", "cow", "pig"}, Names{"dog", "pig"}),
            "; not in the run: 'dog'; not in the data: 'cat', 'cow'");
  EXPECT_EQ(class_difference(Names{"b", "a"}, Names{"a", "b"}), "");
  EXPECT_EQ(class_difference({}, Names{"a", "b"}), "");
  EXPECT_EQ(class_difference(Names{"a"}, Names{"a", "b", "c", "d", "e", "f", "g", "h"}),
            "; not in the run: 'b', 'c', 'd', 'e', 'f' and 2 more");
}

TEST(ClassNames, WithoutNamesOnlyTheirNumberIsCompared) {
  ImageSet set = labelled({}, {2, 0});
  set.classes = 3;
  match_classes(set, Names{"a", "b", "c"}, "cifar100");
  EXPECT_THAT(set.labels, ElementsAre(2, 0));
  EXPECT_EQ(refusal([&] {
              match_classes(set, Names{"a", "b"}, "cifar100");
            }),
            "cifar100: the data have 3 classes, but the run has 2");
  ImageSet named = labelled({"b", "a"}, {0, 1});
  match_classes(named, {}, "folder");
  EXPECT_THAT(named.labels, ElementsAre(0, 1));
}

}  // namespace
}  // namespace bntt
