#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "bntt/error.h"
#include "bntt/zoo.h"
#include "kernels/unpack.h"
#include "model/dropout.h"

namespace bntt {
namespace {

constexpr float kProbability = 0.25F;

NetworkSpec network_with(float dropout, bool per_step) {
  return vgg5({.input = {2, 8, 8},
               .steps = 4,
               .width = 0.15,
               .norm = {.kind = "bn-time"},
               .neuron = {.dropout = dropout, .dropout_per_step = per_step}});
}

/// Every third place holds a spike, another one at every step.
SpikeTrain input_of(int64_t batch) {
  SpikeTrain spikes(4, batch, {2, 8, 8}, {1.0F, -1.0F});
  for (int64_t i = 0; i < 4 * batch * 128; i += 3) {
    const int64_t place = i % 128;
    spikes.set(i % 2, i / 128 / batch, i / 128 % batch, place / 16, place / 2 % 8, place % 2);
  }
  return spikes;
}

Trace forward(Network& network, const DropoutDraws& draws) {
  return network.forward(input_of(std::ssize(draws.samples)), NormMode::batch, Keep::everything,
                         &draws);
}

std::vector<SpikeWord> mask_of(const SpikeTrain& kept, int64_t step, int64_t image) {
  const SpikeWord* frame = kept.frame(0, step, image);
  return {frame, frame + kept.words_per_frame()};
}

TEST(Dropout, MasksDependOnTheirPlaceAlone) {
  const auto plans = plan_stages(network_with(kProbability, true));
  const auto kept = [&](int64_t stage, const DropoutDraws& draws) {
    return kept_outputs(plans[stage], stage, draws);
  };
  const SpikeTrain whole = kept(1, {.seed = 3, .epoch = 5, .samples = {10, 11, 12}});
  const SpikeTrain alone = kept(1, {.seed = 3, .epoch = 5, .samples = {11}});
  for (int64_t step = 0; step < 4; ++step) {
    EXPECT_EQ(mask_of(whole, step, 1), mask_of(alone, step, 0));
    EXPECT_NE(mask_of(whole, step, 0), mask_of(whole, step, 1)) << "samples differ";
  }
  const auto first = mask_of(whole, 0, 1);
  EXPECT_NE(first, mask_of(whole, 1, 1)) << "steps differ";
  EXPECT_NE(first, mask_of(kept(1, {.seed = 3, .epoch = 6, .samples = {11}}), 0, 0));
  EXPECT_NE(first, mask_of(kept(1, {.seed = 4, .epoch = 5, .samples = {11}}), 0, 0));
  ASSERT_EQ(plans[1].output, plans[2].output);
  EXPECT_NE(first, mask_of(kept(2, {.seed = 3, .epoch = 5, .samples = {11}}), 0, 0));
}

TEST(Dropout, KeepsTheShareThatIsLeft) {
  const auto plans = plan_stages(network_with(kProbability, false));
  std::vector<uint32_t> samples(64);
  for (uint32_t i = 0; i < samples.size(); ++i) samples[i] = i;
  const SpikeTrain kept = kept_outputs(plans[0], 0, {.seed = 1, .epoch = 0, .samples = samples});
  EXPECT_EQ(kept.steps(), 1);
  const int64_t places = 64 * plans[0].output.size();
  const auto count =
      static_cast<double>(kernels::count_spikes(kept.words().data(), kept.words().size()));
  // Five standard deviations of a binomial count.
  const double deviation = std::sqrt(static_cast<double>(places) * 0.25 * 0.75);
  EXPECT_NEAR(count, 0.75 * static_cast<double>(places), 5 * deviation);
  EXPECT_NO_THROW(check_signal(kept)) << "no bit past the last channel";
}

TEST(Dropout, SpikesAreClearedAndTheRestIsScaled) {
  for (const bool per_step : {false, true}) {
    Network network(network_with(kProbability, per_step), 1);
    const Trace trace = forward(network, {.seed = 1, .epoch = 0, .samples = {4, 8}});
    int64_t cleared = 0;
    for (std::size_t i = 0; i + 1 < trace.stages.size(); ++i) {
      const StageTrace& stage = trace.stages[i];
      const auto& fired = std::get<SpikeTrain>(stage.output);
      const auto& left = std::get<SpikeTrain>(stage.handed_on());
      EXPECT_EQ(stage.dropped->kept.steps(), per_step ? 4 : 1);
      EXPECT_EQ(left.plane_weights(), std::vector<float>{1.0F / 0.75F});
      for (int64_t step = 0; step < 4; ++step) {
        for (int64_t image = 0; image < 2; ++image) {
          const auto mask = mask_of(stage.dropped->kept, per_step ? step : 0, image);
          for (int64_t w = 0; w < fired.words_per_frame(); ++w) {
            const SpikeWord before = fired.frame(0, step, image)[w];
            const SpikeWord after = left.frame(0, step, image)[w];
            EXPECT_EQ(after, before & mask[static_cast<std::size_t>(w)]);
            cleared += before != after ? 1 : 0;
          }
        }
      }
    }
    EXPECT_GT(cleared, 0);
    EXPECT_FALSE(trace.stages.back().dropped) << "the readout drops nothing";
  }
}

TEST(Dropout, IsForTrainingAlone) {
  Network with(network_with(kProbability, false), 1);
  Network without(network_with(0.0F, false), 1);
  const SpikeTrain input = input_of(3);
  EXPECT_TRUE(std::ranges::equal(with.forward(input, NormMode::running).logits,
                                 without.forward(input, NormMode::running).logits));
  ChainState state = with.start(3);
  ChainState plain = without.start(3);
  with.advance(input, state);
  without.advance(input, plain);
  EXPECT_TRUE(std::ranges::equal(with.logits(state), without.logits(plain)));
  const DropoutDraws draws{.seed = 1, .epoch = 0, .samples = {1, 2, 3}};
  const Trace nothing_to_drop = forward(without, draws);
  EXPECT_FALSE(nothing_to_drop.stages.front().dropped);
}

TEST(Dropout, MistakesAreNamed) {
  const auto complaint = [](const auto& action) -> std::string {
    try {
      action();
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(complaint([] { plan_stages(network_with(1.0F, false)); }),
            "conv1: dropout is 1, expected a number of at least 0 and below 1");
  Network network(network_with(kProbability, false), 1);
  const DropoutDraws two{.seed = 1, .epoch = 0, .samples = {1, 2}};
  EXPECT_EQ(
      complaint([&] { network.forward(input_of(3), NormMode::batch, Keep::everything, &two); }),
      "network: dropout has the ids of 2 images, expected 3");
}

}  // namespace
}  // namespace bntt
