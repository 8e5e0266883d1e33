#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bntt/error.h"
#include "bntt/network.h"

namespace bntt {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A readout that counts the spikes of the input's four places: two classes, two votes each.
NetworkSpec counting(const Readout& readout) {
  return {.input = {4, 1, 1}, .steps = 3, .stages = {readout}};
}

std::vector<float> numbers(const Buffer<float>& values) { return {values.begin(), values.end()}; }

constexpr SynapseKind kIdentity = SynapseKind::identity;

/// Places 0 and 1 fire at the first step, place 1 at the second, place 3 at the last.
SpikeTrain votes_cast() {
  SpikeTrain spikes(3, 1, {4, 1, 1});
  spikes.set(0, 0, 0, 0, 0, 0);
  spikes.set(0, 0, 0, 0, 0, 1);
  spikes.set(0, 1, 0, 0, 0, 1);
  spikes.set(0, 2, 0, 0, 0, 3);
  return spikes;
}

TEST(Readouts, VotesAreAveraged) {
  Network network(counting({.classes = 2, .votes = 2, .synapse = kIdentity}), 1);
  const Trace trace = network.forward(votes_cast(), NormMode::batch);
  EXPECT_THAT(numbers(trace.logits), ElementsAre(0.5F, 0.5F / 3.0F));
  EXPECT_THAT(numbers(network.step_logits(trace)), ElementsAre(1.0F, 0.0F, 0.5F, 0.0F, 0.0F, 0.5F));
}

// λ = 1/2: m = 1, 1/2 + 1/2, 1/2 and 0, 0, 1/2.
TEST(Readouts, VoltagesLeak) {
  const Readout leaky{
      .classes = 2, .divide_by_steps = false, .votes = 2, .synapse = kIdentity, .leak = 0.5F};
  Network network(counting(leaky), 1);
  EXPECT_THAT(numbers(network.forward(votes_cast(), NormMode::batch).logits),
              ElementsAre(0.5F, 0.5F));
  // Windows of any length give the same.
  ChainState state = network.start(1);
  for (int64_t step = 0; step < 3; ++step) {
    network.advance(slice_steps(votes_cast(), step, 1), state);
  }
  EXPECT_THAT(numbers(network.logits(state)), ElementsAre(0.5F, 0.5F));
}

// m ← (m + y)/2: 1/2, 1/2, 1/4 and 0, 0, 1/4; forward only, every step's gradient is whole.
TEST(Readouts, LeakTheNewestCurrentToo) {
  Readout readout{.classes = 2,
                  .divide_by_steps = false,
                  .votes = 2,
                  .synapse = kIdentity,
                  .leak = 0.5F,
                  .leak_newest = true};
  const auto input_gradient = [&](const Readout& of) {
    Network network(counting(of), 1);
    Trace trace = network.forward(votes_cast(), NormMode::batch);
    EXPECT_THAT(numbers(trace.logits), ElementsAre(0.25F, 0.25F));
    Buffer<float> at_input;
    Buffer<float> ones(2);
    ones.fill(1.0F);
    network.backward(std::move(trace), ones, &at_input);
    return std::vector<float>{at_input[0], at_input[4], at_input[8]};  // of place 0 at every step
  };
  EXPECT_THAT(input_gradient(readout), ElementsAre(0.0625F, 0.125F, 0.25F));
  readout.leak_gradient = false;
  EXPECT_THAT(input_gradient(readout), ElementsAre(0.5F, 0.5F, 0.5F));
}

TEST(Readouts, LeakWhileTheirSynapsesRest) {
  const Readout leaky{
      .classes = 2, .divide_by_steps = false, .votes = 2, .synapse = kIdentity, .leak = 0.5F};
  const Network network(counting(leaky), 1);
  const StepWindows windows{{{true, false, false}}};
  ChainState state = network.start(1);
  network.advance(votes_cast(), state, AdvanceOptions{.windows = &windows});
  EXPECT_THAT(numbers(network.logits(state)), ElementsAre(0.25F, 0.0F));
}

TEST(Readouts, MistakesAreNamed) {
  const auto complaint = [](const Readout& readout) -> std::string {
    try {
      plan_stages(counting(readout));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(complaint({.classes = 2, .votes = 3, .synapse = kIdentity}),
            "the readout takes 3 votes for each of 2 classes from a map of 4x1x1, expected 6x1x1");
  EXPECT_EQ(complaint({.classes = 2, .votes = 0}), "readout: votes is 0, expected 1 to 524288");
  EXPECT_THAT(complaint({.classes = 2, .leak = 1.5F}), HasSubstr("readout: leak is 1.5"));
  EXPECT_THAT(complaint({.classes = 2, .synapse = SynapseKind::conv}),
              HasSubstr("expected a dense or identity synapse"));
}

TEST(Readouts, RefuseGradientsOfAnotherSize) {
  Network network(counting({.classes = 2, .votes = 2, .synapse = kIdentity}), 1);
  const Trace trace = network.forward(votes_cast(), NormMode::batch);
  EXPECT_THROW(network.backward(trace, Buffer<float>::zeros(6)), Error);
  EXPECT_THROW(network.backward_from_steps(trace, Buffer<float>::zeros(2)), Error);
}

}  // namespace
}  // namespace bntt
