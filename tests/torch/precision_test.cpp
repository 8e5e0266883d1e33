#include <gtest/gtest.h>

#include "cases.h"
#include "imposed_run.h"
#include "networks.h"

namespace bntt {
namespace {

// The oracle computes in fp64. Currents that are kept as bf16 are rounded by up to 2⁻⁹ of
// themselves; dense products of bf16 add about a hundredth of the result, once in every stage that
// a gradient passes through, and gradients between stages are rounded again.
constexpr Tolerances kMixed{.forward = 0.01, .threshold = 0.05, .gradient = 0.05};
constexpr Tolerances kBf16{.forward = 0.03, .threshold = 0.2, .gradient = 0.15};
// Few channels, many branches or a low threshold: errors average out less.
constexpr Tolerances kBf16OfAwkwardNetworks{.forward = 0.03, .threshold = 0.2, .gradient = 0.25};

void expect_agreement(const NetworkSpec& spec, Encoding encoding, Precision precision,
                      const Tolerances& tolerances) {
  constexpr int64_t kBatch = 3;
  for (const float break_even : {100.0F, -1.0F}) {
    SCOPED_TRACE(name_of(encoding) + (break_even > 0.0F ? ", walked" : ", dense"));
    Network network(spec, /*seed=*/5);
    set_break_even(network, break_even);
    make_unremarkable(network, encoding, kBatch);
    network.set_precision(precision);
    ImposedRun(network, random_input(spec, encoding, kBatch, /*seed=*/11), NormMode::batch, nullptr,
               tolerances)
        .expect_all_agrees();
  }
}

void expect_agreement(Precision precision, const Tolerances& tolerances) {
  for (const Encoding encoding :
       {Encoding::signed_spikes, Encoding::direct, Encoding::real_frames}) {
    expect_agreement(small_network({}), encoding, precision, tolerances);
  }
}

TEST(Precision, MixedAgreesWithOracleWithinItsTolerance) {
  expect_agreement(Precision::mixed, kMixed);
}

TEST(Precision, Bf16AgreesWithOracleWithinItsTolerance) {
  expect_agreement(Precision::bf16, kBf16);
}

// Some neurons take gradients in bf16, others only floats.
TEST(Precision, Bf16AgreesForEveryNeuron) {
  for (const std::string& kind : spiking_neuron_names()) {
    SCOPED_TRACE(kind);
    // Low enough that neurons that integrate slowly fire.
    const NeuronSpec neuron{.kind = kind, .leak = 0.6F, .threshold = 0.3F};
    expect_agreement(small_network({.neuron = neuron}), Encoding::signed_spikes, Precision::bf16,
                     kBf16OfAwkwardNetworks);
  }
}

// Not for the rectangle: where rounding moves a membrane over its edge, the gradient changes by all
// of it.
TEST(Precision, Bf16AgreesForEveryContinuousSurrogate) {
  for (const SurrogateKind kind : surrogates()) {
    if (kind == SurrogateKind::rectangle) continue;
    SCOPED_TRACE(name_of(kind));
    expect_agreement(small_network({.neuron = {.surrogate = {.kind = kind}}}),
                     Encoding::signed_spikes, Precision::bf16, kBf16OfAwkwardNetworks);
  }
}

class BranchesInBf16 : public ::testing::TestWithParam<NamedNetwork> {};
INSTANTIATE_TEST_SUITE_P(Networks, BranchesInBf16, ::testing::ValuesIn(networks_with_branches()),
                         [](const auto& tested) { return tested.param.name; });

// Gradients from several readers are added up, pools of both kinds lie between the stages.
TEST_P(BranchesInBf16, AgreeWithOracle) {
  for (const Encoding encoding : GetParam().encodings) {
    expect_agreement(GetParam().spec, encoding, Precision::bf16, kBf16OfAwkwardNetworks);
  }
}

}  // namespace
}  // namespace bntt
