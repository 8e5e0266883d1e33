#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "bench/compare.h"
#include "bench/worker_process.h"
#include "small_workload.h"

namespace bntt::bench {
namespace {

TEST(Timing, BestAndMedian) {
  const Timing odd{.seconds = {4.0, 1.0, 2.0}, .images = 8};
  EXPECT_DOUBLE_EQ(odd.best_rate(), 8.0);
  EXPECT_DOUBLE_EQ(odd.median_rate(), 4.0);
  const Timing even{.seconds = {4.0, 1.0, 2.0, 2.0}, .images = 8};
  EXPECT_DOUBLE_EQ(even.median_rate(), 4.0);
  const Timing busy{.processor_seconds = {4.0, 2.0, 6.0}, .images = 8};
  EXPECT_DOUBLE_EQ(busy.processor_seconds_per_image(), 0.25);
}

TEST(Job, RoundTrip) {
  const Job job{.kind = Kind::infer,
                .batch = 3,
                .threads = 2,
                .network = "a",
                .images = "b",
                .torch = {Layout::channels_last, Precision::mixed, Form::looped},
                .rule = Rule::windows,
                .share = 0.25};
  const Job back = job_from_json(to_json(job));
  EXPECT_EQ(to_json(back), to_json(job));
  EXPECT_EQ(back.torch, job.torch);
  EXPECT_EQ(back.rule, job.rule);
  EXPECT_EQ(back.share, job.share);
}

TEST(Job, UnitsOfInferenceHoldSeveralImages) {
  EXPECT_EQ(images_per_unit(Kind::train, 1), 1);
  EXPECT_EQ(images_per_unit(Kind::infer, 1), 16);
  EXPECT_EQ(images_per_unit(Kind::infer, 5), 15);
  EXPECT_EQ(images_per_unit(Kind::infer, 64), 64);
}

TEST(Workload, WorkersGetTheSameNumbers) {
  const Workload workload = testing::small_workload();
  const SharedFile network(pack_network(workload));
  const SharedFile images(pack_images(workload));
  const auto path = [](const SharedFile& file) {
    return "/proc/self/fd/" + std::to_string(file.descriptor());
  };
  const Workload back = unpack_workload(path(network), path(images));
  EXPECT_EQ(back.network.spec(), workload.network.spec());
  EXPECT_TRUE(std::ranges::equal(back.images.images, workload.images.images));
  EXPECT_EQ(back.images.labels, workload.images.labels);
  EXPECT_EQ(back.encoder.kind, workload.encoder.kind);
  for (std::size_t i = 0; i < workload.network.parameters().size(); ++i) {
    EXPECT_TRUE(std::ranges::equal(back.network.parameters()[i].value,
                                   workload.network.parameters()[i].value));
  }
}

TEST(WorkerProcess, AWorkerThatEndsIsAnError) {
  const Workload workload = testing::small_workload();
  const SharedFile network(pack_network(workload));
  const SharedFile images(pack_images(workload));
  WorkerProcess silent({.program = "/bin/true", .network = &network, .images = &images});
  EXPECT_THROW(silent.ready(60.0), Error);
}

TEST(WorkerProcess, AWorkerThatSaysNothingIsGivenUp) {
  const Workload workload = testing::small_workload();
  const SharedFile network(pack_network(workload));
  const SharedFile images(pack_images(workload));
  // cat answers only what it is told.
  WorkerProcess silent({.program = "/bin/cat", .network = &network, .images = &images});
  EXPECT_FALSE(silent.ready(0.05));
}

TEST(Compare, LibTorchThatCannotMultiplyBf16StillHasItsOtherNumbers) {
  if (!has_native_bf16()) GTEST_SKIP() << "this CPU has no bf16 arithmetic";
  const std::filesystem::path worker =
      std::filesystem::path(::testing::TempDir()) / "worker-without-bf16";
  std::ofstream(worker) << R"(#!/bin/sh
case "$*" in *'"mixed"'*) kill -ILL $$ ;; esac
echo '{"ready": true}'
while read line; do echo '{"seconds": 0.5, "processor_seconds": 0.75}'; done
echo '{"density": 0.25, "stages": [], "peak_memory_bytes": 1000}'
)";
  std::filesystem::permissions(worker, std::filesystem::perms::owner_all);
  const Report report = compare({.workload = {.model = "vgg5", .steps = 2, .width = 0.05},
                                 .batches = {2},
                                 .densities = {0.25},
                                 .own_program = worker,
                                 .torch_program = worker});
  const Result& result = report.results.front();
  ASSERT_TRUE(result.torch_fp32.has_value());
  EXPECT_DOUBLE_EQ(result.torch_fp32->best_rate(), 4.0);
  EXPECT_DOUBLE_EQ(result.torch_fp32->processor_seconds_per_image(), 0.375);
  EXPECT_FALSE(result.torch_bf16.has_value());
  EXPECT_THAT(result.no_bf16, ::testing::HasSubstr("ended before its work was done"));
}

}  // namespace
}  // namespace bntt::bench
