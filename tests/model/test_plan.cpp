#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "bntt/error.h"
#include "bntt/network_spec.h"

namespace bntt {
namespace {

using ::testing::HasSubstr;

NetworkSpec network(std::vector<StageSpec> stages, MapShape input = {3, 32, 32},
                    int64_t steps = 10) {
  return {.input = input, .steps = steps, .stages = std::move(stages)};
}

std::string complaint(const NetworkSpec& spec) {
  try {
    plan_stages(spec);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TEST(Plan, NamesShapesAndCounts) {
  const auto plans = plan_stages(network(
      {Conv3x3{8}, Conv3x3{16}, AvgPool{2}, Conv3x3{4}, Dense{20}, Readout{10}}, {3, 9, 7}, 5));
  ASSERT_EQ(plans.size(), 5U);
  EXPECT_EQ(plans[0].name, "conv1");
  EXPECT_EQ(plans[2].name, "conv3");
  EXPECT_EQ(plans[3].name, "fc1");
  EXPECT_EQ(plans[4].name, "fc2");

  const StagePlan& conv3 = plans[2];
  ASSERT_EQ(conv3.branches.size(), 1U);
  const BranchPlan& branch = conv3.branches[0];
  EXPECT_EQ(branch.name, "conv3");
  EXPECT_EQ(branch.sources, std::vector<int64_t>{1});
  EXPECT_EQ(branch.source, (MapShape{16, 9, 7}));
  EXPECT_EQ(branch.pool_height, 2);
  EXPECT_EQ(branch.pool_width, 2);
  EXPECT_EQ(branch.input, (MapShape{16, 4, 3}));
  EXPECT_EQ(conv3.output, (MapShape{4, 4, 3}));
  EXPECT_EQ(branch.synapse, SynapseKind::conv);
  EXPECT_EQ(branch.fan_in, 144);
  EXPECT_EQ(conv3.weights, 576);
  EXPECT_EQ(conv3.gains, 5 * 4);
  EXPECT_EQ(conv3.parameters, 596);
  EXPECT_EQ(conv3.neurons, 48);
  EXPECT_EQ(conv3.macs, 576 * 12);
  EXPECT_EQ(conv3.first_step, 0);
  EXPECT_EQ(conv3.active_steps, 5);

  EXPECT_EQ(plans[3].branches[0].synapse, SynapseKind::dense);
  EXPECT_EQ(plans[3].branches[0].fan_in, 48);
  EXPECT_EQ(plans[3].macs, 960);
  EXPECT_EQ(plans[3].output, (MapShape{20, 1, 1}));
  EXPECT_TRUE(plans[4].readout);
  EXPECT_FALSE(plans[3].readout);
  EXPECT_EQ(plans[4].neurons, 0);
  EXPECT_EQ(plans[4].weights, 200);
  EXPECT_EQ(plans[4].gains, 0);
}

TEST(Plan, GainsFollowTheNorm) {
  const auto gains = [](std::string kind) {
    return plan_stages(network({Conv3x3{6, {.kind = kind}}, Readout{}}, {1, 4, 4}, 7))[0].gains;
  };
  EXPECT_EQ(gains("none"), 0);
  EXPECT_EQ(gains("bntt"), 42);
  EXPECT_EQ(gains("bn"), 6);
  EXPECT_EQ(gains("bn-time"), 6);
  EXPECT_EQ(gains("layer"), 6);
}

TEST(Plan, DelayedStagesStartLaterAndEndEarlier) {
  NetworkSpec spec = network({Conv3x3{4}, Conv3x3{4}, Dense{4}, Readout{}}, {1, 4, 4}, 10);
  spec.propagation = Propagation::delayed;
  const auto plans = plan_stages(spec);
  for (std::size_t l = 0; l < plans.size(); ++l) {
    EXPECT_EQ(plans[l].first_step, static_cast<int64_t>(l));
    EXPECT_EQ(plans[l].active_steps, 7);
  }
  // γ exists for every step, also for those that cannot reach the readout.
  EXPECT_EQ(plans[0].gains, 40);
  EXPECT_EQ(active_steps(spec), 7);
  spec.steps = 4;
  EXPECT_EQ(plan_stages(spec)[3].active_steps, 1);
  spec.steps = 3;
  EXPECT_THAT(complaint(spec), HasSubstr("nothing reaches the readout"));
}

TEST(Plan, PoolsMultiplyAndMayStandFirst) {
  const auto plans = plan_stages(
      network({AvgPool{2}, Conv3x3{4}, AvgPool{2}, AvgPool{3}, Readout{}}, {3, 27, 40}));
  EXPECT_EQ(plans[0].branches[0].source, (MapShape{3, 27, 40}));
  EXPECT_EQ(plans[0].branches[0].input, (MapShape{3, 13, 20}));
  EXPECT_EQ(plans[1].branches[0].pool_height, 6);
  EXPECT_EQ(plans[1].branches[0].pool_width, 6);
  EXPECT_EQ(plans[1].branches[0].input, (MapShape{4, 2, 3}));
  EXPECT_EQ(plans[1].branches[0].fan_in, 24);
}

TEST(Plan, GlobalPoolTakesTheWholeMap) {
  const auto plans = plan_stages(network({Conv3x3{4}, AvgPool{0}, Readout{}}, {3, 5, 7}));
  EXPECT_EQ(plans[1].branches[0].pool_height, 5);
  EXPECT_EQ(plans[1].branches[0].pool_width, 7);
  EXPECT_EQ(plans[1].branches[0].input, (MapShape{4, 1, 1}));
  // What the first of two pools drops stays dropped.
  const auto both =
      plan_stages(network({Conv3x3{4}, AvgPool{2}, AvgPool{0}, Readout{}}, {3, 5, 7}));
  EXPECT_EQ(both[1].branches[0].pool_height, 4);
  EXPECT_EQ(both[1].branches[0].pool_width, 6);
  EXPECT_EQ(both[1].branches[0].input, (MapShape{4, 1, 1}));
}

TEST(Plan, ALoneReadoutIsANetwork) {
  const auto plans = plan_stages(network({Readout{7}}, {2, 3, 4}, 1));
  ASSERT_EQ(plans.size(), 1U);
  EXPECT_EQ(plans[0].name, "fc1");
  EXPECT_EQ(plans[0].weights, 168);
  EXPECT_EQ(classes_of(network({Readout{7}})), 7);
}

TEST(Plan, RefusesPoolingBelowOnePixel) {
  EXPECT_EQ(
      complaint(network({Conv3x3{4}, AvgPool{2}, Conv3x3{4}, AvgPool{2}, Readout{}}, {3, 3, 8})),
      "the pool after conv2 of size 2 is too large for its map of 1x4 pixels");
  EXPECT_EQ(complaint(network({AvgPool{33}, Readout{}})),
            "the pool before the first stage of size 33 is too large for its map of 32x32 pixels");
  EXPECT_THAT(complaint(network({Dense{4}, AvgPool{2}, Readout{}})), HasSubstr("pool after fc1"));
  EXPECT_THAT(complaint(network({AvgPool{-1}, Readout{}})), HasSubstr("size -1"));
}

TEST(Plan, RefusesChainsThatAreNone) {
  EXPECT_THAT(complaint(network({})), HasSubstr("0 readouts"));
  EXPECT_THAT(complaint(network({Conv3x3{4}})), HasSubstr("0 readouts"));
  EXPECT_THAT(complaint(network({Readout{}, Readout{}})), HasSubstr("2 readouts"));
  EXPECT_THAT(complaint(network({Readout{}, AvgPool{1}})), HasSubstr("not the last"));
  EXPECT_THAT(complaint(network({Dense{4}, Conv3x3{4}, Readout{}})), HasSubstr("follows fc1"));
  EXPECT_THROW(classes_of(network({})), Error);
}

TEST(Plan, RefusesSizesThatAreNone) {
  EXPECT_THAT(complaint(network({Readout{}}, {3, 32, 32}, 0)), HasSubstr("steps is 0"));
  EXPECT_THAT(complaint(network({Readout{}}, {3, 32, 32}, -5)), HasSubstr("steps is -5"));
  EXPECT_THAT(complaint(network({Readout{}}, {0, 32, 32})), HasSubstr("channels is 0"));
  EXPECT_THAT(complaint(network({Readout{}}, {3, -1, 32})), HasSubstr("height is -1"));
  EXPECT_THAT(complaint(network({Readout{}}, {3, 32, 0})), HasSubstr("width is 0"));
  EXPECT_THAT(complaint(network({Conv3x3{0}, Readout{}})), HasSubstr("conv1: channels is 0"));
  EXPECT_THAT(complaint(network({Dense{-3}, Readout{}})), HasSubstr("fc1: features is -3"));
  EXPECT_THAT(complaint(network({Readout{0}})), HasSubstr("classes is 0"));
}

TEST(Plan, RefusesSizesThatWouldOverflow) {
  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
  EXPECT_NE(complaint(network({Readout{}}, {kHuge, kHuge, kHuge})), "");
  EXPECT_NE(complaint(network({Readout{}}, {1 << 20, 1 << 16, 1 << 16})), "");
  EXPECT_NE(complaint(network({Readout{}}, {3, 32, 32}, kHuge)), "");
  EXPECT_NE(complaint(network({Conv3x3{kHuge}, Readout{}})), "");
  EXPECT_NE(complaint(network({AvgPool{kHuge}, Readout{}})), "");
  EXPECT_THAT(complaint(network({Conv3x3{1 << 20}, Readout{}}, {1, 1 << 14, 1 << 14})),
              HasSubstr("too large"));
  EXPECT_THAT(complaint(network({Dense{1 << 20}, Readout{}}, {1, 1 << 14, 1 << 14})),
              HasSubstr("weights"));
  EXPECT_THAT(complaint(network({Conv3x3{256}, Conv3x3{256}, Readout{1}}, {1, 1 << 10, 1 << 10})),
              "");
  EXPECT_THAT(complaint(network({Conv3x3{1024}, Conv3x3{1024}, Readout{1}}, {1, 512, 512})),
              HasSubstr("multiply-adds"));
  EXPECT_THAT(complaint(network(std::vector<StageSpec>(2000, AvgPool{1}))), HasSubstr("stages"));
}

TEST(Plan, RefusesImpossibleNeurons) {
  const auto with = [](NeuronSpec neuron) {
    return complaint(network({Conv3x3{4}, Dense{4, {}, neuron}, Readout{}}));
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(with({.leak = 1.5F}), "fc1: leak is 1.5, expected a number above 0 and at most 1");
  EXPECT_NE(with({.leak = 0.0F}), "");
  EXPECT_NE(with({.leak = nan}), "");
  EXPECT_EQ(with({.leak = 1.0F}), "");
  EXPECT_EQ(with({.kind = "if", .leak = 0.0F}), "");
  EXPECT_THAT(with({.threshold = 0.0F}), HasSubstr("fc1: threshold is 0"));
  EXPECT_NE(with({.threshold = std::numeric_limits<float>::infinity()}), "");
  EXPECT_THAT(with({.surrogate = {.alpha = -1.0F}}), HasSubstr("alpha is -1"));
}

TEST(Plan, RefusesImpossibleNorms) {
  const auto with = [](NormSpec norm) { return complaint(network({Conv3x3{4, norm}, Readout{}})); };
  EXPECT_THAT(with({.epsilon = 0.0F}), HasSubstr("conv1: norm epsilon is 0"));
  EXPECT_THAT(with({.momentum = 0.0F}), HasSubstr("conv1: norm momentum is 0"));
  EXPECT_NE(with({.momentum = 1.5F}), "");
  EXPECT_EQ(with({.momentum = 1.0F}), "");
  EXPECT_NE(complaint(network({Readout{10, {.epsilon = -1.0F}}})), "");
}

TEST(Plan, AnAnnHasOneStepAndOnlyReluNeurons) {
  const NeuronSpec relu = {.kind = "relu"};
  EXPECT_EQ(complaint(network({Conv3x3{4, {}, relu}, Dense{4, {}, relu}, Readout{}}, {3, 8, 8}, 1)),
            "");
  EXPECT_EQ(complaint(network({Conv3x3{4, {}, relu}, Readout{}}, {3, 8, 8}, 2)),
            "conv1 has relu neurons and the network 2 steps, but an ANN has exactly 1");
  EXPECT_THAT(complaint(network({Conv3x3{4}, Dense{4, {}, relu}, Readout{}}, {3, 8, 8}, 1)),
              HasSubstr("either an ANN or spiking"));
  EXPECT_THAT(complaint(network({Conv3x3{4, {}, relu}, Dense{4}, Readout{}}, {3, 8, 8}, 1)),
              HasSubstr("either an ANN or spiking"));
}

SynapseSpec conv(int64_t channels, int64_t kernel = 3, int64_t stride = 1) {
  return {.outputs = channels, .kernel = kernel, .stride = stride, .padding = kernel / 2};
}

BranchSpec branch(std::vector<std::string> source, const SynapseSpec& synapse) {
  return {.source = std::move(source), .synapse = synapse};
}

constexpr SynapseSpec kIdentity{.kind = SynapseKind::identity};

TEST(Plan, BranchesAreNamedShapedAndCounted) {
  const auto plans = plan_stages(network(
      {Conv3x3{8},
       BranchedStage{.name = "block",
                     .branches = {branch({}, conv(16, 3, 2)), branch({"conv1"}, conv(16, 1, 2))}},
       BranchedStage{.branches = {branch({"block"}, kIdentity)}}, Readout{10}},
      {3, 9, 7}, 5));
  ASSERT_EQ(plans.size(), 4U);
  const StagePlan& block = plans[1];
  EXPECT_EQ(block.name, "block");
  ASSERT_EQ(block.branches.size(), 2U);
  EXPECT_EQ(block.branches[0].name, "block");
  EXPECT_EQ(block.branches[1].name, "block.branch2");
  EXPECT_EQ(block.branches[1].sources, std::vector<int64_t>{0});
  EXPECT_EQ(block.output, (MapShape{16, 5, 4}));
  EXPECT_EQ(block.weights, 9 * 8 * 16 + 8 * 16);
  EXPECT_EQ(block.gains, 2 * 5 * 16);
  EXPECT_EQ(block.macs, (9 * 8 * 16 + 8 * 16) * 20);
  EXPECT_EQ(plans[2].name, "conv2");
  EXPECT_EQ(plans[2].weights, 0);
  EXPECT_EQ(plans[2].output, block.output);
}

TEST(Plan, BiasShiftAndNeuronParametersAreCounted) {
  NormSpec norm{.kind = "tebn", .shift = true};
  NeuronSpec plif{.kind = "plif", .leak = 0.5F};
  const auto plans =
      plan_stages(network({Conv{.channels = 6, .bias = true, .norm = norm, .neuron = plif},
                           Readout{.classes = 4, .bias = true}},
                          {2, 4, 4}, 7));
  EXPECT_EQ(plans[0].parameters, 9 * 2 * 6 + 6 + 6 + 6 + 7 + 1);
  EXPECT_EQ(plans[1].parameters, 96 * 4 + 4);
}

TEST(Plan, RefusesBranchesThatCannotWork) {
  const auto with = [](std::vector<BranchSpec> branches, NeuronSpec neuron = {}) {
    return complaint(
        network({Conv3x3{8}, BranchedStage{"block", std::move(branches), neuron}, Readout{}}));
  };
  EXPECT_EQ(with({branch({"conv1"}, conv(4)), branch({"conv1"}, conv(5))}),
            "block.branch2: gives a map of 5x32x32, but the first branch gives 4x32x32");
  EXPECT_EQ(with({branch({"conv2"}, conv(4))}),
            "block: its source 'conv2' is not the name of an earlier stage, did you mean 'conv1'?");
  EXPECT_EQ(with({branch({"conv1", "conv1"}, conv(4))}), "block: names its source 'conv1' twice");
  EXPECT_EQ(with({branch({"conv1", "input"}, conv(4))}),
            "block: only spikes can be added, and input does not output spikes: give it a branch "
            "of its own");
  EXPECT_EQ(with({}), "stage block has no branches, expected at least 1");
  EXPECT_EQ(with({branch({"input"}, conv(4))}), "nothing reads the output of stage conv1");
  EXPECT_EQ(with({branch({}, conv(4, 0))}), "block: kernel is 0, expected 1 to 63");
  EXPECT_EQ(with({branch({}, {.outputs = 4, .kernel = 40, .padding = 0})}),
            "block: a kernel of 40 with padding 0 does not fit into its map of 32x32 pixels");
  EXPECT_THAT(with({branch({}, conv(4))}, {.kind = "plif", .leak = 1.0F}),
              HasSubstr("block: neuron 'plif' has leak 1"));
  EXPECT_THAT(with({branch({}, conv(4))}, {.kind = "lift"}),
              HasSubstr("block: unknown neuron 'lift'"));
  EXPECT_THAT(complaint(network({Conv3x3{8, {.kind = "bnt"}}, Readout{}})),
              HasSubstr("conv1: unknown norm 'bnt', expected one of none, bntt"));
  EXPECT_EQ(complaint(network(
                {Conv3x3{8}, BranchedStage{"conv1", {branch({}, conv(4))}, {}}, Readout{}})),
            "two stages are called conv1");
  EXPECT_THAT(
      complaint(network({Conv3x3{8}, BranchedStage{"a.b", {branch({}, conv(4))}, {}}, Readout{}})),
      HasSubstr("stage 'a.b' has an invalid name"));
  EXPECT_EQ(
      complaint(network({AvgPool{}, BranchedStage{"block", {branch({}, conv(4))}, {}}, Readout{}})),
      "there is a pool before stage block, which has branches: put the pool into a branch");
  EXPECT_EQ(complaint(network({AvgPool{}, MaxPool{}, Conv3x3{8}, Readout{}})),
            "two pools of different kinds follow each other before the first stage");
}

TEST(Plan, DelayedPropagationIsForChains) {
  NetworkSpec spec = network(
      {Conv3x3{8}, BranchedStage{"block", {branch({}, conv(8)), branch({"conv1"}, kIdentity)}, {}},
       Readout{}});
  EXPECT_EQ(complaint(spec), "");
  spec.propagation = Propagation::delayed;
  EXPECT_EQ(complaint(spec),
            "block: delayed propagation works only for chains, and this stage is not part of one");
}

}  // namespace
}  // namespace bntt
