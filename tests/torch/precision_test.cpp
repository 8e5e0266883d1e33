#include <gtest/gtest.h>

#include "cases.h"
#include "imposed_run.h"

namespace bntt {
namespace {

// The oracle computes in fp64. Currents that are kept as bf16 are rounded by up to 2⁻⁹ of
// themselves; dense products of bf16 add about a hundredth of the result, once in every stage that
// a gradient passes through.
constexpr Tolerances kMixed{.forward = 0.01, .threshold = 0.05, .gradient = 0.05};
constexpr Tolerances kBf16{.forward = 0.03, .threshold = 0.2, .gradient = 0.15};

void expect_agreement(Precision precision, const Tolerances& tolerances) {
  constexpr int64_t kBatch = 3;
  for (const Encoding encoding : {Encoding::signed_spikes, Encoding::real_frames}) {
    for (const float break_even : {100.0F, -1.0F}) {
      SCOPED_TRACE(name_of(encoding) + (break_even > 0.0F ? ", walked" : ", dense"));
      const NetworkSpec spec = small_network({});
      Network network(spec, /*seed=*/5);
      set_break_even(network, break_even);
      make_unremarkable(network, encoding, kBatch);
      network.set_precision(precision);
      ImposedRun(network, random_input(spec, encoding, kBatch, /*seed=*/11), NormMode::batch,
                 nullptr, tolerances)
          .expect_all_agrees();
    }
  }
}

TEST(Precision, MixedAgreesWithOracleWithinItsTolerance) {
  expect_agreement(Precision::mixed, kMixed);
}

TEST(Precision, Bf16AgreesWithOracleWithinItsTolerance) {
  expect_agreement(Precision::bf16, kBf16);
}

}  // namespace
}  // namespace bntt
