#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "networks.h"
#include "torch/conversion.h"
#include "torch/torch_network.h"

// Small cases that can be worked out on paper, from the definitions of the publications; ours and
// the oracle's numbers must both be those.
namespace bntt {
namespace {

using testing::ElementsAre;
using testing::FloatEq;
using testing::FloatNear;
using testing::Pointwise;

const NormSpec kNone = {.kind = "none"};
const NeuronSpec kCurrent = {.kind = "none"};

/// Stages on an input of one channel and the given size; the readout only completes the network.
NetworkSpec tiny(int64_t steps, int64_t width, std::vector<BranchSpec> branches,
                 const NeuronSpec& neuron) {
  NetworkSpec spec = network_of(steps, stage("first", std::move(branches), neuron), readout());
  spec.input = {1, 1, width};
  return spec;
}

Signal frames(int64_t steps, int64_t width, const std::vector<float>& values) {
  DenseTrain train{.steps = steps, .batch = 1, .shape = {1, 1, width}};
  train.values = Buffer<float>(std::ssize(values));
  std::copy(values.begin(), values.end(), train.values.begin());
  return train;
}

std::vector<float> floats(const torch::Tensor& tensor) {
  const torch::Tensor flat = tensor.detach().to(torch::kFloat32).flatten().contiguous();
  return {flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel()};
}

std::vector<float> values_of(const Signal& signal) {
  return floats(to_tensor(signal, torch::kFloat32));
}

Parameter& parameter_of(Network& network, const std::string& name) {
  for (Parameter& parameter : network.parameters()) {
    if (parameter.name == name) return parameter;
  }
  ADD_FAILURE() << "no parameter " << name;
  return network.parameters().front();
}

std::size_t stage_called(const Network& network, const std::string& name) {
  std::size_t i = 0;
  while (network.stages().at(i).name != name) ++i;
  return i;
}

const NetworkSpec& network_called(const std::string& name) {
  static const std::vector<NamedNetwork> networks = residual_networks();
  const auto found = std::find_if(networks.begin(), networks.end(),
                                  [&](const auto& network) { return network.name == name; });
  EXPECT_TRUE(found != networks.end());
  return found->spec;
}

// Currents 0, 1, 2, 3: mean 1.5, variance 1.25 (unbiased 5/3), so x̂ = ±1.34163, ±0.44721.
class ThresholdDependentNorm : public testing::TestWithParam<int64_t> {
 protected:
  static constexpr int64_t kNumbers = 4;
  /// As neighbours of one step, or as steps of one pixel: they share their statistics.
  static int64_t width() { return GetParam(); }
  static int64_t steps() { return kNumbers / GetParam(); }
  static Signal currents() { return frames(steps(), width(), {0.0F, 1.0F, 2.0F, 3.0F}); }

