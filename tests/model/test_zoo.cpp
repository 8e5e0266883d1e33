#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "bntt/error.h"
#include "bntt/zoo.h"

namespace bntt {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<int64_t> widths(const NetworkSpec& spec) {
  std::vector<int64_t> channels;
  for (const StagePlan& plan : plan_stages(spec)) channels.push_back(plan.output.channels);
  return channels;
}

int64_t total(const NetworkSpec& spec, int64_t StagePlan::*count) {
  const auto plans = plan_stages(spec);
  return std::accumulate(plans.begin(), plans.end(), int64_t{0},
                         [&](int64_t sum, const StagePlan& plan) { return sum + plan.*count; });
}

TEST(Zoo, HasThePublishedWidths) {
  EXPECT_THAT(widths(vgg5({})), ElementsAre(64, 128, 128, 1024, 10));
  EXPECT_THAT(widths(vgg9({})), ElementsAre(64, 64, 128, 128, 256, 256, 256, 1024, 10));
  EXPECT_THAT(widths(vgg11({.classes = 100})),
              ElementsAre(64, 128, 256, 256, 512, 512, 512, 512, 4096, 100));
  EXPECT_THAT(widths(vgg16({})), ElementsAre(64, 64, 128, 128, 256, 256, 256, 512, 512, 512, 512,
                                             512, 512, 4096, 4096, 10));
  EXPECT_EQ(widths(rathi_vgg16({})), widths(vgg16({})));
  EXPECT_EQ(plan_stages(rathi_vgg16({})).at(13).branches.front().fan_in, 512 * 2 * 2)
      << "no fifth pool";
  EXPECT_THAT(widths(cao_net({.input = {1, 28, 28}})), ElementsAre(64, 64, 64, 64, 10));
  const auto cao = plan_stages(cao_net_5x5({}));
  EXPECT_EQ(widths(cao_net_5x5({})), widths(cao_net({})));
  for (const auto& [stage, kernel] : {std::pair{0, 5}, {1, 5}, {2, 3}}) {
    EXPECT_EQ(cao[stage].branches[0].geometry.kernel, kernel);
  }
  EXPECT_EQ(cao[3].branches[0].input, (MapShape{64, 4, 4})) << "padded: only pools halve the map";
  EXPECT_THAT(widths(wu_dvs_net({.input = {2, 42, 42}, .readout_votes = 10})),
              ElementsAre(128, 128, 128, 256, 1024, 100, 100));
  EXPECT_THAT(widths(dvs_net({.input = {2, 42, 42}})),
              ElementsAre(128, 256, 512, 1024, 512, 1024, 512, 10));
}

TEST(Zoo, Vgg9HasThePublishedCounts) {
  const NetworkSpec spec = vgg9({});
  EXPECT_EQ(total(spec, &StagePlan::neurons), 246784);
  EXPECT_EQ(total(spec, &StagePlan::macs), 194717696);
  EXPECT_EQ(total(spec, &StagePlan::gains), 25 * (64 + 64 + 128 + 128 + 3 * 256 + 1024));
  EXPECT_EQ(plan_stages(spec)[7].branches[0].input, (MapShape{256, 4, 4}));
}

TEST(Zoo, Vgg11EndsInOnePixelWhateverTheInput) {
  for (const int64_t side : {32, 64, 100}) {
    const auto plans = plan_stages(vgg11({.input = {3, side, side}}));
    EXPECT_EQ(plans[8].name, "fc1");
    EXPECT_EQ(plans[8].branches[0].input, (MapShape{512, 1, 1}));
  }
}

TEST(Zoo, WidthScalesHiddenStagesOnly) {
  EXPECT_THAT(widths(vgg9({.width = 0.25})), ElementsAre(16, 16, 32, 32, 64, 64, 64, 256, 10));
  EXPECT_THAT(widths(vgg5({.width = 0.001})), ElementsAre(1, 1, 1, 1, 10));
  EXPECT_THAT(widths(cao_net({.width = 0.6})), ElementsAre(38, 38, 38, 38, 10));
  EXPECT_THROW(vgg9({.width = 0.0}), Error);
  EXPECT_THROW(vgg9({.width = 1e300}), Error);
  EXPECT_THROW(vgg9({.width = std::numeric_limits<double>::quiet_NaN()}), Error);
}

TEST(Zoo, OptionsReachEveryStage) {
  const ZooOptions options = {.input = {1, 28, 28},
                              .classes = 7,
                              .steps = 9,
                              .propagation = Propagation::delayed,
                              .norm = {.kind = "layer"},
                              .neuron = {.leak = 0.5F, .reset = Reset::hard},
                              .readout_norm = {.kind = "bn"},
                              .divide_by_steps = false};
  const NetworkSpec spec = cao_net(options);
  EXPECT_EQ(spec.steps, 9);
  EXPECT_EQ(spec.input, options.input);
  EXPECT_EQ(spec.propagation, Propagation::delayed);
  EXPECT_EQ(spec.stages.back(), StageSpec(Readout{7, {.kind = "bn"}, false}));
  for (const StagePlan& plan : plan_stages(spec)) {
    if (plan.readout) continue;
    EXPECT_EQ(plan.branches[0].norm, options.norm);
    EXPECT_EQ(plan.neuron, options.neuron);
  }
}

// The quoted 12.63 M, with β and biases.
TEST(Zoo, Resnet19HasThePublishedParameters) {
  const NetworkSpec spec = resnet19({.steps = 4, .norm = {.kind = "bn-time", .shift = true}});
  EXPECT_EQ(total(spec, &StagePlan::parameters), 12630858);
  const auto plans = plan_stages(spec);
  EXPECT_EQ(plans.size(), 1U + 2 * 8 + 2);
  EXPECT_EQ(plans[2].name, "block1");
  EXPECT_EQ(plans[2].branches[1].synapse, SynapseKind::conv) << "widens";
  EXPECT_EQ(plans[4].branches[1].synapse, SynapseKind::identity);
  EXPECT_EQ(plans[8].output, (MapShape{256, 16, 16}));
  EXPECT_EQ(plans[16].output, (MapShape{512, 8, 8}));
}

TEST(Zoo, Resnet20IsHesWithPointwiseShortcuts) {
  const auto plans = plan_stages(resnet20({.norm = {.kind = "none"}}));
  EXPECT_EQ(plans.size(), 1U + 2 * 9 + 1);
  int64_t shortcuts = 0;
  for (const StagePlan& plan : plans) {
    for (const BranchPlan& branch : plan.branches) shortcuts += branch.geometry.kernel == 1 ? 1 : 0;
  }
  EXPECT_EQ(shortcuts, 2);
  EXPECT_EQ(plans[18].output, (MapShape{64, 8, 8}));
  // 3·16 + 6·16² + (16·32 + 5·32²) + (32·64 + 5·64²) times 9 taps, two shortcuts, the readout.
  int64_t weights = 9 * (3 * 16 + 6 * 16 * 16 + 16 * 32 + 5 * 32 * 32 + 32 * 64 + 5 * 64 * 64);
  weights += 16 * 32 + 32 * 64 + 640;
  EXPECT_EQ(total(resnet20({.norm = {.kind = "none"}}), &StagePlan::weights), weights);
}

TEST(Zoo, SewAddsSpikesUpAndMsRunsACurrent) {
  const auto sew = plan_stages(sew_resnet18({}));
  const BranchPlan& readout = sew.back().branches[0];
  EXPECT_EQ(readout.sources.size(), 3U) << "the shortcut's spikes and those of two blocks";
  EXPECT_EQ(readout.source, (MapShape{512, 4, 4}));
  EXPECT_EQ(readout.input, (MapShape{512, 1, 1}));
  const auto ms = plan_stages(ms_resnet18({}));
  EXPECT_EQ(ms.front().neurons, 0) << "the stem hands its current on";
  EXPECT_EQ(std::ranges::count_if(ms, [](const StagePlan& plan) { return plan.spikes(); }), 17);
  EXPECT_FALSE(ms[3].spikes());
}

TEST(Zoo, AnAnnIsTheSameChain) {
  EXPECT_NO_THROW(plan_stages(vgg9({.steps = 1, .neuron = {.kind = "relu"}})));
  EXPECT_THROW(plan_stages(vgg9({.neuron = {.kind = "relu"}})), Error);
}

TEST(Zoo, EveryNetworkIsFoundByName) {
  const ZooOptions options = {.input = {2, 42, 42}};
  for (const std::string& name : zoo_names()) {
    EXPECT_NO_THROW(plan_stages(zoo_network(name, options))) << name;
  }
  EXPECT_EQ(zoo_network("cao-net", options), cao_net(options));
  try {
    zoo_network("vgg19", options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("unknown network 'vgg19'"));
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'vgg9'?"));
  }
}

TEST(Zoo, InputsTooSmallForThePoolsAreRefused) {
  EXPECT_THROW(plan_stages(vgg16({.input = {3, 31, 31}})), Error);
  EXPECT_NO_THROW(plan_stages(vgg16({.input = {3, 32, 32}})));
}

}  // namespace
}  // namespace bntt
