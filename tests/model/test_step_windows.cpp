#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "base/threads.h"
#include "bntt/network.h"

namespace bntt {
namespace {

const NormSpec kNorm{.momentum = 1.0F, .shift = true};
const NeuronSpec kNeuron{.leak = 0.9F, .threshold = 0.6F};

NetworkSpec chain(Propagation propagation) {
  return {.input = {3, 9, 6},
          .steps = propagation == Propagation::delayed ? 12 : 8,
          .propagation = propagation,
          .stages = {Conv3x3{12, kNorm, kNeuron}, AvgPool{2}, Conv3x3{70, kNorm, kNeuron},
                     Conv3x3{9, kNorm, kNeuron}, Dense{33, kNorm, kNeuron}, Readout{.classes = 4}}};
}

/// Every branch has a gain per step; `sum` reads spikes added up, `merge` stores whole frames, and
/// `current` hands real values on.
NetworkSpec residual() {
  const auto convolution = [](int64_t channels, int64_t kernel) {
    return SynapseSpec{.outputs = channels, .kernel = kernel, .padding = kernel / 2};
  };
  const SynapseSpec fully_connected{.kind = SynapseKind::dense, .outputs = 20};
  NetworkSpec spec{.input = {3, 9, 6}, .steps = 8};
  spec.stages = {
      Conv3x3{12, kNorm, kNeuron},
      BranchedStage{"sum",
                    {{.synapse = convolution(12, 3), .norm = kNorm},
                     {.source = {"conv1"}, .synapse = convolution(12, 1), .norm = kNorm}},
                    kNeuron},
      BranchedStage{"current",
                    {{.source = {"sum", "conv1"}, .synapse = convolution(6, 3), .norm = kNorm}},
                    {.kind = "none"}},
      BranchedStage{"fired", {{.synapse = convolution(6, 3), .norm = kNorm}}, kNeuron},
      BranchedStage{"merge",
                    {{.synapse = fully_connected, .norm = kNorm},
                     {.source = {"sum"}, .synapse = fully_connected, .norm = kNorm}},
                    kNeuron},
      Readout{.classes = 4}};
  return spec;
}

Signal input_of(const NetworkSpec& spec, bool direct, int64_t batch) {
  const int64_t steps = active_steps(spec);
  const auto bits_at = [](int64_t i) {
    return draw4(9, Purpose::encoding, {.block = static_cast<uint32_t>(i)});
  };
  if (direct) {
    DenseTrain dense{steps, batch, spec.input, true, Buffer<float>(batch * spec.input.size())};
    for (int64_t i = 0; i < dense.values.size(); ++i) {
      dense.values[i] = 2.0F * uniform01(bits_at(i)[0]) - 1.0F;
    }
    return dense;
  }
  SpikeTrain spikes(steps, batch, spec.input, {1.0F, -1.0F});
  for (int64_t i = 0; i < spikes.words().size(); ++i) {
    spikes.words()[i] = bits_at(i)[0] & bits_at(i)[1] & 0b111U;
  }
  return spikes;
}

/// With gains, shifts and statistics that differ from step to step.
Network network_of(const NetworkSpec& spec, bool direct) {
  Network network(spec, 5);
  for (Parameter& parameter : network.parameters()) {
    if (!parameter.name.ends_with("norm.weight") && !parameter.name.ends_with("norm.bias")) {
      continue;
    }
    const float base = parameter.group == ParameterGroup::gain ? 0.7F : 0.0F;
    for (int64_t i = 0; i < parameter.value.size(); ++i) {
      const auto bits = draw4(3, Purpose::encoding, {.block = static_cast<uint32_t>(i)});
      parameter.value[i] = base + 0.3F * uniform01(bits[0]);
    }
  }
  network.forward(input_of(spec, direct, 5), NormMode::batch);
  return network;
}

/// The same network, whose gains and shifts are 0 at the steps at which a stage rests.
Network silenced(const Network& network, const StepWindows& windows) {
  Network result = network.copy();
  for (std::size_t i = 0; i < network.stages().size(); ++i) {
    for (const BranchPlan& branch : network.stages()[i].branches) {
      for (Parameter& parameter : result.parameters()) {
        if (!parameter.name.starts_with(branch.name + ".norm.")) continue;
        const int64_t size = parameter.value.size() / network.spec().steps;
        for (int64_t step = 0; step < network.spec().steps; ++step) {
          if (windows.active[i][step]) continue;
          std::fill_n(parameter.value.data() + step * size, size, 0.0F);
        }
      }
    }
  }
  return result;
}

/// All stages but the readout, whose gain is fixed: at rest, bands that move from stage to stage,
/// every other step, and steps drawn at random.
std::vector<StepWindows> window_shapes(const Network& network) {
  const int64_t steps = network.spec().steps;
  const auto shape = [&](const auto& works) {
    StepWindows windows;
    const auto stages = std::ssize(network.stages());
    for (int64_t stage = 0; stage < stages; ++stage) {
      auto& active = windows.active.emplace_back();
      for (int64_t step = 0; step < steps; ++step) {
        active.push_back(stage + 1 == stages || works(stage, step));
      }
    }
    return windows;
  };
  return {shape([](int64_t, int64_t) { return false; }),
          shape([](int64_t stage, int64_t step) { return step >= stage && step < stage + 4; }),
          shape([](int64_t stage, int64_t step) { return stage != 1 && step < 5; }),
          shape([](int64_t stage, int64_t step) { return (stage + step) % 2 == 0; }),
          shape([](int64_t stage, int64_t step) {
            return draw4(1, Purpose::encoding,
                         {.step = static_cast<uint32_t>(step),
                          .block = static_cast<uint32_t>(stage)})[0] %
                       3 !=
                   0;
          })};
}

struct Outcome {
  std::vector<float> logits;
  std::vector<std::vector<int64_t>> spikes;
  bool operator==(const Outcome&) const = default;
};

Outcome run(const Network& network, const Signal& input, int64_t window, AdvanceOptions options) {
  ChainState state = network.start(signal_batch(input));
  Activity activity;
  options.activity = &activity;
  const int64_t steps = signal_steps(input);
  for (int64_t first = 0; first < steps; first += window) {
    network.advance(slice_steps(input, first, std::min(window, steps - first)), state, options);
  }
  const Buffer<float> logits = network.logits(state);
  return {{logits.begin(), logits.end()}, activity.spikes};
}

struct Case {
  const char* name;
  NetworkSpec spec;
  bool direct;
  int64_t batch;
};
void PrintTo(const Case& tested, std::ostream* out) { *out << tested.name; }

class RestingSteps : public ::testing::TestWithParam<Case> {};

// A synapse at rest adds 0 to the membranes, which is what γ = β = 0 makes of its current.
TEST_P(RestingSteps, AreStepsWithoutGain) {
  const auto& [name, spec, direct, batch] = GetParam();
  Network network = network_of(spec, direct);
  const Signal input = input_of(spec, direct, batch);
  const int64_t steps = active_steps(spec);
  const Outcome without_windows = run(network, input, steps, {});
  for (const float break_even : {100.0F, -1.0F, 0.2F}) {
    network.set_break_even(
        std::vector<BreakEven>(network.break_even().size(), {break_even, break_even}));
    for (const StepWindows& windows : window_shapes(network)) {
      const Outcome expected = run(silenced(network, windows), input, steps, {});
      EXPECT_NE(expected.spikes, without_windows.spikes) << "the windows make no difference";
      for (const int64_t window : {steps, int64_t{3}, int64_t{1}}) {
        for (const bool same_input : {false, true}) {
          EXPECT_EQ(run(network, input, window, {.windows = &windows, .same_input = same_input}),
                    expected)
              << "windows of " << window << " steps, break-even " << break_even;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Networks, RestingSteps,
    ::testing::Values(Case{"chain", chain(Propagation::instant), false, 1},
                      Case{"chain_of_64", chain(Propagation::instant), false, 64},
                      Case{"direct", chain(Propagation::instant), true, 1},
                      Case{"direct_of_64", chain(Propagation::instant), true, 64},
                      Case{"delayed", chain(Propagation::delayed), false, 3},
                      Case{"delayed_direct", chain(Propagation::delayed), true, 3},
                      Case{"residual", residual(), false, 1},
                      Case{"residual_of_64", residual(), false, 64},
                      Case{"residual_direct", residual(), true, 3}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST(RestingSteps, AreTheSameOnAnyNumberOfThreads) {
  const Network network = network_of(chain(Propagation::instant), false);
  const Signal input = input_of(network.spec(), false, 7);
  const StepWindows windows = window_shapes(network).back();
  const int before = threads();
  set_threads(1);
  const Outcome alone = run(network, input, 8, {.windows = &windows});
  for (const int count : {2, 3, 8}) {
    set_threads(count);
    EXPECT_EQ(run(network, input, 8, {.windows = &windows}), alone) << count << " threads";
  }
  set_threads(before);
}

}  // namespace
}  // namespace bntt
