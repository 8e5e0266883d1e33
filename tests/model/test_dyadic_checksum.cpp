#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "bntt/network.h"
#include "checksum.h"
#include "learn/sgd.h"

// Dyadic numbers, few enough bits each that no sum rounds: the order of a sum does not matter, and
// every right implementation on every machine gives the same bits. The checksums were recorded on
// x86; scripts/test-arm64 runs the test on ARM. Where sums do round, as in Winograd's algorithm and
// in the norms, only our own kernels compute them, in one order on every machine.
namespace bntt {
namespace {

constexpr int64_t kBatch = 3;
constexpr float kAlwaysWalk = 100.0F;
constexpr float kNeverWalk = 0.0F;

struct Trial {
  std::string name;
  uint64_t checksum;
  NeuronSpec neuron = {};
  Propagation propagation = Propagation::instant;
  bool direct = false;
  std::string norm = "none";
  float break_even = kAlwaysWalk;
  int64_t kernel = 5;  // of the second stage; 3: Winograd's algorithm where it does not walk
  bool trains = false;
};

/// Powers of two everywhere.
NeuronSpec dyadic_neuron(Reset reset, Fire fire) {
  return {.leak = 0.5F,
          .fire = fire,
          .reset = reset,
          .surrogate = {.kind = SurrogateKind::rectangle, .alpha = 1.0F, .width = 2.0F}};
}

NetworkSpec network_of(const Trial& trial) {
  const NormSpec norm{.kind = trial.norm};
  const auto conv = [&](int64_t channels, int64_t kernel, int64_t stride) {
    return Conv{.channels = channels,
                .kernel = kernel,
                .stride = stride,
                .padding = kernel / 2,
                .norm = norm,
                .neuron = trial.neuron};
  };
  return {.input = {2, 10, 9},
          .steps = trial.propagation == Propagation::delayed ? 6 : 3,
          .propagation = trial.propagation,
          .stages = {conv(12, 3, 2), conv(21, trial.kernel, 1), AvgPool{2},
                     Dense{.features = 19, .norm = norm, .neuron = trial.neuron},
                     Readout{.classes = 5, .divide_by_steps = false}}};
}

/// -1, -1/2, 0, 1/2 or 1.
float drawn_half(uint32_t sample, int64_t position) {
  return std::round(4.0F * testing::drawn_uniform(sample, position) - 2.0F) / 2.0F;
}

void make_dyadic(Network& network) {
  uint32_t sample = 100;
  for (Parameter& parameter : network.parameters()) {
    ++sample;
    for (int64_t i = 0; i < parameter.value.size(); ++i) {
      parameter.value[i] = drawn_half(sample, i);
    }
  }
}

Signal dyadic_input(const Trial& trial, const NetworkSpec& spec) {
  Signal input = testing::drawn_input(spec, kBatch, trial.direct, /*seed=*/11);
  if (auto* values = std::get_if<DenseTrain>(&input)) {
    for (float& value : values->values) value = std::round(8.0F * value) / 8.0F;
  }
  return input;
}

uint64_t checksum_of(const Trial& trial, float break_even) {
  Network network(network_of(trial), /*seed=*/1);
  make_dyadic(network);
  network.set_break_even(
      std::vector<BreakEven>(network.break_even().size(), {break_even, break_even}));
  testing::Checksum checksum;
  const auto forward = [&] {
    Trace trace = network.forward(dyadic_input(trial, network.spec()), NormMode::batch);
    for (const StageTrace& stage : trace.stages) checksum.add(stage.output);
    checksum.add(trace.logits);
    return trace;
  };
  Trace trace = forward();
  if (trial.trains) {
    Buffer<float> gradient(trace.logits.size());
    for (int64_t i = 0; i < gradient.size(); ++i) gradient[i] = drawn_half(99, i);
    Buffer<float> input_gradient;
    network.backward(std::move(trace), gradient, &input_gradient);
    checksum.add(input_gradient);
    for (const Parameter& parameter : network.parameters()) checksum.add(parameter.gradient);
    Sgd sgd(network, {.momentum = 0.5, .weight_decay = 0.0});
    sgd.step(network, /*learning_rate=*/0.0625);
    forward();
  }
  return checksum.value();
}

class DyadicChecksum : public ::testing::TestWithParam<Trial> {};

TEST_P(DyadicChecksum, IsTheRecordedOneOnEveryMachine) {
  const Trial& trial = GetParam();
  const uint64_t found = checksum_of(trial, trial.break_even);
  EXPECT_EQ(found, trial.checksum) << std::hex << "0x" << found;
}

// Proof that nothing rounds: a sum in another order, by another algorithm, has the same bits.
TEST_P(DyadicChecksum, DoesNotDependOnTheWay) {
  const Trial& trial = GetParam();
  if (trial.norm != "none" || trial.kernel == 3) GTEST_SKIP() << "sums of this one round";
  EXPECT_EQ(checksum_of(trial, kAlwaysWalk), checksum_of(trial, kNeverWalk));
}

INSTANTIATE_TEST_SUITE_P(Machines, DyadicChecksum,
                         ::testing::Values(Trial{.name = "soft",
                                                 .checksum = 0x5d605b22ce890a9a,
                                                 .neuron = dyadic_neuron(Reset::soft, Fire::gt)},
                                           Trial{.name = "hard",
                                                 .checksum = 0x211f76693b6192cf,
                                                 .neuron = dyadic_neuron(Reset::hard, Fire::ge)},
                                           Trial{.name = "delayed",
                                                 .checksum = 0x11f33aab8af514d3,
                                                 .neuron = dyadic_neuron(Reset::soft, Fire::ge),
                                                 .propagation = Propagation::delayed},
                                           Trial{.name = "direct",
                                                 .checksum = 0x568d7a148eeedf53,
                                                 .neuron = dyadic_neuron(Reset::soft, Fire::gt),
                                                 .direct = true},
                                           Trial{.name = "dense",
                                                 .checksum = 0x5d605b22ce890a9a,
                                                 .neuron = dyadic_neuron(Reset::soft, Fire::gt),
                                                 .break_even = kNeverWalk},
                                           Trial{.name = "winograd",
                                                 .checksum = 0xa77e8b0732471182,
                                                 .neuron = dyadic_neuron(Reset::soft, Fire::gt),
                                                 .break_even = kNeverWalk,
                                                 .kernel = 3},
                                           Trial{.name = "bntt",
                                                 .checksum = 0x8188e58caad7b249,
                                                 .neuron = dyadic_neuron(Reset::soft, Fire::gt),
                                                 .norm = "bntt"},
                                           Trial{.name = "training",
                                                 .checksum = 0xd02798aaad51f434,
                                                 .neuron = dyadic_neuron(Reset::soft, Fire::gt),
                                                 .trains = true}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace bntt
