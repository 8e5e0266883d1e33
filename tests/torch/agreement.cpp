#include "agreement.h"

#include <gtest/gtest.h>

#include "imposed_run.h"

namespace bntt {

void expect_agreement(const NetworkSpec& spec, Encoding encoding, NormMode mode) {
  constexpr int64_t kBatch = 3;
  for (const float break_even : {100.0F, -1.0F}) {
    SCOPED_TRACE(break_even > 0.0F ? "walked" : "dense");
    Network network(spec, /*seed=*/5);
    set_break_even(network, break_even);
    make_unremarkable(network, encoding, kBatch);
    ImposedRun(network, random_input(spec, encoding, kBatch, /*seed=*/11), mode)
        .expect_all_agrees();
  }
}

void expect_agreement_in_both_modes(const NetworkSpec& spec, Encoding encoding) {
  for (const NormMode mode : {NormMode::batch, NormMode::running}) {
    SCOPED_TRACE(name_of(mode));
    expect_agreement(spec, encoding, mode);
  }
}

}  // namespace bntt
