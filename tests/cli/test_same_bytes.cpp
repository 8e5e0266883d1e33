#include "kernels/kernel_set.h"
#include "tiny_runs.h"

namespace bntt {
namespace {

using testing::TinyRuns;

class SameBytes : public TinyRuns {};

TEST_F(SameBytes, WhateverTheThreads) {
  train("one", {"--threads", "1"});
  train("two", {"--threads", "2"});
  train("three", {"--threads", "3"});
  expect_same_runs("one", "two");
  expect_same_runs("one", "three");
}

TEST_F(SameBytes, WhateverTheThreadsInEitherPrecision) {
  for (const std::string precision : {"fp32", "mixed"}) {
    train(precision + "-one", {"--threads", "1", "--precision", precision});
    train(precision + "-two", {"--threads", "2", "--precision", precision});
    expect_same_runs(precision + "-one", precision + "-two");
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

TEST_F(SameBytes, WhereverTheDataLie) {
  train("here");
  std::filesystem::rename(data(), root() / "elsewhere");
  succeed({"train", "--config", path("tiny.toml"), "--data", path("elsewhere"), "--out",
           path("there")});
  expect_same_runs("here", "there");
}

}  // namespace
}  // namespace bntt
