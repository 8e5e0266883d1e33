#include <gtest/gtest.h>

#include "agreement.h"

namespace bntt {
namespace {

constexpr std::array kModes = {NormMode::batch, NormMode::running};
constexpr std::array kPropagations = {Propagation::instant, Propagation::delayed};

/// Four hidden stages take four steps of a delayed run.
int64_t steps_of(Propagation propagation) { return propagation == Propagation::delayed ? 9 : 6; }

using Dynamics = std::tuple<std::string, Reset, bool, Propagation, NormMode>;
class EveryDynamics : public testing::TestWithParam<Dynamics> {};

TEST_P(EveryDynamics, AgreesWithOracle) {
  const auto [norm, reset, detach, propagation, mode] = GetParam();
  expect_agreement(small_network({.norm = {.kind = norm},
                                  .neuron = {.reset = reset, .detach_reset = detach},
                                  .propagation = propagation,
                                  .steps = steps_of(propagation)}),
                   Encoding::signed_spikes, mode);
}

INSTANTIATE_TEST_SUITE_P(
    Oracle, EveryDynamics,
    testing::Combine(testing::ValuesIn(norm_names()), testing::Values(Reset::soft, Reset::hard),
                     testing::Bool(), testing::ValuesIn(kPropagations), testing::ValuesIn(kModes)),
    [](const auto& test) {
      return name_of(std::get<0>(test.param)) + "_" + name_of(std::get<1>(test.param)) +
             (std::get<2>(test.param) ? "_detached_" : "_attached_") +
             name_of(std::get<3>(test.param)) + "_" + name_of(std::get<4>(test.param));
    });

class EverySurrogate : public testing::TestWithParam<std::tuple<SurrogateKind, Propagation>> {};

TEST_P(EverySurrogate, AgreesWithOracle) {
  const auto [surrogate, propagation] = GetParam();
  for (const bool detach : {true, false}) {
    SCOPED_TRACE(detach ? "detached" : "attached");
    expect_agreement_in_both_modes(
        small_network({.neuron = {.leak = 0.8F,
                                  .threshold = 0.7F,
                                  .detach_reset = detach,
                                  .surrogate = {.kind = surrogate, .alpha = 0.45F}},
                       .propagation = propagation,
                       .steps = steps_of(propagation)}));
  }
}

INSTANTIATE_TEST_SUITE_P(Oracle, EverySurrogate,
                         testing::Combine(testing::ValuesIn(surrogates()),
                                          testing::ValuesIn(kPropagations)),
                         [](const auto& test) {
                           return name_of(std::get<0>(test.param)) + "_" +
                                  name_of(std::get<1>(test.param));
                         });

// A decay that tells the steps of a short run apart, and a neuron's first spike from its others.
TEST(Oracle, SpikeTimesInTheSurrogate) {
  for (const Propagation propagation : kPropagations) {
    for (const float decay : {0.002F, 0.3F}) {
      SCOPED_TRACE(name_of(propagation) + (decay > 0.1F ? " fast" : " slow"));
      expect_agreement_in_both_modes(
          small_network({.neuron = {.threshold = 0.6F,
                                    .surrogate = {.kind = SurrogateKind::stdb,
                                                  .per_threshold = true,
                                                  .decay = decay}},
                         .propagation = propagation,
                         .steps = steps_of(propagation)}));
    }
  }
}

TEST(Oracle, FloorUnderTheMembrane) {
  for (const Propagation propagation : kPropagations) {
    for (const Reset reset : {Reset::soft, Reset::hard}) {
      for (const float floor : {0.0F, -0.4F}) {
        SCOPED_TRACE(name_of(propagation) + " " + name_of(reset) +
                     (floor < 0.0F ? " below 0" : " at 0"));
        expect_agreement_in_both_modes(
            small_network({.neuron = {.reset = reset,
                                      .detach_reset = false,
                                      .floor = floor,
                                      .surrogate = {.kind = SurrogateKind::arctan}},
                           .propagation = propagation,
                           .steps = steps_of(propagation)}));
      }
    }
  }
}

// Every stage has another threshold, whose inverse is a factor of the surrogate.
TEST(Oracle, ThresholdsOfTheirOwn) {
  for (const Propagation propagation : kPropagations) {
    NetworkSpec spec = small_network({.neuron = {.surrogate = {.per_threshold = true}},
                                      .propagation = propagation,
                                      .steps = steps_of(propagation)});
    float threshold = 0.4F;
    for (StageSpec& stage : spec.stages) {
      if (auto* conv = std::get_if<Conv3x3>(&stage)) conv->neuron.threshold = threshold += 0.2F;
    }
    expect_agreement_in_both_modes(spec);
  }
}

class EveryWidth : public testing::TestWithParam<std::tuple<SurrogateKind, float>> {};

TEST_P(EveryWidth, AgreesWithOracle) {
  const auto [surrogate, width] = GetParam();
  for (const Propagation propagation : kPropagations) {
    for (const Reset reset : {Reset::soft, Reset::hard}) {
      SCOPED_TRACE(name_of(propagation) + " " + name_of(reset));
      expect_agreement(small_network({.neuron = {.threshold = 0.7F,
                                                 .fire = Fire::ge,
                                                 .reset = reset,
                                                 .detach_reset = false,
                                                 .surrogate = {.kind = surrogate, .width = width}},
                                      .propagation = propagation,
                                      .steps = steps_of(propagation)}),
                       Encoding::signed_spikes, NormMode::batch);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Oracle, EveryWidth,
                         testing::Combine(testing::ValuesIn(surrogates()),
                                          testing::Values(0.4F, 1.5F)),
                         [](const auto& test) {
                           return name_of(std::get<0>(test.param)) +
                                  (std::get<1>(test.param) < 0.7F ? "_narrow" : "_wide");
                         });

class EveryEncoding
    : public testing::TestWithParam<std::tuple<Encoding, std::string, Propagation>> {};

TEST_P(EveryEncoding, AgreesWithOracle) {
  const auto [encoding, norm, propagation] = GetParam();
  expect_agreement_in_both_modes(
      small_network(
          {.norm = {.kind = norm}, .propagation = propagation, .steps = steps_of(propagation)}),
      encoding);
}

INSTANTIATE_TEST_SUITE_P(
    Oracle, EveryEncoding,
    testing::Combine(testing::Values(Encoding::signed_spikes, Encoding::unsigned_spikes,
                                     Encoding::counts, Encoding::direct, Encoding::real_frames),
                     testing::ValuesIn(norm_names()), testing::ValuesIn(kPropagations)),
    [](const auto& test) {
      return name_of(std::get<0>(test.param)) + "_" + name_of(std::get<1>(test.param)) + "_" +
             name_of(std::get<2>(test.param));
    });

class EveryReadout : public testing::TestWithParam<std::tuple<std::string, bool, Propagation>> {};

TEST_P(EveryReadout, AgreesWithOracle) {
  const auto [norm, divide, propagation] = GetParam();
  expect_agreement_in_both_modes(small_network({.propagation = propagation,
                                                .steps = steps_of(propagation),
                                                .readout_norm = {.kind = norm},
                                                .divide_by_steps = divide}));
}

INSTANTIATE_TEST_SUITE_P(Oracle, EveryReadout,
                         testing::Combine(testing::ValuesIn(norm_names()), testing::Bool(),
                                          testing::ValuesIn(kPropagations)),
                         [](const auto& test) {
                           return name_of(std::get<0>(test.param)) +
                                  (std::get<1>(test.param) ? "_divided_" : "_undivided_") +
                                  name_of(std::get<2>(test.param));
                         });

using Neuron = std::tuple<std::string, Reset, bool, Propagation>;
class EveryNeuron : public testing::TestWithParam<Neuron> {};

TEST_P(EveryNeuron, AgreesWithOracle) {
  const auto [kind, reset, detach, propagation] = GetParam();
  expect_agreement_in_both_modes(
      small_network({.norm = {.kind = "bn-time", .momentum = 0.6F, .shift = true},
                     .neuron = {.kind = kind,
                                .leak = 0.6F,
                                .threshold = 0.6F,
                                .fire = Fire::ge,
                                .reset = reset,
                                .detach_reset = detach},
                     .propagation = propagation,
                     .steps = steps_of(propagation)}));
}

INSTANTIATE_TEST_SUITE_P(Oracle, EveryNeuron,
                         testing::Combine(testing::ValuesIn(spiking_neuron_names()),
                                          testing::Values(Reset::soft, Reset::hard),
                                          testing::Bool(), testing::ValuesIn(kPropagations)),
                         [](const auto& test) {
                           return name_of(std::get<0>(test.param)) + "_" +
                                  name_of(std::get<1>(test.param)) +
                                  (std::get<2>(test.param) ? "_detached_" : "_attached_") +
                                  name_of(std::get<3>(test.param));
                         });

class EveryShift : public testing::TestWithParam<std::tuple<std::string, Propagation>> {};

TEST_P(EveryShift, AgreesWithOracle) {
  const auto [kind, propagation] = GetParam();
  const NormSpec norm{.kind = kind, .momentum = 0.6F, .shift = true, .alpha = 0.8F};
  SmallNetwork options{.propagation = propagation, .steps = steps_of(propagation)};
  options.norm = norm;
  options.readout_norm = norm;
  options.neuron.threshold = 0.6F;
  for (const Encoding encoding : {Encoding::signed_spikes, Encoding::direct}) {
    SCOPED_TRACE(name_of(encoding));
    expect_agreement_in_both_modes(small_network(options), encoding);
  }
}

INSTANTIATE_TEST_SUITE_P(Oracle, EveryShift,
                         testing::Combine(testing::ValuesIn(real_norm_names()),
                                          testing::ValuesIn(kPropagations)),
                         [](const auto& test) {
                           return name_of(std::get<0>(test.param)) + "_" +
                                  name_of(std::get<1>(test.param));
                         });

TEST(Oracle, OtherEpsilonAndMomentum) {
  for (const std::string& kind : real_norm_names()) {
    SCOPED_TRACE(kind);
    expect_agreement_in_both_modes(
        small_network({.norm = {.kind = kind, .epsilon = 0.05F, .momentum = 0.37F}}));
  }
}

TEST(Oracle, GlobalPoolAndPoolsThatLeaveARest) {
  for (const int64_t pool : {0, 3, 4}) {
    SCOPED_TRACE(pool);
    // A pooled current varies little: the running variance must leave its start fast for neurons to
    // fire.
    expect_agreement_in_both_modes(small_network({.norm = {.momentum = 0.6F}, .pool = pool}));
  }
}

TEST(Oracle, OtherChains) {
  const Conv3x3 conv{.channels = 6, .norm = {.momentum = 0.6F}};
  const Dense dense{.features = 13, .norm = {.momentum = 0.6F}};
  const Readout readout{.classes = 3};
  const std::vector<std::vector<StageSpec>> chains = {
      {dense, dense, readout},           {conv, readout},
      {conv, AvgPool{}, readout},        {conv, AvgPool{0}, readout},
      {AvgPool{}, conv, dense, readout}, {AvgPool{}, dense, readout}};
  for (std::size_t i = 0; i < chains.size(); ++i) {
    for (const Encoding encoding :
         {Encoding::signed_spikes, Encoding::direct, Encoding::real_frames}) {
      for (const Propagation propagation : kPropagations) {
        SCOPED_TRACE("chain " + std::to_string(i) + " " + name_of(encoding) + " " +
                     name_of(propagation));
        expect_agreement_in_both_modes(
            {.input = {2, 9, 7}, .steps = 6, .propagation = propagation, .stages = chains[i]},
            encoding);
      }
    }
  }
}

class EveryAnn : public testing::TestWithParam<std::string> {};

// With a small ε a norm would take back any scale that the stage before put before its ReLU: the
// gradient of such a scale (tebn has one) would be rounding alone.
TEST_P(EveryAnn, AgreesWithOracle) {
  expect_agreement_in_both_modes(
      small_network(
          {.norm = {.kind = GetParam(), .epsilon = 0.3F}, .neuron = {.kind = "relu"}, .steps = 1}),
      Encoding::direct);
}

INSTANTIATE_TEST_SUITE_P(Oracle, EveryAnn, testing::ValuesIn(norm_names()),
                         [](const auto& test) { return name_of(test.param); });

}  // namespace
}  // namespace bntt
