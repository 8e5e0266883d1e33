#include <gtest/gtest.h>
#include <torch/torch.h>

#include "agreement.h"
#include "networks.h"
#include "torch/torch_branch.h"

namespace bntt {
namespace {

const NormSpec kNorm = {.kind = "bntt", .momentum = 0.6F};
const NeuronSpec kNeuron = {.leak = 0.8F, .threshold = 0.7F};

class EveryConvolution : public testing::TestWithParam<ConvGeometry> {
 protected:
  static Conv convolution_of(int64_t channels, const NormSpec& norm) {
    return {.channels = channels,
            .kernel = GetParam().kernel,
            .stride = GetParam().stride,
            .padding = GetParam().padding,
            .bias = norm.kind == "none",
            .norm = norm,
            .neuron = kNeuron};
  }
};

TEST_P(EveryConvolution, OfTheInputAgreesWithOracle) {
  for (const Encoding encoding : {Encoding::signed_spikes, Encoding::counts, Encoding::direct}) {
    SCOPED_TRACE(name_of(encoding));
    expect_agreement(network_of(3, convolution_of(5, kNorm), readout()), encoding, NormMode::batch);
  }
}

TEST_P(EveryConvolution, OfSpikesAgreesWithOracle) {
  const Conv3x3 first{.channels = 66, .norm = kNorm, .neuron = kNeuron};
  expect_agreement_in_both_modes(network_of(3, first, convolution_of(9, kNorm), readout()));
}

TEST_P(EveryConvolution, OfCurrentsAgreesWithOracle) {
  // Without a norm: the mean of a normalised current is zero, and no relative error tells of it.
  const NormSpec none{.kind = "none"};
  expect_agreement(network_of(3, stage("", {branch({}, convolution(9), none)}, {.kind = "none"}),
                              convolution_of(9, kNorm), readout()),
                   Encoding::signed_spikes, NormMode::batch);
}

INSTANTIATE_TEST_SUITE_P(Oracle, EveryConvolution,
                         testing::Values(ConvGeometry{1, 1, 0}, ConvGeometry{1, 2, 0},
                                         ConvGeometry{1, 1, 2}, ConvGeometry{2, 2, 0},
                                         ConvGeometry{3, 1, 1}, ConvGeometry{3, 2, 1},
                                         ConvGeometry{3, 1, 0}, ConvGeometry{3, 2, 0},
                                         ConvGeometry{3, 1, 3}, ConvGeometry{4, 3, 1},
                                         ConvGeometry{5, 1, 2}, ConvGeometry{5, 2, 2},
                                         ConvGeometry{5, 1, 0}, ConvGeometry{7, 1, 3},
                                         ConvGeometry{7, 2, 3}, ConvGeometry{7, 2, 1}),
                         [](const auto& test) {
                           return "kernel" + std::to_string(test.param.kernel) + "_stride" +
                                  std::to_string(test.param.stride) + "_padding" +
                                  std::to_string(test.param.padding);
                         });

class EveryBias : public testing::TestWithParam<std::string> {};

/// With a batch norm behind it, a bias only counts in evaluation.
TEST_P(EveryBias, AgreesWithOracle) {
  const NormSpec norm{.kind = GetParam(), .momentum = 0.6F};
  const Conv convolution{.channels = 6, .bias = true, .norm = norm, .neuron = kNeuron};
  const Dense dense{.features = 9, .norm = norm, .neuron = kNeuron, .bias = true};
  const Readout last{.classes = 4, .norm = norm, .bias = true};
  const NetworkSpec spec = network_of(6, convolution, AvgPool{}, dense, last);
  expect_agreement_in_both_modes(spec);
  expect_agreement_in_both_modes(spec, Encoding::direct);
}

INSTANTIATE_TEST_SUITE_P(Oracle, EveryBias, testing::ValuesIn(norm_names()),
                         [](const auto& test) { return name_of(test.param); });

StageSpec pool_of(PoolKind kind, int64_t size) {
  switch (kind) {
    case PoolKind::average:
      return AvgPool{size};
    case PoolKind::sum:
      return SumPool{size};
    case PoolKind::max:
      break;
  }
  return MaxPool{size};
}

class EveryPool : public testing::TestWithParam<std::tuple<PoolKind, Propagation>> {};

TEST_P(EveryPool, AgreesWithOracle) {
  const auto [kind, propagation] = GetParam();
  const Conv3x3 convolution{.channels = 6, .norm = kNorm, .neuron = kNeuron};
  const Dense dense{.features = 9, .norm = kNorm, .neuron = kNeuron};
  const auto pool = [&](int64_t size) { return pool_of(kind, size); };
  std::vector<NetworkSpec> chains = {
      network_of(6, pool(2), convolution, pool(2), dense, readout()),
      network_of(6, convolution, pool(3), convolution, pool(0), readout()),
      network_of(6, convolution, pool(2), pool(2), dense, readout()),
      network_of(6, convolution, pool(2), pool(0), dense, readout())};
  for (std::size_t i = 0; i < chains.size(); ++i) {
    // The largest spike of a large window is nearly always 1: no gradient passes it.
    if (kind == PoolKind::max && i >= 2) continue;
    chains[i].propagation = propagation;
    // A max pool takes one plane of spikes.
    for (const Encoding encoding : {Encoding::unsigned_spikes, Encoding::direct}) {
      SCOPED_TRACE("chain " + std::to_string(i) + " " + name_of(encoding));
      expect_agreement_in_both_modes(chains[i], encoding);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Oracle, EveryPool,
    testing::Combine(testing::Values(PoolKind::average, PoolKind::sum, PoolKind::max),
                     testing::Values(Propagation::instant, Propagation::delayed)),
    [](const auto& test) {
      return name_of(std::get<0>(test.param)) + "_" + name_of(std::get<1>(test.param));
    });

/// The kernels promise it, so the oracle must do it, whatever LibTorch's documentation leaves open.
TEST(TorchBranch, MaxPoolOfEqualValuesGivesItsGradientToTheFirst) {
  const std::vector<PoolSpec> pools = {{PoolKind::max, 2}};
  const TorchBranch pooled(identity(), pools, MapShape{1, 4, 5}, torch::kFloat64);
  // Windows: nothing; two spikes in a row; two spikes in a column; all four.
  torch::Tensor frames = torch::tensor({{0.0, 0.0, 1.0, 1.0, 1.0},
                                        {0.0, 0.0, 0.0, 0.0, 1.0},
                                        {0.0, 1.0, 1.0, 1.0, 1.0},
                                        {0.0, 1.0, 1.0, 1.0, 1.0}},
                                       torch::kFloat64)
                             .view({1, 1, 4, 5})
                             .requires_grad_();
  pooled->current(frames).sum().backward();
  const torch::Tensor expected = torch::tensor({{1.0, 0.0, 1.0, 0.0, 0.0},
                                                {0.0, 0.0, 0.0, 0.0, 0.0},
                                                {0.0, 1.0, 1.0, 0.0, 0.0},
                                                {0.0, 0.0, 0.0, 0.0, 0.0}},
                                               torch::kFloat64);
  EXPECT_TRUE(torch::equal(frames.grad().view({4, 5}), expected)) << frames.grad();
}

}  // namespace
}  // namespace bntt
