#include "model/break_even_values.h"

#include <cstdlib>

#include "base/fail.h"

namespace bntt {

std::vector<BreakEven> break_even_from(const std::vector<double>& values, std::size_t synapses) {
  if (values.size() != 2 && values.size() != 2 * synapses) {
    fail(
        "train.break_even has {} values, expected none, 2 or {}: forward and weight gradient for "
        "each synapse, or once for all",
        values.size(), 2 * synapses);
  }
  std::vector<BreakEven> result;
  for (std::size_t i = 0; i < synapses; ++i) {
    const std::size_t at = values.size() == 2 ? 0 : 2 * i;
    result.push_back({static_cast<float>(values[at]), static_cast<float>(values[at + 1])});
  }
  return result;
}

std::vector<double> break_even_values(const std::vector<BreakEven>& synapses) {
  std::vector<double> values;
  for (const BreakEven& synapse : synapses) {
    // The shortest decimal that reads back as the same float, not the float's own digits.
    for (const float value : {synapse.forward, synapse.weight_gradient}) {
      values.push_back(std::strtod(fmt::format("{}", value).c_str(), nullptr));
    }
  }
  return values;
}

}  // namespace bntt
