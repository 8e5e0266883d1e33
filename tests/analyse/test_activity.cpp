#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "analyse/activity.h"
#include "analyse/early_exit.h"
#include "analyse/energy.h"
#include "analyse/json.h"
#include "bntt/error.h"
#include "paper_network.h"

namespace bntt {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using testing::PaperNetwork;

TEST(ActivityStudy, SpikesAndGainsAreThoseOnPaper) {
  PaperNetwork paper;
  const ActivityStudy study =
      study_activity(paper.network, paper.sample(), {.exit_threshold = 0.2, .bins = 4});
  EXPECT_EQ(study.images, 3);
  EXPECT_EQ(study.exit_step, 3);
  EXPECT_THAT(study.input_spikes_per_step, ElementsAre(1.0, 1.0, 1.0, 1.0));
  ASSERT_EQ(study.stages.size(), 2U) << "a readout without γ has nothing to show";
  const StageActivity& conv = study.stages[0];
  EXPECT_THAT(conv.spikes_per_step, ElementsAre(1.0, 1.0, 0.0, 0.0));
  EXPECT_THAT(study.stages[1].spikes_per_step, ElementsAre(2.0 / 3.0, 2.0 / 3.0, 0.0, 0.0));
  EXPECT_THAT(conv.spike_rate, DoubleEq(2.0 / 18.0));
  EXPECT_THAT(conv.density, DoubleEq(2.0 / 72.0));
  EXPECT_THAT(conv.gamma_mean, ElementsAre(2.0, 0.75, 0.0, 0.0625));
  EXPECT_THAT(conv.gamma_magnitude, ElementsAre(2.0, 0.75, 0.25, 0.0625));
  // Bins of 0.5625 from −0.25 to 2.
  ASSERT_EQ(conv.gamma_histograms.size(), 4U);
  EXPECT_EQ(conv.gamma_histograms[0].low, -0.25);
  EXPECT_EQ(conv.gamma_histograms[0].high, 2.0);
  EXPECT_THAT(conv.gamma_histograms[0].counts, ElementsAre(0, 0, 0, 2));
  EXPECT_THAT(conv.gamma_histograms[1].counts, ElementsAre(0, 1, 1, 0));
  EXPECT_THAT(conv.gamma_histograms[2].counts, ElementsAre(2, 0, 0, 0));
}

TEST(ActivityStudy, MembranesAreThoseOnPaper) {
  PaperNetwork paper;
  const ActivityStudy study = study_activity(paper.network, paper.sample(), {.bins = 6});
  ASSERT_TRUE(study.stages[0].membrane.has_value());
  const MembraneStatistics& membrane = *study.stages[0].membrane;
  const double mean = (4.3125 + 2.15625) / 72.0;
  const double square = (6.59765625 + 1.6494140625) / 72.0;
  EXPECT_THAT(membrane.mean, DoubleEq(mean));
  EXPECT_NEAR(membrane.deviation, std::sqrt(square - mean * mean), 1e-12);
  EXPECT_EQ(membrane.histogram.low, -3.0);
  EXPECT_THAT(membrane.histogram.counts, ElementsAre(0, 0, 0, 216 - 9, 6, 3));
}

TEST(ActivityStudy, EffectiveThresholdHoldsWhereItsAssumptionsDo) {
  PaperNetwork paper;
  const ActivityStudy study = study_activity(paper.network, paper.sample());
  ASSERT_TRUE(study.stages[0].effective_threshold.has_value());
  const EffectiveThreshold& threshold = *study.stages[0].effective_threshold;
  EXPECT_THAT(threshold.positive_gains, DoubleEq(7.0 / 8.0));
  EXPECT_EQ(threshold.spikes_elsewhere, 0.0);
  EXPECT_THAT(threshold.real_rate, DoubleEq(2.0 / 63.0));
  // θ̃ = 1/γ; at step 3 only channel 0 has γ > 0.
  EXPECT_THAT(threshold.median, ElementsAre(0.5, 2.0, 4.0, 16.0));
  for (const ThresholdAgreement& form : {threshold.paper, threshold.with_mean}) {
    EXPECT_EQ(form.same, 1.0);
    EXPECT_EQ(form.recall, 1.0);
    EXPECT_EQ(form.precision, 1.0);
    EXPECT_THAT(form.predicted_rate, DoubleEq(2.0 / 63.0));
  }
}

TEST(ActivityStudy, EffectiveThresholdTellsWhichAssumptionFails) {
  PaperNetwork paper;
  // With μ = −1 in channel 1 at the first step, all nine pixels fire there, and the bright one
  // (membranes 3, 5/4, ...) once more.
  paper.network.statistics()[0].value[1] = -1.0F;
  const ActivityStudy study = study_activity(paper.network, paper.sample());
  const EffectiveThreshold& threshold = *study.stages[0].effective_threshold;
  EXPECT_THAT(threshold.real_rate, DoubleEq(12.0 / 63.0));
  // Neglecting μ, only the two spikes of channel 0 are foretold; without, all but the late one.
  EXPECT_THAT(threshold.paper.recall, DoubleEq(2.0 / 12.0));
  EXPECT_THAT(threshold.paper.same, DoubleEq(53.0 / 63.0));
  EXPECT_THAT(threshold.with_mean.recall, DoubleEq(11.0 / 12.0));
  EXPECT_THAT(threshold.with_mean.same, DoubleEq(62.0 / 63.0));
  EXPECT_EQ(threshold.with_mean.precision, 1.0);
}

// The replay's arithmetic must be that of the kernels: its spikes are then those of the network.
TEST(ActivityStudy, ReplayedMembranesFireWhatTheNetworkFires) {
  for (const Propagation propagation : {Propagation::instant, Propagation::delayed}) {
    for (const Reset reset : {Reset::soft, Reset::hard}) {
      const NeuronSpec neuron{.reset = reset};
      Network network({.input = {1, 3, 3},
                       .steps = 6,
                       .propagation = propagation,
                       .stages = {Conv3x3{.channels = 5, .neuron = neuron},
                                  Dense{.features = 7, .neuron = neuron}, Readout{.classes = 2}}},
                      3);
      const PaperNetwork paper;
      const EncoderSpec encoder{.kind = EncoderKind::direct, .normalisation = {{0.1F}, {0.3F}}};
      const ActivityStudy study =
          study_activity(network, {paper.images, {0, 3}, encoder, 1}, {.bins = 6});
      for (const StageActivity& stage : study.stages) {
        // Bins of 1 from −3 to 3: what is above the threshold 1 is in the last two.
        const std::vector<int64_t>& counts = stage.membrane->histogram.counts;
        const double samples = std::accumulate(counts.begin(), counts.end(), 0.0);
        EXPECT_THAT(static_cast<double>(counts[4] + counts[5]) / samples, DoubleEq(stage.density))
            << stage.name;
        EXPECT_GT(stage.density, 0.0);
        EXPECT_THAT(stage.effective_threshold->real_rate, DoubleEq(stage.density));
      }
    }
  }
}

TEST(ActivityStudy, SurvivesANetworkOfNonsense) {
  for (const float nonsense :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 1e38F}) {
    PaperNetwork paper;
    for (Parameter& parameter : paper.network.parameters()) parameter.value.fill(nonsense);
    const ActivityStudy study = study_activity(paper.network, paper.sample());
    EXPECT_FALSE(to_json(study).dump().empty());
    study_exit(paper.network, paper.sample(), paper.sample());
    study_energy(paper.network, paper.sample());
  }
}

TEST(ActivityStudy, RefusesAnAnn) {
  const NeuronSpec relu{.kind = "relu"};
  Network ann({.input = {1, 3, 3},
               .steps = 1,
               .stages = {Dense{.features = 2, .neuron = relu}, Readout{.classes = 2}}},
              1);
  const PaperNetwork paper;
  EXPECT_THROW(study_activity(ann, paper.sample()), Error);
}

}  // namespace
}  // namespace bntt
