#include <gtest/gtest.h>

#include "agreement.h"
#include "networks.h"

namespace bntt {
namespace {

class EveryBranchedNetwork : public testing::TestWithParam<NamedNetwork> {};

TEST_P(EveryBranchedNetwork, AgreesWithOracle) {
  for (const Encoding encoding : GetParam().encodings) {
    SCOPED_TRACE(name_of(encoding));
    expect_agreement_in_both_modes(GetParam().spec, encoding);
  }
}

INSTANTIATE_TEST_SUITE_P(Oracle, EveryBranchedNetwork, testing::ValuesIn(networks_with_branches()),
                         [](const auto& test) { return test.param.name; });

INSTANTIATE_TEST_SUITE_P(Zoo, EveryBranchedNetwork, testing::ValuesIn(zoo_residual_networks()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace bntt
