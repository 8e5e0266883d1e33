#include "torch/lean_network.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "bntt/error.h"
#include "bntt/zoo.h"
#include "cases.h"
#include "torch/conversion.h"
#include "torch/torch_network.h"

// bntt bench compares with LeanNetwork: it must do the whole work, or the comparison is worth
// nothing. In float64, where rounding flips no spike.
namespace bntt {
namespace {

constexpr int64_t kBatch = 3;

Network some_network() {
  Network network(small_network({.steps = 4}), 1);
  make_unremarkable(network, Encoding::signed_spikes, kBatch);
  return network;
}

torch::Tensor frames(const Signal& input) {
  return to_tensor(input, torch::kFloat64).flatten(0, 1);
}

class LeanNetworkTest : public ::testing::TestWithParam<at::MemoryFormat> {};

TEST_P(LeanNetworkTest, HasTheOraclesLogitsAndGradients) {
  const Network network = some_network();
  for (const Encoding encoding : {Encoding::signed_spikes, Encoding::direct}) {
    const Signal input = random_input(network.spec(), encoding, kBatch, 7);
    TorchNetwork oracle(network.spec());
    oracle.load(network);
    LeanNetwork lean(network, GetParam());
    lean.to(torch::kFloat64);
    const torch::Tensor labels = torch::tensor({0, 2, 1});
    const torch::Tensor expected =
        oracle.forward(to_tensor(input, torch::kFloat64), NormMode::batch).logits;
    const torch::Tensor logits =
        lean.forward_training(frames(input).contiguous(GetParam()), kBatch);
    EXPECT_TRUE(torch::allclose(logits, expected, 1e-9, 1e-9));
    torch::cross_entropy_loss(expected, labels).backward();
    torch::cross_entropy_loss(logits, labels).backward();
    const auto ours = lean.named_parameters();
    const auto expected_gradients = oracle.named_parameters();
    ASSERT_EQ(ours.size(), expected_gradients.size());
    for (const TorchNetwork::Stage& stage : oracle.stages()) {
      SCOPED_TRACE(stage.name);
      const torch::Tensor weight = ours[stage.name + "_weight"].grad();
      const torch::Tensor expected_weight = expected_gradients[stage.name + ".weight"].grad();
      EXPECT_TRUE(
          torch::allclose(weight.reshape_as(expected_weight), expected_weight, 1e-8, 1e-10));
      EXPECT_GT(weight.abs().max().item<double>(), 0.0);
      if (stage.readout) continue;
      EXPECT_TRUE(torch::allclose(ours[stage.name + "_gain"].grad(),
                                  expected_gradients[stage.name + ".norm.weight"].grad(), 1e-8,
                                  1e-10));
    }
  }
}

TEST_P(LeanNetworkTest, InfersTheSameFoldedAndLooped) {
  const Network network = some_network();
  const Signal input = random_input(network.spec(), Encoding::signed_spikes, kBatch, 8);
  TorchNetwork oracle(network.spec());
  oracle.load(network);
  LeanNetwork lean(network, GetParam());
  lean.to(torch::kFloat64);
  const torch::Tensor all = frames(input).contiguous(GetParam());
  LeanNetwork::State folded;
  lean.advance(all, kBatch, 0, lean.steps(), folded);
  LeanNetwork::State looped;
  for (int64_t step = 0; step < lean.steps(); ++step) {
    lean.advance(all.narrow(0, step * kBatch, kBatch), kBatch, step, 1, looped);
  }
  const torch::Tensor expected =
      oracle.forward(to_tensor(input, torch::kFloat64), NormMode::running).logits;
  EXPECT_TRUE(torch::allclose(lean.logits(folded), expected, 1e-9, 1e-9));
  EXPECT_TRUE(torch::allclose(lean.logits(looped), expected, 1e-9, 1e-9));
}

INSTANTIATE_TEST_SUITE_P(Layouts, LeanNetworkTest,
                         ::testing::Values(at::MemoryFormat::Contiguous,
                                           at::MemoryFormat::ChannelsLast));

TEST(LeanNetwork, RefusesWhatItDoesNotDo) {
  const auto lean_of = [](const ZooOptions& options) {
    LeanNetwork lean(Network(vgg5(options), 1), at::MemoryFormat::Contiguous);
  };
  EXPECT_THROW(lean_of({.steps = 2, .width = 0.1, .norm = {.kind = "layer"}}), Error);
  EXPECT_THROW(lean_of({.steps = 2, .width = 0.1, .neuron = {.reset = Reset::hard}}), Error);
  EXPECT_THROW(lean_of({.width = 0.1, .propagation = Propagation::delayed}), Error);
  EXPECT_THROW(lean_of({.steps = 2, .width = 0.1, .neuron = {.fire = Fire::ge}}), Error);
  EXPECT_THROW(lean_of({.steps = 2, .width = 0.1, .neuron = {.surrogate = {.width = 0.5F}}}),
               Error);
  EXPECT_THROW(lean_of({.steps = 2, .width = 0.1, .neuron = {.kind = "plif"}}), Error);
}

}  // namespace
}  // namespace bntt
