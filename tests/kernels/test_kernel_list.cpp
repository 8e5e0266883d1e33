#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "kernels/kernel_set.h"

namespace bntt::kernels {
namespace {

#if defined(__x86_64__)
// What the kernel says of the machine, so that the code under test is not its own witness.
bool machine_has(const std::string& feature) {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    if (!line.starts_with("flags")) continue;
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      if (word == feature) return true;
    }
    return false;
  }
  return false;
}
#endif

bool listed(const std::string& name) {
  return std::ranges::any_of(kernel_sets(), [&](const KernelSet& set) { return set.name == name; });
}

TEST(KernelList, EndsInTheReference) {
  ASSERT_FALSE(kernel_sets().empty());
  EXPECT_EQ(kernel_sets().back().name, "reference");
  EXPECT_EQ(kernel_sets().back().spiking_step, reference_kernels().spiking_step);
}

#if defined(__x86_64__)
TEST(KernelList, HoldsWhatTheMachineCanRun) {
  if (machine_has("avx2") && machine_has("fma") && machine_has("bmi2")) {
    EXPECT_TRUE(listed("avx2"));
  }
  if (machine_has("avx512bw") && machine_has("avx512dq") && machine_has("avx512vl")) {
    EXPECT_TRUE(listed("avx512"));
    EXPECT_EQ(kernel_sets().front().name, "avx512");
  }
}
#elif defined(__aarch64__)
TEST(KernelList, HoldsWhatTheMachineCanRun) {
  EXPECT_TRUE(listed("neon"));
  EXPECT_EQ(kernel_sets().front().vector_floats, 4) << "neon comes first";
}
#endif

TEST(KernelList, EverySetIsCompleteAndItsOwn) {
  for (const KernelSet& set : kernel_sets()) {
    EXPECT_NE(set.spiking_step, nullptr) << set.name;
    EXPECT_NE(set.spiking_backward, nullptr) << set.name;
    EXPECT_NE(set.lee_backward, nullptr) << set.name;
    EXPECT_NE(set.norm_backward, nullptr) << set.name;
    EXPECT_NE(set.channel_moments, nullptr) << set.name;
    EXPECT_NE(set.add_spikes, nullptr) << set.name;
    EXPECT_NE(set.list_columns, nullptr) << set.name;
    EXPECT_NE(set.spike_conv_row, nullptr) << set.name;
    EXPECT_NE(set.pattern_conv_row, nullptr) << set.name;
    EXPECT_NE(set.spike_conv_weight_gradient, nullptr) << set.name;
    const auto same_code = [&](const KernelSet& other) {
      return other.spiking_step == set.spiking_step;
    };
    EXPECT_EQ(std::ranges::count_if(kernel_sets(), same_code), 1) << set.name;
  }
}

}  // namespace
}  // namespace bntt::kernels
