#include <gtest/gtest.h>

#include "fixtures.h"
#include "small_anns.h"
#include "train/evaluate.h"

namespace bntt {
namespace {

// Longer than two windows, so that their edges and the steps asked for interleave.
constexpr int64_t kSteps = 2 * kStepsPerWindow + 7;

class AtSteps : public ::testing::TestWithParam<std::tuple<EncoderKind, Propagation>> {};

TEST_P(AtSteps, OnePassGivesWhatAPassForEachWould) {
  const auto [kind, propagation] = GetParam();
  const ImageSet images = testing::noisy_images(23, {1, 8, 8});
  const Network network(vgg5({.input = {1, 8, 8},
                              .classes = 4,
                              .steps = kSteps,
                              .width = 0.1,
                              .propagation = propagation,
                              .norm = testing::kNoNorm}),
                        3);
  EvaluateOptions options{.encoder = {kind, {{0.5F}, {0.25F}}}, .seed = 5};
  options.at_steps = {kStepsPerWindow + 1, 10, kSteps, 10};
  const Evaluation all = evaluate(network, images, {0, 23}, options);
  ASSERT_EQ(all.stopped.size(), 3U) << "each once, ascending";
  for (const StoppedEvaluation& stop : all.stopped) {
    options.at_steps = {};
    options.steps = stop.steps;
    const Evaluation alone = evaluate(network, images, {0, 23}, options);
    // Batches may differ, and with them the order of the sum.
    EXPECT_NEAR(stop.sums.loss, alone.sums.loss, 1e-9 * alone.sums.loss) << stop.steps;
    EXPECT_EQ(stop.sums.correct, alone.sums.correct) << stop.steps;
    EXPECT_EQ(stop.sums.images, 23) << stop.steps;
    // A stage of delayed propagation has fired for later steps when it is stopped.
    if (propagation == Propagation::instant) {
      EXPECT_EQ(stop.spikes_per_image, alone.spikes_per_image()) << stop.steps;
    }
  }
  EXPECT_EQ(all.stopped.back().sums.loss, all.sums.loss);
}

INSTANTIATE_TEST_SUITE_P(
    Evaluate, AtSteps,
    ::testing::Combine(::testing::Values(EncoderKind::direct, EncoderKind::poisson_signed),
                       ::testing::Values(Propagation::instant, Propagation::delayed)));

TEST(Evaluate, RefusesStepsBeyondTheLast) {
  const ImageSet images = testing::noisy_images(2, {1, 8, 8});
  const Network network(vgg5({.input = {1, 8, 8}, .classes = 4, .steps = 6, .width = 0.1}), 3);
  EXPECT_EQ(testing::refusal([&] {
              evaluate(network, images, {0, 2},
                       {.encoder = {EncoderKind::poisson_unsigned, {}}, .at_steps = {7}});
            }),
            "steps: 7 is out of range, expected at most 6");
}

}  // namespace
}  // namespace bntt
