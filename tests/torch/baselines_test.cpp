#include <gtest/gtest.h>

#include "agreement.h"
#include "imposed_run.h"
#include "networks.h"

// The neurons and readouts of the publications that BNTT is compared with; kinds of neurons that
// hand on spikes are part of options_test.cpp.
namespace bntt {
namespace {

constexpr std::array kPropagations = {Propagation::instant, Propagation::delayed};

int64_t steps_of(Propagation propagation) { return propagation == Propagation::delayed ? 9 : 6; }

/// Wu's neurons: hard reset with gradient, a rectangle half a volt to both sides of the threshold.
NeuronSpec wu(const std::string& kind) {
  return {.kind = kind,
          .leak = 0.25F,
          .threshold = 0.75F,
          .reset = Reset::hard,
          .detach_reset = false,
          .surrogate = {.kind = SurrogateKind::rectangle, .alpha = 1.0F, .width = 1.0F}};
}

TEST(Oracle, NeuNorm) {
  for (const Propagation propagation : kPropagations) {
    for (const float decay : {0.9F, 0.3F}) {
      for (const int64_t pool : {1, 2}) {
        SCOPED_TRACE(name_of(propagation) + " " + std::to_string(decay) + " " +
                     std::to_string(pool));
        NeuronSpec neuron = wu("neunorm");
        neuron.neunorm_decay = decay;
        expect_agreement_in_both_modes(
            small_network({.norm = {.kind = "bn-time", .momentum = 0.6F, .shift = true},
                           .neuron = neuron,
                           .propagation = propagation,
                           .steps = steps_of(propagation),
                           .pool = pool}));
      }
    }
  }
}

TEST(Oracle, WuVotesWithNeuNormInItsConvolutions) {
  const NormSpec none{.kind = "none"};
  const Conv conv{.channels = 6, .bias = true, .norm = none, .neuron = wu("neunorm")};
  const Dense dense{.features = 12, .norm = none, .neuron = wu("lif"), .bias = true};
  const Readout votes{.classes = 4, .votes = 3, .synapse = SynapseKind::identity};
  for (const Encoding encoding : {Encoding::direct, Encoding::real_frames}) {
    SCOPED_TRACE(name_of(encoding));
    expect_agreement(
        {.input = {2, 9, 7}, .steps = 6, .stages = {conv, AvgPool{}, conv, dense, votes}}, encoding,
        NormMode::batch);
  }
}

TEST(Oracle, ReadoutsWhoseNewestCurrentLeaks) {
  for (const Propagation propagation : kPropagations) {
    for (const bool newest : {false, true}) {
      for (const bool gradient : {false, true}) {
        SCOPED_TRACE(name_of(propagation) + (newest ? " newest" : "") +
                     (gradient ? " gradient" : ""));
        NetworkSpec spec = small_network(
            {.propagation = propagation, .steps = steps_of(propagation), .readout_leak = 0.7F});
        auto& readout = std::get<Readout>(spec.stages.back());
        readout.leak_newest = newest;
        readout.leak_gradient = gradient;
        expect_agreement(spec, Encoding::signed_spikes, NormMode::batch);
      }
    }
  }
}

/// Lee's network in small: spiking pools, dropout before them, a readout that leaks forward only.
/// The last stage has a norm, without which all of its few neurons fire always.
NetworkSpec lee_network() {
  const NormSpec none{.kind = "none"};
  const NeuronSpec neuron{.kind = "lee", .leak = 0.9F, .dropout = 0.2F};
  NetworkSpec spec =
      network_of(8, Conv3x3{9, none, neuron}, Conv3x3{70, none, neuron},
                 stage("pool1", {branch({}, identity(), none, {PoolKind::average, 2})},
                       {.kind = "lee-if", .threshold = 0.5F}),
                 Dense{11, {.kind = "bn-time", .momentum = 0.6F}, neuron},
                 Readout{.classes = 4, .leak = 0.9F, .leak_newest = true, .leak_gradient = false});
  spec.init = Init::he_fan_in;
  return spec;
}

TEST(Oracle, LeesNetwork) {
  const NetworkSpec spec = lee_network();
  for (const float break_even : {100.0F, -1.0F}) {
    for (const bool drops : {false, true}) {
      SCOPED_TRACE(drops ? "dropout" : "");
      Network network(spec, /*seed=*/5);
      set_break_even(network, break_even);
      make_unremarkable(network, Encoding::signed_spikes, /*batch=*/3);
      const DropoutDraws draws{.seed = 3, .epoch = 2, .samples = {7, 1, 9}};
      ImposedRun run(network, random_input(spec, Encoding::signed_spikes, 3, /*seed=*/11),
                     NormMode::batch, drops ? &draws : nullptr);
      run.expect_all_agrees();
    }
  }
}

}  // namespace
}  // namespace bntt
