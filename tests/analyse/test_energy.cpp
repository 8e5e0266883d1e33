#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyse/energy.h"
#include "analyse/json.h"
#include "analyse/synapse_work.h"
#include "bntt/error.h"
#include "paper_network.h"

namespace bntt {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::PaperNetwork;

TEST(Energy, FanOutShrinksAtTheBorderAndVanishesWherePoolingDrops) {
  const PaperNetwork paper;
  EXPECT_THAT(fan_out(paper.network.stages()[0].branches[0]),
              ElementsAre(8, 12, 8, 12, 18, 12, 8, 12, 8));
  EXPECT_THAT(fan_out(paper.network.stages()[1].branches[0]),
              ElementsAre(2, 2, 0, 2, 2, 0, 0, 0, 0));
  EXPECT_THAT(fan_out(paper.network.stages()[2].branches[0]), ElementsAre(2));
}

TEST(Energy, EveryNumberIsThatOnPaper) {
  const PaperNetwork paper;
  const EnergyStudy study = study_energy(paper.network, paper.sample());
  EXPECT_EQ(study.images, 3);
  EXPECT_EQ(study.steps, 4);
  EXPECT_THAT(study.accuracy, DoubleEq(200.0 / 3.0));
  // conv1 fires twice for every image, fc1 twice for the two whose spikes survive the pool.
  EXPECT_THAT(study.spikes_per_image, DoubleEq(10.0 / 3.0));

  ASSERT_EQ(study.stages.size(), 3U);
  EXPECT_EQ(study.stages[0].flops_ann, 9 * 9 * 1 * 2);
  EXPECT_EQ(study.stages[1].flops_ann, 4);
  EXPECT_EQ(study.stages[2].flops_ann, 4);
  EXPECT_THAT(study.stages[0].spike_rate, DoubleEq(2.0 / 18.0));
  EXPECT_THAT(study.stages[1].spike_rate, DoubleEq(4.0 / 3.0 / 2.0));
  EXPECT_EQ(study.stages[2].spike_rate, 0.0);
  EXPECT_THAT(study.stages[0].flops_snn, DoubleEq(18.0));
  EXPECT_THAT(study.stages[1].flops_snn, DoubleEq(8.0 / 3.0));
  // Input spikes meet 18, 8 and 8 weights at each of the four steps.
  EXPECT_THAT(study.stages[0].accumulates, DoubleEq(4.0 * 34.0 / 3.0));
  EXPECT_THAT(study.stages[1].accumulates, DoubleEq(8.0 / 3.0));
  EXPECT_THAT(study.stages[2].accumulates, DoubleEq(8.0 / 3.0));
  EXPECT_EQ(study.stages[0].multiply_accumulates, 0.0);

  EXPECT_THAT(study.ann_pj, DoubleEq(170 * 4.6));
  EXPECT_NEAR(*study.paper_pj, 0.9 * (18.0 + 8.0 / 3.0), 1e-12);
  EXPECT_NEAR(*study.measured_pj, 0.9 * 152.0 / 3.0, 1e-12);
  EXPECT_NEAR(*study.paper_ratio, 782.0 / 18.6, 1e-12);
  EXPECT_NEAR(*study.measured_ratio, 782.0 / 45.6, 1e-12);
  EXPECT_THAT(*study.truenorth,
              DoubleEq((10.0 / 3.0 * 0.4 + 4 * 0.6) / (4193000 * 0.4 + 1000 * 0.6)));
  EXPECT_GT(study.cpu.ms_per_image, 0.0);
  EXPECT_EQ(study.cpu.images, 3);
}

TEST(Energy, StoppingEarlyCountsOnlyTheStepsTaken) {
  const PaperNetwork paper;
  const EnergyStudy study = study_energy(paper.network, paper.sample(), {.steps = 1});
  EXPECT_EQ(study.steps, 1);
  EXPECT_THAT(study.spikes_per_image, DoubleEq(5.0 / 3.0));
  EXPECT_NEAR(*study.measured_pj, 0.9 * (34.0 + 4.0 + 4.0) / 3.0, 1e-12);
}

TEST(Energy, ADirectEncodedFirstSynapseCostsItsMacsOnce) {
  PaperNetwork paper;
  paper.encoder = {.kind = EncoderKind::direct, .normalisation = {{0.0F}, {1.0F}}};
  const EnergyStudy study = study_energy(paper.network, paper.sample());
  EXPECT_EQ(study.stages[0].multiply_accumulates, 162.0);
  EXPECT_EQ(study.stages[0].accumulates, 0.0);
  // Pixels 0 and 1 give the same currents as their spikes.
  EXPECT_THAT(study.stages[1].accumulates, DoubleEq(8.0 / 3.0));
  EXPECT_NEAR(*study.measured_pj, 162 * 4.6 + 0.9 * 16.0 / 3.0, 1e-9);
}

TEST(Energy, AnAnnHasOnlyItsOwn) {
  const PaperNetwork paper;
  const NeuronSpec relu{.kind = "relu"};
  const Network ann({.input = {1, 3, 3},
                     .steps = 1,
                     .stages = {Conv3x3{.channels = 2, .neuron = relu}, Readout{.classes = 2}}},
                    1);
  const EncoderSpec encoder{.kind = EncoderKind::direct, .normalisation = {{0.0F}, {1.0F}}};
  const EnergyStudy study = study_energy(ann, {paper.images, {0, 3}, encoder, 1});
  EXPECT_FALSE(study.spiking);
  EXPECT_THAT(study.ann_pj, DoubleEq((162 + 36) * 4.6));
  EXPECT_FALSE(study.paper_pj || study.measured_pj || study.paper_ratio || study.truenorth);
  EXPECT_FALSE(to_json(study).contains("measured_pj"));
}

TEST(Energy, TheAppendixComesOutOfItsOwnNumbers) {
  const EnergyTable table = default_energy_table();
  const auto relative = [&](double spikes, double steps) {
    return (spikes * table.truenorth.spike + steps * table.truenorth.step) /
           (table.truenorth.reference_spikes * table.truenorth.spike +
            table.truenorth.reference_steps * table.truenorth.step);
  };
  EXPECT_NEAR(relative(1419600, 100), 0.3384, 1e-4);
  EXPECT_NEAR(relative(131060, 25), 0.0312, 1e-4);
}

TEST(EnergyTable, IsDataAndRefusesNonsense) {
  const EnergyTable table =
      energy_table_from_toml("name = \"7 nm\"\nmac_pj = 1.5\n[truenorth]\nstep = 0.5\n", "my.toml");
  EXPECT_EQ(table.name, "7 nm");
  EXPECT_EQ(table.mac_pj, 1.5);
  EXPECT_EQ(table.accumulate_pj, 0.9);
  EXPECT_EQ(table.int8_accumulate_pj, 0.03);
  EXPECT_EQ(table.truenorth.step, 0.5);
  const auto message = [](const char* text) -> std::string {
    try {
      energy_table_from_toml(text, "my.toml");
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message("mac_pJ = 1.0"), HasSubstr("did you mean 'mac_pj'"));
  EXPECT_THAT(message("mac_pj = -1.0"), HasSubstr("my.toml: mac_pj is -1.0"));
  EXPECT_THAT(message("mac_pj = \"much\""), HasSubstr("my.toml: mac_pj"));
}

}  // namespace
}  // namespace bntt
