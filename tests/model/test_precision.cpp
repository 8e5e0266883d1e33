#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "base/random.h"
#include "bntt/network.h"
#include "bntt/zoo.h"

namespace bntt {
namespace {

Network small_network(Precision precision) {
  Network network(vgg5({.input = {2, 8, 8}, .classes = 3, .steps = 6, .width = 0.125}), 4);
  network.set_precision(precision);
  return network;
}

Signal random_input(const Network& network, int64_t batch) {
  SpikeTrain spikes(active_steps(network.spec()), batch, network.spec().input, {1.0F, -1.0F});
  for (int64_t i = 0; i < spikes.words().size(); ++i) {
    const auto bits = draw4(9, Purpose::encoding, {.block = static_cast<uint32_t>(i)});
    spikes.words()[i] = bits[0] & 3U;
  }
  return spikes;
}

Buffer<float> logits_gradient(int64_t size) {
  Buffer<float> gradient(size);
  for (int64_t i = 0; i < size; ++i) gradient[i] = static_cast<float>(i % 5) * 0.1F - 0.2F;
  return gradient;
}

TEST(MixedPrecision, KeepsHalvesAndLeavesTheFloats) {
  Network network = small_network(Precision::mixed);
  const Trace trace = network.forward(random_input(network, 4), NormMode::batch);
  for (const StageTrace& stage : trace.stages) {
    EXPECT_TRUE(stage.branches[0].current.empty());
    EXPECT_FALSE(stage.branches[0].half_current.empty());
  }
}

// Backward recomputes the membranes: from the halves it must find what forward saw.
TEST(MixedPrecision, DiffersFromFp32InTheKeptCurrentsAlone) {
  Network network = small_network(Precision::mixed);
  Trace trace = network.forward(random_input(network, 4), NormMode::batch);
  const Buffer<float> gradient = logits_gradient(trace.logits.size());
  network.backward(trace, gradient);
  std::vector<Buffer<float>> mixed;
  for (const Parameter& parameter : network.parameters()) mixed.push_back(parameter.gradient);

  for (StageTrace& stage : trace.stages) {
    BranchTrace& kept = stage.branches[0];
    kept.current = Buffer<float>(kept.half_current.size());
    for (int64_t i = 0; i < kept.current.size(); ++i) {
      kept.current[i] = std::bit_cast<float>(static_cast<uint32_t>(kept.half_current[i]) << 16);
    }
    kept.half_current = Buffer<uint16_t>();
  }
  network.backward(trace, gradient);
  for (std::size_t p = 0; p < mixed.size(); ++p) {
    const Buffer<float>& whole = network.parameters()[p].gradient;
    EXPECT_TRUE(std::equal(whole.begin(), whole.end(), mixed[p].begin(), mixed[p].end()));
  }
}

TEST(MixedPrecision, MovesTheFirstStageByTheRoundingOnly) {
  Network whole = small_network(Precision::fp32);
  Network mixed = small_network(Precision::mixed);
  const Trace expected = whole.forward(random_input(whole, 4), NormMode::batch);
  const Trace ours = mixed.forward(random_input(mixed, 4), NormMode::batch);
  const Buffer<float>& current = expected.stages[0].branches[0].current;
  ASSERT_EQ(ours.stages[0].branches[0].half_current.size(), current.size());
  for (int64_t i = 0; i < current.size(); ++i) {
    const auto kept = std::bit_cast<float>(
        static_cast<uint32_t>(ours.stages[0].branches[0].half_current[i]) << 16);
    ASSERT_LE(std::abs(kept - current[i]), std::abs(current[i]) * 0x1p-8F);
  }
}

}  // namespace
}  // namespace bntt
