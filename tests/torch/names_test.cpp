#include <gtest/gtest.h>
#include <torch/torch.h>

#include "bntt/error.h"
#include "imposed_run.h"
#include "networks.h"
#include "torch/conversion.h"

// Network and oracle meet by name: a number that one of them forgot must not go unnoticed.
namespace bntt {
namespace {

/// Everything but the weights, which are drawn, has a start that the oracle knows by itself.
void expect_same_starts(const NetworkSpec& spec) {
  const Network network(spec, /*seed=*/1);
  TorchNetwork oracle(spec);
  const auto parameters = oracle.named_parameters();
  const auto buffers = oracle.named_buffers();
  EXPECT_EQ(network.parameters().size(), parameters.size());
  EXPECT_EQ(network.statistics().size(), buffers.size());
  for (const Parameter& parameter : network.parameters()) {
    SCOPED_TRACE(parameter.name);
    ASSERT_TRUE(parameters.contains(parameter.name));
    const torch::Tensor& expected = parameters[parameter.name];
    ASSERT_EQ(expected.sizes().vec(), parameter.pytorch_shape);
    if (parameter.group == ParameterGroup::weight) continue;
    const torch::Tensor start = to_tensor(parameter, parameter.value, oracle.dtype());
    EXPECT_LT(relative_error(start, expected.detach()), 1e-6);
  }
  for (const Statistic& statistic : network.statistics()) {
    SCOPED_TRACE(statistic.name);
    ASSERT_TRUE(buffers.contains(statistic.name));
    const torch::Tensor start = to_tensor(statistic, statistic.value, oracle.dtype());
    EXPECT_TRUE(torch::equal(start, buffers[statistic.name]));
  }
}

TEST(Names, NumbersStartAsTheOracleHasThem) {
  for (const NamedNetwork& network : networks_with_branches()) {
    SCOPED_TRACE(network.name);
    expect_same_starts(network.spec);
  }
  for (const std::string& kind : real_norm_names()) {
    for (const bool shift : {false, true}) {
      SCOPED_TRACE(kind);
      const NormSpec norm{.kind = kind, .shift = shift, .gain_start = 0.3F};
      expect_same_starts(network_of(3, Conv3x3{.norm = norm}, Readout{.norm = norm}));
    }
  }
  for (const float leak : {0.1F, 0.5F, 0.95F}) {
    SCOPED_TRACE(leak);
    const NeuronSpec neuron{.kind = "plif", .leak = leak};
    expect_same_starts(
        network_of(3, stage("", {branch({}, convolution(4), {})}, neuron), readout()));
  }
}

TEST(Names, OfOneSideAloneAreRefused) {
  const auto load = [](const NetworkSpec& oracle, const NetworkSpec& network) {
    TorchNetwork(oracle).load(Network(network, /*seed=*/1));
  };
  const NetworkSpec plain = small_network({});
  const NetworkSpec shifted = small_network({.norm = {.shift = true}});
  EXPECT_NO_THROW(load(plain, plain));
  EXPECT_THROW(load(plain, shifted), Error);
  EXPECT_THROW(load(shifted, plain), Error);
  const NetworkSpec no_statistics = small_network({.norm = {.kind = "layer"}});
  const NetworkSpec statistics = small_network({.norm = {.kind = "bn"}});
  EXPECT_THROW(load(no_statistics, statistics), Error);
  EXPECT_THROW(load(statistics, no_statistics), Error);
  EXPECT_THROW(load(small_network({.steps = 7}), plain), Error) << "another shape of γ";
}

std::string refusal_of(const SmallNetwork& options) {
  try {
    TorchNetwork oracle(small_network(options));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Names, OfNormsAndNeuronsThatTheOracleDoesNotHaveAreSaid) {
  SmallNetwork new_norm;
  new_norm.norm.kind = "new-norm";
  EXPECT_EQ(refusal_of(new_norm),
            "the LibTorch oracle has no norm 'new-norm': write it in src/torch/torch_norm.cpp");
  SmallNetwork new_neuron;
  new_neuron.neuron.kind = "new-neuron";
  EXPECT_EQ(
      refusal_of(new_neuron),
      "the LibTorch oracle has no neuron 'new-neuron': write it in src/torch/torch_neurons.cpp");
}

}  // namespace
}  // namespace bntt