  static void expect_values(Network& network, const std::vector<float>& expected) {
    TorchNetwork oracle(network.spec());
    oracle.load(network);
    const TorchResult theirs =
        oracle.forward(to_tensor(currents(), oracle.dtype()), NormMode::batch);
    EXPECT_THAT(floats(theirs.stages[0].output), Pointwise(FloatNear(5e-5F), expected));
    const Trace trace = network.forward(currents(), NormMode::batch);
    EXPECT_THAT(values_of(trace.stages[0].output), Pointwise(FloatNear(5e-5F), expected));
  }
};

TEST_P(ThresholdDependentNorm, ScalesByAlphaTimesThreshold) {
  const NormSpec norm{.kind = "tdbn", .epsilon = 1e-5F, .momentum = 1.0F};
  const NeuronSpec neuron{.kind = "none", .threshold = 0.5F};
  Network network(tiny(steps(), width(), {branch({}, identity(), norm)}, neuron), /*seed=*/1);
  expect_values(network, {-0.6708F, -0.2236F, 0.2236F, 0.6708F});
  EXPECT_FLOAT_EQ(network.statistics()[0].value[0], 1.5F);
  EXPECT_FLOAT_EQ(network.statistics()[1].value[0], 5.0F / 3.0F);
}

TEST_P(ThresholdDependentNorm, HasAlphaOfTwoBranchesWhereTheyMeet) {
  const NormSpec norm{.kind = "tdbn", .epsilon = 1e-5F, .shift = true};
  const NeuronSpec neuron{.kind = "none", .threshold = 0.5F};
  Network network(tiny(steps(), width(),
                       {branch({}, identity(), norm), branch({"input"}, identity(), norm)}, neuron),
                  /*seed=*/1);
  parameter_of(network, "first.branch2.norm.weight").value.fill(0.0F);
  expect_values(network, {-0.4743F, -0.1581F, 0.1581F, 0.4743F});
  // The shift is not scaled.
  parameter_of(network, "first.branch2.norm.bias").value.fill(0.25F);
  expect_values(network, {-0.2243F, 0.0919F, 0.4081F, 0.7243F});
}

TEST_P(ThresholdDependentNorm, TakesAGivenAlpha) {
  const NormSpec norm{.kind = "tdbn", .epsilon = 1e-5F, .alpha = 2.0F};
  const NeuronSpec neuron{.kind = "none", .threshold = 0.5F};
  Network network(tiny(steps(), width(), {branch({}, identity(), norm)}, neuron), /*seed=*/1);
  expect_values(network, {-1.3416F, -0.4472F, 0.4472F, 1.3416F});
}

INSTANTIATE_TEST_SUITE_P(OnPaper, ThresholdDependentNorm, testing::Values(4, 1, 2));

void expect_same_bits(const Buffer<float>& a, const Buffer<float>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (int64_t i = 0; i < a.size(); ++i) ASSERT_EQ(a[i], b[i]) << "at " << i;
}

TEST(OnPaper, TemporalEffectiveNormWithScalesOfOneIsBatchNormOverTime) {
  const auto spec_of = [](const std::string& kind) {
    return small_network({.norm = {.kind = kind, .shift = true}});
  };
  Network tebn(spec_of("tebn"), /*seed=*/3);
  Network bn_time(spec_of("bn-time"), /*seed=*/3);
  const Signal input = random_input(tebn.spec(), Encoding::signed_spikes, /*batch=*/3, /*seed=*/4);
  Trace trace = tebn.forward(input, NormMode::batch);
  Trace expected = bn_time.forward(input, NormMode::batch);
  expect_same_bits(trace.logits, expected.logits);
  const Buffer<float> gradient = random_values(trace.logits.size(), -1.0F, 1.0F, /*seed=*/5);
  tebn.backward(std::move(trace), gradient);
  bn_time.backward(std::move(expected), gradient);
  for (const Parameter& parameter : bn_time.parameters()) {
    SCOPED_TRACE(parameter.name);
    expect_same_bits(parameter_of(tebn, parameter.name).gradient, parameter.gradient);
  }
}

/// x̂ = ±1.34164, ±0.44721 with ε = 0, γ = 1, β = 0.5; then p = 1, 2, 3, −1.
TEST(OnPaper, TemporalEffectiveNormScalesEveryStepAndItsShift) {
  const NormSpec norm{.kind = "tebn", .epsilon = 1e-12F, .shift = true};
  Network network(tiny(4, 1, {branch({}, identity(), norm)}, kCurrent), /*seed=*/1);
  parameter_of(network, "first.norm.bias").value.fill(0.5F);
  Buffer<float>& scale = parameter_of(network, "first.norm.step_scale").value;
  const std::vector<float> of_steps = {1.0F, 2.0F, 3.0F, -1.0F};
  std::copy(of_steps.begin(), of_steps.end(), scale.begin());
  const Signal input = frames(4, 1, {0.0F, 1.0F, 2.0F, 3.0F});
  const std::vector<float> expected = {-0.84164F, 0.10557F, 2.84164F, -1.84164F};
  TorchNetwork oracle(network.spec());
  oracle.load(network);
  EXPECT_THAT(
      floats(oracle.forward(to_tensor(input, oracle.dtype()), NormMode::batch).stages[0].output),
      Pointwise(FloatNear(2e-5F), expected));
  EXPECT_THAT(values_of(network.forward(input, NormMode::batch).stages[0].output),
              Pointwise(FloatNear(2e-5F), expected));
}

/// τ = 2, so k = 1/2 and a = 0: v = u + (1.2 − u)/2.
TEST(OnPaper, ParametricLifFiresInTheThirdStep) {
  const NeuronSpec neuron{.kind = "plif", .leak = 0.5F, .fire = Fire::ge, .reset = Reset::hard};
  Network network(tiny(6, 1, {branch({}, identity(), kNone)}, neuron), /*seed=*/1);
  EXPECT_EQ(parameter_of(network, "first.neuron.a").value[0], 0.0F);
  const Signal input = frames(6, 1, std::vector<float>(6, 1.2F));
  TorchNetwork oracle(network.spec());
  oracle.load(network);
  const TorchResult theirs = oracle.forward(to_tensor(input, oracle.dtype()), NormMode::running);
  EXPECT_THAT(floats(theirs.stages[0].membrane),
              Pointwise(FloatEq(), {0.6F, 0.9F, 1.05F, 0.6F, 0.9F, 1.05F}));
  EXPECT_THAT(floats(theirs.stages[0].output), ElementsAre(0, 0, 1, 0, 0, 1));

  const Trace trace = network.forward(input, NormMode::running);
  EXPECT_THAT(values_of(trace.stages[0].output), ElementsAre(0, 0, 1, 0, 0, 1));
  // What is carried on has leaked, by 1 − k.
  ChainState state = network.start(/*batch=*/1);
  for (const float carried : {0.3F, 0.45F, 0.0F, 0.3F, 0.45F, 0.0F}) {
    network.advance(frames(1, 1, {1.2F}), state);
    EXPECT_FLOAT_EQ(state.membranes[0][0], carried);
  }
}

/// With x = 2 the first membrane is the threshold itself.
TEST(OnPaper, ParametricLifAtItsThreshold) {
  for (const Fire fire : {Fire::gt, Fire::ge}) {
    SCOPED_TRACE(name_of(fire));
    const NeuronSpec neuron{.kind = "plif", .leak = 0.5F, .fire = fire, .reset = Reset::hard};
    Network network(tiny(4, 1, {branch({}, identity(), kNone)}, neuron), /*seed=*/1);
    const Signal input = frames(4, 1, std::vector<float>(4, 2.0F));
    const std::vector<float> expected = fire == Fire::ge
                                            ? std::vector<float>{1.0F, 1.0F, 1.0F, 1.0F}
                                            : std::vector<float>{0.0F, 1.0F, 0.0F, 1.0F};
    EXPECT_EQ(values_of(network.forward(input, NormMode::running).stages[0].output), expected);
    TorchNetwork oracle(network.spec());
    oracle.load(network);
    EXPECT_EQ(
        floats(
            oracle.forward(to_tensor(input, oracle.dtype()), NormMode::running).stages[0].output),
        expected);
  }
}

/// F of the given drive [step, rest]: hard reset, fires above the threshold.
std::vector<float> fired(const std::vector<float>& drive, int64_t steps, const NeuronSpec& neuron) {
  const std::size_t size = drive.size() / static_cast<std::size_t>(steps);
  std::vector<float> membrane(size, 0.0F);
  std::vector<float> spikes;
  for (std::size_t i = 0; i < drive.size(); ++i) {
    float& v = membrane[i % size];
    v = neuron.leak * v + drive[i];
    spikes.push_back(v > neuron.threshold ? 1.0F : 0.0F);
    if (v > neuron.threshold) v = 0.0F;
  }
  return spikes;
}

TEST(OnPaper, BlocksWithoutWeightsFireWhatTheyRead) {
  for (const std::string name : {"tdbn", "tet"}) {
    SCOPED_TRACE(name);
    const NetworkSpec& spec = network_called(name);
    Network network(spec, /*seed=*/2);
    parameter_of(network, "block1b.weight").value.fill(0.0F);
    const Signal input = random_input(spec, Encoding::signed_spikes, /*batch=*/2, /*seed=*/3);
    const Trace trace = network.forward(input, NormMode::batch);
    const std::size_t block = stage_called(network, "block1b");
    const std::vector<float> read = values_of(trace.stages[stage_called(network, "stem")].output);
    const std::vector<float> given = values_of(trace.stages[block].output);
    EXPECT_EQ(given, fired(read, spec.steps, network.stages()[block].neuron));
    EXPECT_THAT(given, testing::Contains(1.0F));
  }
}

TEST(OnPaper, SpikeElementWiseBlocksWithoutGainsHandOnWhatTheyRead) {
  const NetworkSpec& spec = network_called("sew");
  Network network(spec, /*seed=*/2);
  make_unremarkable(network, Encoding::signed_spikes, /*batch=*/2);
  parameter_of(network, "block1b.norm.weight").value.fill(0.0F);
  parameter_of(network, "block1b.norm.bias").value.fill(0.0F);
  std::vector<float> read;
  std::vector<float> handed_on;
  ChainState state = network.start(/*batch=*/2);
  AdvanceOptions options;
  options.observe = [&](std::size_t i, int64_t, const std::vector<const Signal*>& inputs,
                        const Signal&) {
    if (network.stages()[i].name == "block1a") read = values_of(*inputs[0]);
    if (network.stages()[i].name == "block2a") handed_on = values_of(*inputs[0]);
  };
  network.advance(random_input(spec, Encoding::signed_spikes, /*batch=*/2, /*seed=*/3), state,
                  options);
  EXPECT_THAT(read, testing::Contains(1.0F));
  EXPECT_EQ(handed_on, read);
}

/// c' = c, and ∂L/∂c = ∂L/∂c': as if the block were not there.
TEST(OnPaper, MembraneShortcutBlocksWhoseLastGainIsZeroDoNothing) {
  const NormSpec norm{.kind = "bn-time", .shift = true};
  const NormSpec zero{.kind = "bn-time", .shift = true, .gain_start = 0.0F};
  const BranchedStage current = stage("current", {branch({}, convolution(5), norm)}, kCurrent);
  Network with_block(
      network_of(
          4, current, stage("spikes", {branch({}, identity(), kNone)}, {}),
          stage("sum", {branch({}, convolution(5), zero), branch({"current"}, identity(), kNone)},
                kCurrent),
          readout()),
      /*seed=*/2);
  Network without_block(network_of(4, current, readout()), /*seed=*/7);
  for (Parameter& parameter : without_block.parameters()) {
    parameter.value = parameter_of(with_block, parameter.name).value;
  }
  const Signal input = random_input(with_block.spec(), Encoding::direct, /*batch=*/2, /*seed=*/3);
  Trace trace = with_block.forward(input, NormMode::batch);
  Trace expected = without_block.forward(input, NormMode::batch);
  EXPECT_EQ(values_of(trace.stages[2].output), values_of(trace.stages[0].output));
  EXPECT_THAT(values_of(trace.stages[1].output), testing::Contains(1.0F));
  expect_same_bits(trace.logits, expected.logits);

  const Buffer<float> gradient = random_values(trace.logits.size(), -1.0F, 1.0F, /*seed=*/5);
  Buffer<float> at_input;
  Buffer<float> expected_at_input;
  with_block.backward(std::move(trace), gradient, &at_input);
  without_block.backward(std::move(expected), gradient, &expected_at_input);
  expect_same_bits(at_input, expected_at_input);
  for (const Parameter& parameter : without_block.parameters()) {
    SCOPED_TRACE(parameter.name);
    expect_same_bits(parameter_of(with_block, parameter.name).gradient, parameter.gradient);
  }
}

}  // namespace
}  // namespace bntt
