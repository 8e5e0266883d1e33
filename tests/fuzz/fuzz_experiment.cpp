#include <cstddef>
#include <cstdint>
#include <string>

#include "bntt/error.h"
#include "experiment/plan.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const bntt::Experiment experiment = bntt::experiment_from_toml(text, "fuzz");
    for (const bntt::RunEntry& run : experiment.runs) {
      if (!run.config.empty()) return 0;  // names a file of this machine
    }
    bntt::plan_runs({experiment}, {.scale = bntt::Scale::tiny});
  } catch (const bntt::Error&) {
  }
  return 0;
}
