#include <fmt/ranges.h>

#include "kernels/kernel_set.h"
#include "tiny_runs.h"
#include "train/config.h"

namespace bntt {
namespace {

using testing::bytes_of;
using testing::TinyRuns;

class SameBytes : public TinyRuns {};

TEST_F(SameBytes, WhateverTheThreads) {
  train("one", {"--threads", "1"});
  train("two", {"--threads", "2"});
  train("three", {"--threads", "3"});
  expect_same_runs("one", "two");
  expect_same_runs("one", "three");
}

TEST_F(SameBytes, WhateverTheThreadsInEveryPrecision) {
  for (const std::string precision : {"fp32", "mixed", "bf16"}) {
    train(precision + "-one", {"--threads", "1", "--precision", precision});
    train(precision + "-two", {"--threads", "2", "--precision", precision});
    expect_same_runs(precision + "-one", precision + "-two");
  }
}

TEST_F(SameBytes, OfLearnedWindowsWhateverTheThreadsAndKernels) {
  const std::vector<std::string> windows = {"--set", "train.window_work=0.6"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), windows.begin(), windows.end());
    return more;
  };
  train("one", with({"--threads", "1"}));
  train("two", with({"--threads", "2"}));
  expect_same_runs("one", "two");
  for (const kernels::KernelSet& set : kernels::kernel_sets()) {
    train(set.name, windows, {.environment = {"BNTT_KERNELS=" + set.name}});
    expect_same_runs("one", set.name);
  }
}

TEST_F(SameBytes, WhateverTheKernels) {
  for (const kernels::KernelSet& set : kernels::kernel_sets()) {
    train(set.name, {}, {.environment = {"BNTT_KERNELS=" + set.name}});
  }
  for (const kernels::KernelSet& set : kernels::kernel_sets()) {
    expect_same_runs("reference", set.name);
  }
}

// Wide enough for Winograd's algorithm, which takes every convolution here.
TEST_F(SameBytes, OfBf16WhetherTheProcessorMultipliesItOrNot) {
  for (const kernels::KernelSet& set : kernels::kernel_sets()) {
    const std::string told = train(set.name,
                                   {"--precision", "bf16", "--set", "model.width=0.125", "--set",
                                    "train.break_even=[0.0, 0.0]"},
                                   {.environment = {"BNTT_KERNELS=" + set.name}});
    EXPECT_EQ(told.find("has no bf16 multiplication") == std::string::npos, set.bf16.native)
        << told;
    expect_same_runs(kernels::kernel_sets().front().name, set.name);
  }
}

// Wide enough that the density decides between walking and Winograd, which differ in their last
// bits.
TEST_F(SameBytes, WhateverTheCache) {
  for (const std::string run : {"one", "two"}) {
    const std::string told = train(run, {"--set", "model.width=0.25"},
                                   {.environment = {"XDG_CACHE_HOME=" + path("cache-" + run)}});
    EXPECT_THAT(told, ::testing::HasSubstr("conv2 0."));
    EXPECT_FALSE(std::filesystem::exists(root() / ("cache-" + run) / "bntt" / "break-even.json"))
        << "nothing is timed unless asked for";
  }
  expect_same_runs("one", "two");
  EXPECT_EQ(bytes_of(root() / "one" / "run.toml"), bytes_of(root() / "two" / "run.toml"));
}

TEST_F(SameBytes, TimedBreakEvensAreKeptWithTheRun) {
  const testing::ProcessOptions timing{.environment = {"XDG_CACHE_HOME=" + path("cache")}};
  train("timed", {"--set", "model.width=0.25", "--set", "train.break_even=timed"}, timing);
  EXPECT_TRUE(std::filesystem::exists(root() / "cache" / "bntt" / "break-even.json"));
  const RunConfig begun =
      config_from_toml(bytes_of(root() / "timed" / "run.toml"), path("timed/run.toml"));
  const auto values = std::get<std::vector<double>>(begun.train.break_even);
  EXPECT_EQ(values.size(), 2U * 5U);

  // What run.toml says is enough to get the same bytes where nothing was timed.
  train("again",
        {"--set", "model.width=0.25", "--set",
         fmt::format("train.break_even=[{}]", fmt::join(values, ", "))},
        {.environment = {"XDG_CACHE_HOME=" + path("another-cache")}});
  expect_same_runs("timed", "again");
}

TEST_F(SameBytes, WhereverTheDataLie) {
  train("here");
  std::filesystem::rename(data(), root() / "elsewhere");
  succeed({"train", "--config", path("tiny.toml"), "--data", path("elsewhere"), "--out",
           path("there")});
  expect_same_runs("here", "there");
}

}  // namespace
}  // namespace bntt
