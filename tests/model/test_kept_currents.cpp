#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "bntt/network.h"
#include "bntt/zoo.h"

namespace bntt {
namespace {

constexpr int64_t kBatch = 27;

// Its first stage has 27 inputs per neuron and more than 2²² neuron-steps.
Network network_of_large_maps(Precision precision) {
  Network network(vgg5({.input = {3, 32, 32}, .classes = 3, .steps = 20, .width = 0.125}), 4);
  network.set_precision(precision);
  return network;
}

Signal random_input(const Network& network) {
  SpikeTrain spikes(active_steps(network.spec()), kBatch, network.spec().input, {1.0F, -1.0F});
  for (int64_t i = 0; i < spikes.words().size(); ++i) {
    spikes.words()[i] =
        draw4(9, Purpose::encoding, {.block = static_cast<uint32_t>(i)})[0] & 0b111U;
  }
  return spikes;
}

class KeptCurrents : public ::testing::TestWithParam<Precision> {};
INSTANTIATE_TEST_SUITE_P(Precisions, KeptCurrents,
                         ::testing::Values(Precision::fp32, Precision::mixed));

TEST_P(KeptCurrents, LeaveOutTheCheapOnesAndGiveTheSameGradients) {
  Network network = network_of_large_maps(GetParam());
  Trace all = network.forward(random_input(network), NormMode::batch, Keep::everything);
  Trace some = network.forward(random_input(network), NormMode::batch, Keep::for_backward);
  const auto kept = [](const StageTrace& stage) {
    const BranchTrace& branch = stage.branches.front();
    return !branch.current.empty() || !branch.half_current.empty();
  };
  EXPECT_TRUE(kept(all.stages[0]));
  EXPECT_FALSE(kept(some.stages[0]));
  EXPECT_TRUE(kept(some.stages[1])) << "288 inputs: dear to compute again";

  Buffer<float> gradient(all.logits.size());
  for (int64_t i = 0; i < gradient.size(); ++i) gradient[i] = static_cast<float>(i % 5) - 2.0F;
  network.backward(std::move(all), gradient);
  std::vector<Buffer<float>> expected;
  for (const Parameter& parameter : network.parameters()) expected.push_back(parameter.gradient);
  network.backward(std::move(some), gradient);
  for (std::size_t p = 0; p < expected.size(); ++p) {
    EXPECT_TRUE(std::ranges::equal(network.parameters()[p].gradient, expected[p]));
  }
}

}  // namespace
}  // namespace bntt
