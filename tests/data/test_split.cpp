#include <gtest/gtest.h>

#include <limits>

#include "data/split.h"
#include "fixtures.h"

namespace bntt {
namespace {

using testing::refusal;

TEST(Split, TheLastTenthIsValidation) {
  const Split split = split_training(60000);
  EXPECT_EQ(split.train, (SampleRange{0, 54000}));
  EXPECT_EQ(split.validation, (SampleRange{54000, 60000}));
}

TEST(Split, RoundsToWholeImages) {
  EXPECT_EQ(split_training(26, 0.1).validation, (SampleRange{23, 26}));
  EXPECT_EQ(split_training(3, 0.1).validation.size(), 0);
  EXPECT_EQ(split_training(100, 0.0).train, (SampleRange{0, 100}));
}

TEST(Split, RefusesFractionsThatLeaveNothing) {
  EXPECT_EQ(refusal([] { split_training(10, 1.0); }),
            "the validation fraction is 1, expected at least 0 and less than 1");
  EXPECT_EQ(refusal([] { split_training(10, -0.5); }),
            "the validation fraction is -0.5, expected at least 0 and less than 1");
  EXPECT_THROW(split_training(10, std::numeric_limits<double>::quiet_NaN()), Error);
  EXPECT_EQ(refusal([] { split_training(2, 0.9); }),
            "a validation fraction of 0.9 leaves none of 2 images for training, expected at least "
            "1");
}

}  // namespace
}  // namespace bntt
