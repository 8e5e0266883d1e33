#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "analyse/exit_choice.h"
#include "analyse/exit_rule.h"
#include "analyse/inference.h"
#include "bntt/threads.h"
#include "model/learned_windows.h"
#include "paper_network.h"
#include "trained.h"

namespace bntt {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using testing::PaperNetwork;
using testing::Trained;

void expect_same_answers(const Inference& ours, const Evaluation& plain) {
  EXPECT_EQ(ours.sums.loss, plain.sums.loss) << "not the same bits";
  EXPECT_EQ(ours.sums.correct, plain.sums.correct);
  EXPECT_EQ(ours.sums.images, plain.sums.images);
  EXPECT_EQ(ours.activity.spikes, plain.activity.spikes);
  EXPECT_EQ(ours.steps, plain.steps);
}

using Case = std::tuple<EncoderKind, Propagation, std::string>;
class ExitOff : public ::testing::TestWithParam<Case> {};

TEST_P(ExitOff, GivesTheBitsOfPlainEvaluation) {
  const auto [encoder, propagation, norm] = GetParam();
  const Trained trained(
      {.norm = norm, .propagation = propagation, .encoder = encoder, .epochs = 1});
  const Sample sample = trained.sample();
  for (const int64_t steps : {int64_t{0}, int64_t{4}}) {
    const Evaluation plain =
        evaluate(trained.network, trained.test, sample.range,
                 {.encoder = trained.encoder, .seed = sample.seed, .steps = steps});
    EXPECT_GT(plain.spikes_per_image(), 0.0);
    expect_same_answers(infer(trained.network, sample, {.steps = steps}), plain);
    // Step by step, with an exit that nobody reaches, and with windows that are always open.
    const StepWindows open{std::vector<std::vector<bool>>(3, std::vector<bool>(6, true))};
    const Inference watched = infer(trained.network, sample,
                                    {.steps = steps,
                                     .sample_exit = SampleExit::confidence,
                                     .limit = 2.0,
                                     .windows = open,
                                     .count_work = true});
    expect_same_answers(watched, plain);
    EXPECT_THAT(watched.steps_taken, Each(plain.steps));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Inference, ExitOff,
    ::testing::Combine(::testing::Values(EncoderKind::poisson_signed, EncoderKind::direct),
                       ::testing::Values(Propagation::instant, Propagation::delayed),
                       ::testing::Values("bntt", "layer")));

TEST(SampleExits, AreThoseOnPaper) {
  const PaperNetwork paper;
  // Voltage per step of class 0: 1, 2/2, 2/3, 2/4 for the first two images, and 0 for the third,
  // which never gets sure: e / (e + 1) = 0.73 against 0.5.
  for (const auto& [measure, limit] :
       {std::pair{SampleExit::confidence, 0.7}, std::pair{SampleExit::margin, 0.45}}) {
    const Inference run = infer(paper.network, paper.sample(),
                                {.sample_exit = measure, .limit = limit, .count_work = true});
    EXPECT_THAT(run.steps_taken, ElementsAre(1, 1, 4));
    EXPECT_THAT(run.predictions, ElementsAre(0, 0, 0));
    EXPECT_EQ(run.mean_steps(), 2.0);
    EXPECT_DOUBLE_EQ(run.spikes_per_image(), 2.0);
    EXPECT_DOUBLE_EQ(run.work.dense_macs(paper.network), 170.0 + 170.0 + 4 * 170.0);
    EXPECT_THAT(run.work.accumulates[0], ElementsAre(34, 8, 8, 8));
    EXPECT_THAT(run.work.accumulates[1], ElementsAre(4, 0, 0, 0));
    EXPECT_THAT(run.work.frames[2], ElementsAre(3, 1, 1, 1));
  }
}

// An image that stops alone must get what it would have got in the whole batch at that step.
TEST(SampleExits, LeaveTheAnswersOfTheOthersAlone) {
  for (const EncoderKind encoder : {EncoderKind::poisson_unsigned, EncoderKind::direct}) {
    const Trained trained({.encoder = encoder});
    const Inference whole = infer(trained.network, trained.sample(), {.keep_trajectory = true});
    const std::vector<double> work =
        work_until(trained.network, {}, encoder == EncoderKind::direct);
    const ExitAnswers judged{whole.trajectory, trained.test.labels, work};
    for (const double limit : {0.4, 0.6, 0.8}) {
      const SampleOutcome expected = outcome_of(judged, SampleExit::confidence, limit, whole.steps);
      const Inference run =
          infer(trained.network, trained.sample(),
                {.sample_exit = SampleExit::confidence, .limit = limit, .count_work = true});
      EXPECT_EQ(run.accuracy(), expected.accuracy());
      EXPECT_DOUBLE_EQ(run.mean_steps(), expected.mean_steps);
      EXPECT_NEAR(run.work.dense_macs(trained.network) / 200.0, expected.mean_work, 1e-6);
      for (std::size_t image = 0; image < run.predictions.size(); ++image) {
        const int64_t at = static_cast<int64_t>(image) * whole.trajectory.steps +
                           run.steps_taken[image] - whole.trajectory.first_step;
        EXPECT_EQ(run.predictions[image], whole.trajectory.predictions[at]);
      }
    }
    const Inference some = infer(trained.network, trained.sample(),
                                 {.sample_exit = SampleExit::confidence, .limit = 0.6});
    EXPECT_LT(some.mean_steps(), static_cast<double>(some.steps)) << "nobody left";
    EXPECT_GT(some.mean_steps(), 1.0) << "everybody left at once";
    EXPECT_LT(some.spikes_per_image(), whole.spikes_per_image());
  }
}

// Threads take groups of images of their own, and packing puts images into other places.
TEST(SampleExits, AreTheSameOnAnyNumberOfThreads) {
  for (const EncoderKind encoder : {EncoderKind::poisson_unsigned, EncoderKind::direct}) {
    const Trained trained({.encoder = encoder});
    const StepWindows windows{{{true, true, true, true, false, false},
                               {false, true, true, true, true, false},
                               {true, true, true, true, true, true}}};
    InferenceOptions options{
        .sample_exit = SampleExit::margin, .limit = 0.5, .windows = windows, .count_work = true};
    const int before = threads();
    set_threads(1);
    const Inference alone = infer(trained.network, trained.sample(), options);
    EXPECT_LT(alone.mean_steps(), static_cast<double>(alone.steps)) << "nobody left";
    EXPECT_GT(alone.mean_steps(), 1.0) << "everybody left at once";
    options.count_work = false;
    for (const int count : {1, 2, 3, 8}) {
      set_threads(count);
      const Inference run = infer(trained.network, trained.sample(), options);
      EXPECT_EQ(run.sums.loss, alone.sums.loss) << "not the same bits";
      EXPECT_EQ(run.predictions, alone.predictions);
      EXPECT_EQ(run.steps_taken, alone.steps_taken);
      EXPECT_EQ(run.activity.spikes, alone.activity.spikes);
      EXPECT_EQ(run.activity.images, alone.activity.images);
    }
    set_threads(before);
  }
}

// A synapse that rests adds 0, which is what γ = 0 makes of its work.
TEST(LayerWindows, DoWhatAGainOfZeroDoes) {
  for (const EncoderKind encoder : {EncoderKind::poisson_signed, EncoderKind::direct}) {
    for (const Propagation propagation : {Propagation::instant, Propagation::delayed}) {
      Trained trained({.propagation = propagation, .encoder = encoder, .epochs = 1});
      const StepWindows windows{{{true, false, false, true, true, false},
                                 {true, true, false, true, false, true},
                                 {true, true, true, true, true, true}}};
      const Inference rested =
          infer(trained.network, trained.sample(), {.windows = windows, .count_work = true});
      const Inference stepwise =
          infer(trained.network, trained.sample(), {.windows = windows, .keep_trajectory = true});
      const Inference full = infer(trained.network, trained.sample(), {.count_work = true});
      EXPECT_LT(rested.work.dense_macs(trained.network), full.work.dense_macs(trained.network));
      EXPECT_NE(rested.activity.spikes, full.activity.spikes);

      for (std::size_t stage = 0; stage < 2; ++stage) {
        const int64_t channels = trained.network.stages()[stage].output.channels;
        Buffer<float>& gain = trained.network.parameters()[2 * stage + 1].value;
        for (int64_t step = 0; step < 6; ++step) {
          if (windows.active[stage][step]) continue;
          std::fill_n(gain.data() + step * channels, channels, 0.0F);
        }
      }
      const Evaluation plain = evaluate(trained.network, trained.test, {0, trained.test.size()},
                                        {.encoder = trained.encoder, .seed = 1});
      expect_same_answers(rested, plain);
      expect_same_answers(stepwise, plain);
    }
  }
}

// The network brings its own windows: nobody needs to ask for them.
TEST(LearnedWindows, LeaveOutTheWorkOfInference) {
  for (const EncoderKind encoder : {EncoderKind::poisson_signed, EncoderKind::direct}) {
    Trained trained({.encoder = encoder, .epochs = 1});
    LearnedWindows learned = all_steps(trained.network);
    learned.active[0][0] = {true, true, false, true, false, false};
    learned.active[1][0] = {false, true, true, true, true, false};
    const StepWindows windows{{learned.active[0][0], learned.active[1][0], learned.active[2][0]}};
    const Inference given =
        infer(trained.network, trained.sample(), {.windows = windows, .count_work = true});
    const std::vector<double> work = work_until(trained.network, windows, false);
    trained.network.set_windows(learned);
    const Inference own = infer(trained.network, trained.sample(), {.count_work = true});
    EXPECT_EQ(own.activity.spikes, given.activity.spikes);
    EXPECT_EQ(own.work.frames, given.work.frames);
    EXPECT_EQ(own.work.accumulates, given.work.accumulates);
    EXPECT_EQ(work_until(trained.network, {}, false), work);
    expect_same_answers(own, evaluate(trained.network, trained.test, {0, trained.test.size()},
                                      {.encoder = trained.encoder, .seed = 1}));
  }
}

TEST(LayerWindows, WorkIsThatOnPaper) {
  const PaperNetwork paper;
  const StepWindows windows = layer_windows(paper.network, 0.3);
  const Inference run =
      infer(paper.network, paper.sample(), {.windows = windows, .count_work = true});
  EXPECT_EQ(run.work.dense_macs(paper.network), 3.0 * (2 * 162 + 3 * 4 + 4 * 4));
  EXPECT_THAT(run.work.accumulates[0], ElementsAre(34, 34, 0, 0));
  EXPECT_EQ(work_until(paper.network, windows, false).back(), 352.0);
}

TEST(Trajectories, HoldVoltagePerStepSoFar) {
  const PaperNetwork paper;
  const Inference run = infer(paper.network, paper.sample(), {.keep_trajectory = true});
  ASSERT_EQ(run.trajectory.confidence.size(), 12U);
  const double voltages[] = {1.0, 2.0 / 2.0, 2.0 / 3.0, 2.0 / 4.0};
  for (std::size_t step = 0; step < 4; ++step) {
    const double sure = 1.0 / (1.0 + std::exp(-voltages[step]));
    EXPECT_NEAR(run.trajectory.confidence[step], sure, 1e-6);
    EXPECT_NEAR(run.trajectory.margin[step], 2.0 * sure - 1.0, 1e-6);
    EXPECT_EQ(run.trajectory.confidence[8 + step], 0.5F);
  }
}

}  // namespace
}  // namespace bntt
