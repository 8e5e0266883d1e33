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
  EXPECT_THAT(widths(cao_net({.input = {1, 28, 28}})), ElementsAre(64, 64, 64, 64, 10));
  EXPECT_THAT(widths(dvs_net({.input = {2, 42, 42}})),
              ElementsAre(128, 256, 512, 1024, 512, 1024, 512, 10));
}

TEST(Zoo, Vgg9HasThePublishedCounts) {
  const NetworkSpec spec = vgg9({});
  EXPECT_EQ(total(spec, &StagePlan::neurons), 246784);
  EXPECT_EQ(total(spec, &StagePlan::macs), 194717696);
  EXPECT_EQ(total(spec, &StagePlan::gains), 25 * (64 + 64 + 128 + 128 + 3 * 256 + 1024));
  EXPECT_EQ(plan_stages(spec)[7].input, (MapShape{256, 4, 4}));
}

TEST(Zoo, Vgg11EndsInOnePixelWhateverTheInput) {
  for (const int64_t side : {32, 64, 100}) {
    const auto plans = plan_stages(vgg11({.input = {3, side, side}}));
    EXPECT_EQ(plans[8].name, "fc1");
    EXPECT_EQ(plans[8].input, (MapShape{512, 1, 1}));
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
    EXPECT_EQ(plan.norm, options.norm);
    EXPECT_EQ(plan.neuron, options.neuron);
  }
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
