#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace bntt {

/// Energy of the whole processor between two points in time, from the kernel's RAPL counters.
class RaplMeter {
 public:
  explicit RaplMeter(const std::filesystem::path& root = "/sys/class/powercap");

  /// Since construction, over all packages; absent if the counters cannot be read.
  std::optional<double> joules() const;

 private:
  struct Package {
    std::filesystem::path counter;
    uint64_t start = 0;  // microjoules
    uint64_t range = 0;  // the counter wraps after this value
  };
  std::vector<Package> packages_;
};

}  // namespace bntt
