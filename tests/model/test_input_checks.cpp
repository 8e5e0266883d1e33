#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bntt/error.h"
#include "bntt/session.h"
#include "bntt/zoo.h"

namespace bntt {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class InputChecks : public ::testing::Test {
 protected:
  DenseTrain dense(int64_t values) const {
    return {.steps = 2, .batch = 1, .shape = spec_.input, .values = Buffer<float>::zeros(values)};
  }

  NetworkSpec spec_ = vgg5({.input = {3, 8, 8}, .classes = 2, .steps = 2, .width = 0.125});
  Network network_{spec_, 1};
  Session session_{network_, 1};
};

TEST_F(InputChecks, RefuseTooFewValues) {
  const auto short_of_values = ThrowsMessage<Error>(HasSubstr("holds 383 values, expected 384"));
  EXPECT_THAT([&] { network_.forward(dense(383), NormMode::batch); }, short_of_values);
  EXPECT_THAT([&] { session_.advance(dense(383)); }, short_of_values);
  EXPECT_EQ(session_.steps_done(), 0);
  EXPECT_NO_THROW(session_.advance(dense(384)));
}

TEST_F(InputChecks, RefuseAStepAfterTheLast) {
  session_.advance(dense(384));
  ASSERT_TRUE(session_.done());
  EXPECT_THAT(
      [&] { session_.advance(dense(384)); },
      ThrowsMessage<Error>(HasSubstr("all 2 steps are done, but the input has another one")));
}

TEST_F(InputChecks, RefuseBitsPastTheLastChannel) {
  SpikeTrain spikes(2, 1, spec_.input);
  spikes.words()[5] = 0b1000;
  const auto past_the_last = ThrowsMessage<Error>(HasSubstr("past its 3 channels"));
  EXPECT_THAT([&] { network_.forward(spikes, NormMode::batch); }, past_the_last);
  EXPECT_THAT([&] { session_.advance(spikes); }, past_the_last);
}

}  // namespace
}  // namespace bntt
