#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "analyse/early_exit.h"
#include "analyse/exit_choice.h"
#include "analyse/json.h"
#include "bntt/error.h"
#include "paper_network.h"
#include "trained.h"

namespace bntt {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::PaperNetwork;
using testing::Trained;

const ExitMethod* find_method(const ExitStudy& study, const std::string& name) {
  const auto found = std::ranges::find(study.methods, name, &ExitMethod::name);
  return found == study.methods.end() ? nullptr : &*found;
}

TEST(ExitStudy, SweepIsThatOnPaper) {
  const PaperNetwork paper;
  const ExitStudy study =
      study_exit(paper.network, paper.sample(), paper.sample(), {.max_loss = 64.0});
  ASSERT_EQ(study.sweep.size(), 4U);
  const std::vector<double> spikes = {10.0 / 3.0, 10.0 / 3.0, 10.0 / 3.0, 5.0 / 3.0};
  // Adds of conv1 (34 per step), fc1 and readout (4 each at the steps 1 and 2).
  const std::vector<double> adds = {4 * 34 + 16, 3 * 34 + 16, 2 * 34 + 16, 34 + 8};
  for (std::size_t i = 0; i < 4; ++i) {
    const ExitPoint& point = study.sweep[i];
    EXPECT_EQ(point.exit_step, 4 - static_cast<int64_t>(i));
    EXPECT_THAT(point.accuracy, DoubleEq(200.0 / 3.0));
    EXPECT_THAT(*point.validation_accuracy, DoubleEq(200.0 / 3.0));
    EXPECT_THAT(point.spikes_per_image, DoubleEq(spikes[i]));
    EXPECT_NEAR(point.energy_pj, 0.9 * adds[i] / 3.0, 1e-12);
    EXPECT_THAT(point.synapse_work, DoubleEq(0.25 * static_cast<double>(point.exit_step)));
    EXPECT_GT(point.ms_per_image, 0.0);
  }
  // Every step answers alike, so that the first is good enough; but three images show no more than
  // that it costs at most 1 − 0.05^(1/3).
  EXPECT_EQ(study.proposed, 3);
  EXPECT_EQ(study.sweep[0].validation_loss_bound, 0.0) << "all steps are all steps";
  EXPECT_EQ(study.sweep[3].validation_loss, 0.0);
  EXPECT_NEAR(*study.sweep[3].validation_loss_bound, 100.0 * (1.0 - std::cbrt(0.05)), 1e-9);
}

TEST(ExitStudy, MethodsAreThoseOnPaper) {
  const PaperNetwork paper;
  const ExitStudy study =
      study_exit(paper.network, paper.sample(), paper.sample(), {.max_loss = 100.0});
  std::vector<std::string> names;
  for (const ExitMethod& method : study.methods) names.push_back(method.name);
  EXPECT_THAT(names, ElementsAre("all-steps", "gamma", "confidence", "margin", "gamma+confidence",
                                 "windows", "combined"));
  EXPECT_EQ(study.methods[0].mean_steps, 4.0);
  EXPECT_EQ(study.methods[0].synapse_work, 1.0);
  EXPECT_THAT(study.methods[0].accumulates_per_image, DoubleEq(152.0 / 3.0));
  EXPECT_EQ(study.methods[1].gamma_threshold, 0.8);
  EXPECT_EQ(study.methods[1].mean_steps, 1.0);
  EXPECT_EQ(study.methods[1].synapse_work, 0.25);
  EXPECT_EQ(study.methods[2].mean_steps, 1.0);
  EXPECT_EQ(study.methods[2].sample_exit, SampleExit::confidence);

  std::vector<double> thresholds;
  for (const WindowPoint& point : study.window_sweep) thresholds.push_back(point.threshold);
  EXPECT_THAT(thresholds, ElementsAre(0.1, 0.3, 0.8, 2.1));
  EXPECT_THAT(study.window_sweep[1].synapse_work, DoubleEq(352.0 / 680.0));
  // Only the readout is left.
  EXPECT_THAT(study.methods[5].synapse_work, DoubleEq(16.0 / 680.0));
  ASSERT_EQ(study.windows.size(), 3U);
  EXPECT_THAT(study.windows[0].active, ElementsAre(false, false, false, false));
  EXPECT_THAT(study.windows[2].active, ElementsAre(true, true, true, true));
}

TEST(ExitStudy, ProposesWithinTheLossOnTheValidationImages) {
  const Trained trained({.encoder = EncoderKind::poisson_signed});
  const ExitStudy study = study_exit(trained.network, trained.sample(), trained.validation(),
                                     {.max_loss = 20.0, .timed_images = 20});
  ASSERT_TRUE(study.proposed.has_value());
  const double whole = *study.sweep.front().validation_accuracy;
  for (int64_t row = 0; row <= *study.proposed; ++row) {
    const ExitPoint& point = study.sweep[row];
    EXPECT_DOUBLE_EQ(*point.validation_loss, whole - *point.validation_accuracy);
    EXPECT_LE(*point.validation_loss_bound, 20.0);
  }
  for (const ExitMethod& method : study.methods) {
    EXPECT_DOUBLE_EQ(*method.validation_loss, whole - *method.validation_accuracy);
    EXPECT_LE(*method.validation_loss_bound, 20.0) << method.name;
    EXPECT_LE(method.synapse_work, 1.0);
  }
  const ExitMethod* all = find_method(study, "all-steps");
  ASSERT_NE(all, nullptr);
  const Evaluation plain = evaluate(trained.network, trained.test, {0, trained.test.size()},
                                    {.encoder = trained.encoder, .seed = 1});
  EXPECT_EQ(all->accuracy, plain.accuracy());
  EXPECT_EQ(study.sweep.front().accuracy, plain.accuracy());
  EXPECT_DOUBLE_EQ(all->spikes_per_image, plain.spikes_per_image());
  const ExitMethod* confidence = find_method(study, "confidence");
  ASSERT_NE(confidence, nullptr);
  EXPECT_LT(confidence->mean_steps, 6.0);
}

TEST(ExitStudy, ARuleHasOneTimeWhereverItStands) {
  const PaperNetwork paper;
  const ExitStudy study =
      study_exit(paper.network, paper.sample(), paper.sample(), {.max_loss = 100.0});
  EXPECT_EQ(study.methods[0].ms_per_image, study.sweep[0].ms_per_image);
  EXPECT_EQ(find_method(study, "gamma")->ms_per_image, study.sweep[*study.proposed].ms_per_image);
}

TEST(ExitStudy, ProposesNothingThatTooFewImagesCannotShow) {
  const Trained trained({.encoder = EncoderKind::poisson_signed});
  const ExitStudy study =
      study_exit(trained.network, trained.sample(), trained.validation(), {.timed_images = 20});
  EXPECT_FALSE(study.proposed.has_value());
  EXPECT_GT(*study.sweep[1].validation_loss_bound, study.max_loss);
  if (*study.sweep[1].validation_loss < study.max_loss) {
    EXPECT_GE(study.validation_images_needed.value(), 998);
  } else {
    EXPECT_FALSE(study.validation_images_needed.has_value()) << "the loss itself is too large";
  }
  EXPECT_EQ(study.methods.size(), 1U);
}

TEST(ExitStudy, StoppingCountsWhatReallyRunningSoFarCounts) {
  const Trained trained({.propagation = Propagation::delayed, .epochs = 2});
  const ExitStudy study =
      study_exit(trained.network, trained.sample(), trained.validation(), {.timed_images = 20});
  EXPECT_EQ(study.first_exit, 3);
  for (const ExitPoint& point : study.sweep) {
    const EnergyStudy real =
        study_energy(trained.network, trained.sample(), {.steps = point.exit_step});
    EXPECT_EQ(point.accuracy, real.accuracy);
    EXPECT_DOUBLE_EQ(point.spikes_per_image, real.spikes_per_image);
    EXPECT_NEAR(point.energy_pj, *real.measured_pj, 1e-6 * *real.measured_pj);
  }
}

TEST(ExitStudy, ProposesNothingWithoutValidationImages) {
  const PaperNetwork paper;
  const ExitStudy study =
      study_exit(paper.network, paper.sample(), {paper.images, {0, 0}, paper.encoder, 1});
  EXPECT_EQ(study.sweep.size(), 4U);
  EXPECT_FALSE(study.proposed.has_value());
  EXPECT_FALSE(study.sweep[0].validation_accuracy.has_value());
  EXPECT_EQ(study.methods.size(), 1U);
  EXPECT_FALSE(to_json(study).contains("proposed"));
}

TEST(ExitStudy, WithoutGainsPerStepImagesStillStopAlone) {
  const Trained trained({.norm = "bn"});
  const ExitStudy study =
      study_exit(trained.network, trained.sample(), trained.validation(), {.max_loss = 20.0});
  EXPECT_THAT(study.sweep, IsEmpty());
  EXPECT_THAT(study.window_sweep, IsEmpty());
  EXPECT_EQ(find_method(study, "gamma"), nullptr);
  EXPECT_NE(find_method(study, "confidence"), nullptr);
}

TEST(ExitStudy, RefusesAnAnn) {
  const Trained ann(
      {.neuron = "relu", .norm = "bn", .encoder = EncoderKind::direct, .steps = 1, .epochs = 0});
  EXPECT_THROW(study_exit(ann.network, ann.sample(), ann.validation()), Error);
}

}  // namespace
}  // namespace bntt
