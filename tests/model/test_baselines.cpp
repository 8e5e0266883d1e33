#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "bntt/network.h"
#include "bntt/zoo.h"

namespace bntt {
namespace {

using ::testing::ElementsAre;

// The average of 2x2 pixels, then neurons without leak, threshold 0.75: in 12 steps in which k of
// the four fire each time, 3, 6, 6 and 12 spikes.
TEST(SpikingPools, OnPaper) {
  const BranchSpec pooled{.pool = {PoolKind::average, 2},
                          .synapse = {.kind = SynapseKind::identity},
                          .norm = {.kind = "none"}};
  const NetworkSpec spec{
      .input = {1, 2, 2},
      .steps = 12,
      .stages = {BranchedStage{"pool", {pooled}, {.kind = "lee-if", .threshold = 0.75F}},
                 Readout{.classes = 1}}};
  Network network(spec, 1);
  std::vector<int64_t> counts;
  for (int64_t firing = 1; firing <= 4; ++firing) {
    SpikeTrain input(12, 1, {1, 2, 2});
    for (int64_t step = 0; step < 12; ++step) {
      for (int64_t i = 0; i < firing; ++i) input.set(0, step, 0, i / 2, i % 2, 0);
    }
    Activity activity;
    ChainState state = network.start(1);
    network.advance(input, state, &activity);
    counts.push_back(
        std::accumulate(activity.spikes[0].begin(), activity.spikes[0].end(), int64_t{0}));
  }
  EXPECT_THAT(counts, ElementsAre(3, 6, 6, 12));
}

TEST(SpikingPools, StandInTheZooWhereAveragePoolsDo) {
  const auto plans = plan_stages(vgg9({.norm = {.kind = "none"},
                                       .neuron = {.kind = "lee", .dropout = 0.2F},
                                       .pool_threshold = 0.75F}));
  std::vector<std::string> names;
  for (const StagePlan& plan : plans) names.push_back(plan.name);
  EXPECT_THAT(names, ElementsAre("conv1", "conv2", "pool1", "conv3", "conv4", "pool2", "conv5",
                                 "conv6", "conv7", "pool3", "fc1", "fc2"));
  EXPECT_EQ(plans[2].neuron.kind, "lee-if");
  EXPECT_EQ(plans[2].neuron.threshold, 0.75F);
  EXPECT_EQ(plans[2].neuron.dropout, 0.0F);
  EXPECT_EQ(plans[3].neuron.dropout, 0.2F);
  EXPECT_EQ(plans[2].output, (MapShape{64, 16, 16}));
  EXPECT_EQ(plans[2].weights, 0);
  // What the readout adds up is added up before the pool's neurons.
  const auto sew = plan_stages(sew_resnet18({.pool_threshold = 0.5F}));
  EXPECT_EQ(sew[sew.size() - 2].name, "pool1");
  EXPECT_EQ(sew[sew.size() - 2].branches[0].sources.size(), 3U);
  EXPECT_EQ(sew.back().branches[0].sources.size(), 1U);
}

TEST(Zoo, CifarnetVotesAndHasNeuNormInItsConvolutions) {
  const auto plans = plan_stages(cifarnet({.norm = {.kind = "none"},
                                           .neuron = {.kind = "neunorm", .dropout = 0.5F},
                                           .readout_votes = 10}));
  ASSERT_EQ(plans.size(), 9U);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(plans[i].neuron.kind, i < 5 ? "neunorm" : "lif");
    EXPECT_EQ(plans[i].neuron.dropout, i < 6 ? 0.5F : 0.0F);
    EXPECT_TRUE(plans[i].branches[0].bias);
  }
  EXPECT_EQ(plans[4].output, (MapShape{512, 8, 8}));
  EXPECT_EQ(plans[7].output, (MapShape{100, 1, 1}));
  EXPECT_EQ(plans[8].weights, 0);
  // w of every neuron.
  EXPECT_EQ(plans[0].parameters, 3 * 9 * 128 + 128 + 128 * 32 * 32);
}

TEST(Zoo, PlifNetAndTebnVgg9DropBeforeTheirFullyConnectedStages) {
  const ZooOptions options{.neuron = {.dropout = 0.5F}, .readout_votes = 10};
  for (const NetworkSpec& spec : {plif_net(options), tebn_vgg9(options)}) {
    for (const StagePlan& plan : plan_stages(spec)) {
      if (plan.readout) continue;
      EXPECT_EQ(plan.neuron.dropout, plan.name == "pool" || plan.name == "fc1" ? 0.5F : 0.0F)
          << plan.name;
    }
  }
  const auto plif = plan_stages(plif_net(options));
  EXPECT_EQ(plif[6].output, (MapShape{256, 8, 8}));
  EXPECT_EQ(plif[8].output, (MapShape{100, 1, 1}));
  const auto tebn = plan_stages(tebn_vgg9(options));
  EXPECT_EQ(tebn[7].output, (MapShape{256, 4, 4}));
  EXPECT_FALSE(tebn[8].spikes());
  EXPECT_EQ(tebn[9].output, (MapShape{100, 1, 1}));
}

TEST(Zoo, ZeroResidualSilencesTheEndOfEveryBlock) {
  for (const auto& build : {resnet20, sew_resnet18, ms_resnet18}) {
    int64_t zeros = 0;
    for (const StagePlan& plan : plan_stages(build({.zero_residual = true}))) {
      for (const BranchPlan& branch : plan.branches) {
        if (branch.norm.gain_start != 0.0F) continue;
        ++zeros;
        EXPECT_EQ(branch.geometry.kernel, 3);
      }
    }
    EXPECT_EQ(zeros, build == resnet20 ? 9 : 8);
  }
}

/// NeuNorm's state is more than membranes: it must survive windows and images that leave.
TEST(NeuNorm, WindowsOfAnyLengthGiveTheBitsOfOneForwardPass) {
  const NormSpec none{.kind = "none"};
  const NeuronSpec neuron{.kind = "neunorm", .threshold = 0.3F};
  const NetworkSpec spec{.input = {2, 6, 5},
                         .steps = 7,
                         .stages = {Conv3x3{9, none, neuron}, AvgPool{}, Conv3x3{70, none, neuron},
                                    Dense{8, none, {.threshold = 0.2F}}, Readout{.classes = 3}}};
  Network network(spec, 5);
  for (Parameter& parameter : network.parameters()) {
    if (parameter.group != ParameterGroup::neuron) continue;
    for (int64_t i = 0; i < parameter.value.size(); ++i) {
      parameter.value[i] = static_cast<float>(i % 7) * 3.0F;
    }
  }
  DenseTrain input{.steps = 7, .batch = 3, .shape = spec.input, .constant = true};
  input.values = Buffer<float>(3 * spec.input.size());
  for (int64_t i = 0; i < input.values.size(); ++i) {
    input.values[i] = static_cast<float>(i * 37 % 11) / 5.0F - 0.8F;
  }
  const Trace trace = network.forward(input, NormMode::running);
  const auto bits = [](const Buffer<float>& values) {
    return std::vector<float>(values.begin(), values.end());
  };
  for (const int64_t window : {1, 2, 7}) {
    ChainState state = network.start(3);
    for (int64_t begin = 0; begin < 7; begin += window) {
      network.advance(slice_steps(input, begin, std::min(window, 7 - begin)), state);
    }
    EXPECT_EQ(bits(network.logits(state)), bits(trace.logits)) << window;
  }
  const std::vector<int64_t> kept = {2};
  ChainState state = network.start(3);
  network.advance(slice_steps(input, 0, 4), state);
  keep_images(state, kept);
  network.advance(keep_images(slice_steps(input, 4, 3), kept), state);
  EXPECT_EQ(bits(network.logits(state)),
            (std::vector<float>(trace.logits.begin() + 6, trace.logits.end())));
  EXPECT_NE(trace.logits[6], 0.0F);
}

}  // namespace
}  // namespace bntt
