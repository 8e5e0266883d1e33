#include <gtest/gtest.h>

#include "analyse/rapl.h"
#include "fixtures.h"

namespace bntt {
namespace {

using testing::TemporaryDirectory;

void write_counter(const TemporaryDirectory& root, const std::string& domain, uint64_t energy) {
  std::filesystem::create_directories(root.path() / domain);
  std::ofstream(root.path() / domain / "energy_uj") << energy << "\n";
  std::ofstream(root.path() / domain / "max_energy_range_uj") << 10000000 << "\n";
}

TEST(Rapl, AddsPackagesAndKnowsThatCountersBeginAgain) {
  const TemporaryDirectory root;
  write_counter(root, "intel-rapl:0", 1000000);
  write_counter(root, "intel-rapl:0:0", 500000);
  write_counter(root, "intel-rapl:1", 9500000);
  const RaplMeter meter(root.path());
  write_counter(root, "intel-rapl:0", 3000000);
  write_counter(root, "intel-rapl:0:0", 1500000);
  write_counter(root, "intel-rapl:1", 500000);
  ASSERT_TRUE(meter.joules().has_value());
  EXPECT_DOUBLE_EQ(*meter.joules(), 3.0);
}

TEST(Rapl, IsAbsentWithoutReadableCounters) {
  const TemporaryDirectory root;
  EXPECT_FALSE(RaplMeter(root.path()).joules().has_value());
  EXPECT_FALSE(RaplMeter(root.path() / "nowhere").joules().has_value());
}

}  // namespace
}  // namespace bntt
