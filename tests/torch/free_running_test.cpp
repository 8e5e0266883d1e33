#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "cases.h"
#include "torch/conversion.h"
#include "torch/torch_network.h"

namespace bntt {
namespace {

constexpr int64_t kBatch = 3;

/// Sums of few multiples of 1/8 (pooled: 1/32), halved once per step, are exact in a float: nothing
/// rounds, membranes land on the threshold itself, and the spikes of any right implementation are
/// the same bits. Convolutions are walked: Winograd's algorithm divides by 6.
void make_dyadic(Network& network) {
  set_break_even(network, 100.0F);
  uint64_t seed = 300;
  for (Parameter& parameter : network.parameters()) {
    parameter.value = random_values(parameter.value.size(), -3.2F, 3.8F, ++seed);
    for (float& value : parameter.value) value = std::round(value) / 8.0F;
  }
}

void expect_same_bits(const Network& network, const Signal& input, const Trace& trace,
                      torch::Dtype dtype) {
  TorchNetwork oracle(network.spec(), {.dtype = dtype});
  oracle.load(network);
  const torch::NoGradGuard forward_only;
  const TorchResult result = oracle.forward(to_tensor(input, dtype), NormMode::running);

  int64_t on_the_threshold = 0;
  for (std::size_t i = 0; i + 1 < trace.stages.size(); ++i) {
    SCOPED_TRACE(network.stages()[i].name);
    const torch::Tensor spikes = to_tensor(trace.stages[i].output, dtype);
    EXPECT_TRUE(torch::equal(spikes, result.stages[i].output));
    EXPECT_GT(spikes.mean().item<double>(), 0.0);
    EXPECT_LT(spikes.mean().item<double>(), 1.0);
    on_the_threshold += (result.stages[i].membrane == 1.0).sum().item<int64_t>();
  }
  EXPECT_GT(on_the_threshold, 0) << "which comparison it is was never put to the test";
  const torch::Tensor logits =
      to_tensor(trace.logits, kBatch, {classes_of(network.spec()), 1, 1}, dtype);
  EXPECT_TRUE(torch::equal(logits.view_as(result.logits), result.logits));
}

using Dynamics = std::tuple<Propagation, Reset, Fire, Encoding>;
class FreeRunning : public testing::TestWithParam<Dynamics> {};

TEST_P(FreeRunning, DyadicNetworksGiveTheSameSpikes) {
  const auto [propagation, reset, fire, encoding] = GetParam();
  const NetworkSpec spec = small_network({.norm = {.kind = "none"},
                                          .neuron = {.leak = 0.5F, .fire = fire, .reset = reset},
                                          .propagation = propagation,
                                          .steps = propagation == Propagation::delayed ? 10 : 6,
                                          .divide_by_steps = false});
  Network network(spec, /*seed=*/1);
  make_dyadic(network);
  const Signal input = random_input(spec, encoding, kBatch, /*seed=*/9);
  const Trace trace = network.forward(input, NormMode::running);

  for (const torch::Dtype dtype : {torch::kFloat32, torch::kFloat64}) {
    expect_same_bits(network, input, trace, dtype);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Oracle, FreeRunning,
    testing::Combine(testing::Values(Propagation::instant, Propagation::delayed),
                     testing::Values(Reset::soft, Reset::hard), testing::Values(Fire::gt, Fire::ge),
                     testing::Values(Encoding::signed_spikes, Encoding::unsigned_spikes,
                                     Encoding::counts)),
    [](const auto& test) {
      return name_of(std::get<0>(test.param)) + "_" + name_of(std::get<1>(test.param)) + "_" +
             name_of(std::get<2>(test.param)) + "_" + name_of(std::get<3>(test.param));
    });

}  // namespace
}  // namespace bntt
