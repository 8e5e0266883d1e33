#include "model/learned_windows.h"

#include <gtest/gtest.h>

#include "imposed_run.h"
#include "networks.h"

// Steps of branches that are switched off: the oracle computes them all, with their rows of γ at 0.
namespace bntt {
namespace {

enum class Pattern { band, holes, one_step };

std::string name_of(Pattern pattern) {
  switch (pattern) {
    case Pattern::band:
      return "band";
    case Pattern::holes:
      return "holes";
    case Pattern::one_step:
      return "one_step";
  }
  return "?";
}

bool works(Pattern pattern, int64_t step, int64_t steps, std::size_t branch) {
  switch (pattern) {
    case Pattern::band:
      return step >= static_cast<int64_t>(branch % 2) && step < steps - 1;
    case Pattern::holes:
      return (step + static_cast<int64_t>(branch)) % 3 != 1;
    case Pattern::one_step:
      return step == (branch == 0 ? 1 : 2);
  }
  return true;
}

/// Of every branch that has them; the readout's last.
LearnedWindows windows_like(Pattern pattern, const Network& network) {
  LearnedWindows windows = all_steps(network);
  for (std::size_t i = 0; i < network.stages().size(); ++i) {
    const StagePlan& plan = network.stages()[i];
    for (std::size_t b = 0; b < plan.branches.size(); ++b) {
      if (!network.can_switch_steps(i, b)) continue;
      for (int64_t step = 0; step < plan.active_steps; ++step) {
        windows.active[i][b][plan.first_step + step] = works(pattern, step, plan.active_steps, b);
      }
    }
  }
  return windows;
}

void expect_windows_agree(const NetworkSpec& spec, Encoding encoding, Pattern pattern,
                          NormMode mode, Precision precision = Precision::fp32,
                          const Tolerances& tolerances = {}) {
  constexpr int64_t kBatch = 3;
  for (const float break_even : {100.0F, -1.0F}) {
    SCOPED_TRACE(name_of(encoding) + " " + name_of(pattern) + " " + name_of(mode) +
                 (break_even > 0.0F ? " walked" : " dense"));
    Network network(spec, /*seed=*/5);
    set_break_even(network, break_even);
    make_unremarkable(network, encoding, kBatch);
    network.set_precision(precision);
    network.set_windows(windows_like(pattern, network));
    ASSERT_FALSE(network.windows().empty());
    ImposedRun(network, random_input(spec, encoding, kBatch, /*seed=*/11), mode, nullptr,
               tolerances)
        .expect_all_agrees();
  }
}

constexpr std::array kModes = {NormMode::batch, NormMode::running};

TEST(Oracle, LearnedWindowsOfAChain) {
  for (const Encoding encoding :
       {Encoding::signed_spikes, Encoding::counts, Encoding::direct, Encoding::real_frames}) {
    for (const Pattern pattern : {Pattern::band, Pattern::holes}) {
      for (const NormMode mode : kModes) {
        expect_windows_agree(small_network({.readout_norm = {.kind = "bntt"}}), encoding, pattern,
                             mode);
      }
    }
  }
}

TEST(Oracle, LearnedWindowsOfEveryNeuron) {
  std::vector<std::string> neurons = spiking_neuron_names();
  neurons.emplace_back("neunorm");
  for (const std::string& kind : neurons) {
    SCOPED_TRACE(kind);
    // Low enough that neurons that integrate slowly fire in spite of the steps without input.
    expect_windows_agree(small_network({.neuron = {.kind = kind, .leak = 0.6F, .threshold = 0.3F}}),
                         Encoding::signed_spikes, Pattern::holes, NormMode::batch);
  }
}

TEST(Oracle, LearnedWindowsWithDelayedPropagation) {
  for (const Pattern pattern : {Pattern::band, Pattern::holes}) {
    for (const NormMode mode : kModes) {
      expect_windows_agree(small_network({.propagation = Propagation::delayed, .steps = 9}),
                           Encoding::signed_spikes, pattern, mode);
    }
  }
}

TEST(Oracle, ALearnedWindowOfOneStep) {
  expect_windows_agree(small_network({.neuron = {.threshold = 0.3F}}), Encoding::signed_spikes,
                       Pattern::one_step, NormMode::batch);
}

TEST(Oracle, LearnedWindowsOfBranches) {
  int networks = 0;
  for (const NamedNetwork& named : networks_with_branches()) {
    const Network network(named.spec, 1);
    if (windows_like(Pattern::holes, network) == all_steps(network)) continue;
    ++networks;
    SCOPED_TRACE(named.name);
    expect_windows_agree(named.spec, named.encodings.front(), Pattern::holes, NormMode::batch);
  }
  EXPECT_GE(networks, 3);
}

TEST(Oracle, LearnedWindowsInMixedPrecision) {
  expect_windows_agree(small_network({}), Encoding::signed_spikes, Pattern::band, NormMode::batch,
                       Precision::mixed, {.forward = 0.01, .threshold = 0.05, .gradient = 0.05});
}

TEST(Oracle, LearnedWindowsInBf16) {
  for (const Encoding encoding : {Encoding::signed_spikes, Encoding::direct}) {
    for (const Pattern pattern : {Pattern::band, Pattern::holes}) {
      expect_windows_agree(small_network({}), encoding, pattern, NormMode::batch, Precision::bf16,
                           {.forward = 0.03, .threshold = 0.2, .gradient = 0.15});
    }
  }
}

}  // namespace
}  // namespace bntt
