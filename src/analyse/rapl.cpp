#include "analyse/rapl.h"

#include <algorithm>
#include <fstream>

namespace bntt {
namespace {

namespace fs = std::filesystem;

std::optional<uint64_t> read_number(const fs::path& path) {
  std::ifstream file(path);
  uint64_t value = 0;
  return file >> value ? std::optional(value) : std::nullopt;
}

// "intel-rapl:0" is a package (AMD's too); "intel-rapl:0:1" is a part of it.
bool is_package(const std::string& name) {
  return name.starts_with("intel-rapl:") && std::ranges::count(name, ':') == 1;
}

}  // namespace

RaplMeter::RaplMeter(const fs::path& root) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(root, error)) {
    if (!is_package(entry.path().filename().string())) continue;
    const auto start = read_number(entry.path() / "energy_uj");
    const auto range = read_number(entry.path() / "max_energy_range_uj");
    if (start && range) packages_.push_back({entry.path() / "energy_uj", *start, *range});
  }
}

std::optional<double> RaplMeter::joules() const {
  if (packages_.empty()) return std::nullopt;
  double microjoules = 0.0;
  for (const Package& package : packages_) {
    const auto now = read_number(package.counter);
    if (!now) return std::nullopt;
    const uint64_t used =
        *now >= package.start ? *now - package.start : *now + package.range - package.start;
    microjoules += static_cast<double>(used);
  }
  return microjoules * 1e-6;
}

}  // namespace bntt
