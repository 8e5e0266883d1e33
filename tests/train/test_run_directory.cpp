#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include <fstream>
#include <optional>

#include "base/descriptor.h"
#include "base/files.h"
#include "fixtures.h"
#include "small_networks.h"
#include "train/run_lock.h"
#include "train/run_settings.h"

namespace bntt {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::refusal;
using testing::small_vgg5;
using testing::TemporaryDirectory;

class RunDirectory : public ::testing::Test {
 protected:
  RunPaths paths() const { return {directory_.path() / "run"}; }
  void make(const std::string& name) const {
    fs::create_directories(paths().directory);
    std::ofstream(paths().directory / name) << "x";
  }

  TemporaryDirectory directory_;
};

TEST_F(RunDirectory, LockedBelongsToOne) {
  fs::create_directory(paths().directory);
  std::optional<RunLock> lock(paths().directory);
  EXPECT_TRUE(lock->held());
  EXPECT_THAT(refusal([&] { RunLock(paths().directory); }), HasSubstr("is working on this run"));
  EXPECT_TRUE(fs::exists(paths().lock())) << "whoever is refused leaves the owner's file";
  RunLock moved = std::move(*lock);
  lock.reset();
  EXPECT_TRUE(fs::exists(paths().lock()));
  moved = RunLock();
  EXPECT_TRUE(RunLock(paths().directory).held());
  EXPECT_FALSE(fs::exists(paths().lock()));
}

TEST_F(RunDirectory, ALockWhoseOwnerWasKilledIsFree) {
  make("run.lock");
  EXPECT_TRUE(RunLock(paths().directory).held());
}

TEST_F(RunDirectory, AnOwnerWithoutANumberIsAnotherProcess) {
  make("run.lock");
  const Descriptor other(open(paths().lock().c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(flock(other.get(), LOCK_EX), 0);
  EXPECT_THAT(refusal([&] { RunLock(paths().directory); }), HasSubstr(": another process is"));
}

TEST_F(RunDirectory, WhatAKilledOwnerLeftHalfWrittenGoes) {
  for (const char* name :
       {"checkpoint.safetensors.12-3.tmp", "run.toml.12-4.tmp", "notes.tmp", "metrics.jsonl"}) {
    make(name);
  }
  const RunLock lock(paths().directory);
  EXPECT_FALSE(fs::exists(paths().directory / "checkpoint.safetensors.12-3.tmp"));
  EXPECT_FALSE(fs::exists(paths().directory / "run.toml.12-4.tmp"));
  EXPECT_TRUE(fs::exists(paths().directory / "notes.tmp"));
  EXPECT_TRUE(fs::exists(paths().metrics()));
}

TEST_F(RunDirectory, HasRoomWhereNothingOrLittleIs) {
  expect_room_for_run(paths(), false);
  fs::create_directory(paths().directory);
  expect_room_for_run(paths(), false);
  for (const char* name : {".gitignore", "train.log", "output.txt", "run.lock"}) make(name);
  expect_room_for_run(paths(), false);
}

TEST_F(RunDirectory, HasNoRoomAmongFilesOfOthers) {
  make("thesis.tex");
  for (const bool resume : {false, true}) {
    EXPECT_EQ(refusal([&] { begin_run_directory(paths(), {}, resume); }),
              paths().directory.string() +
                  ": holds 'thesis.tex', which does not belong to a run; expected a new or empty "
                  "directory");
  }
  EXPECT_FALSE(fs::exists(paths().settings()));
}

TEST_F(RunDirectory, OfARunMayHoldMore) {
  begin_run_directory(paths(), {}, false);
  make("notes.md");
  expect_room_for_run(paths(), true);
  EXPECT_THAT(refusal([&] { expect_room_for_run(paths(), false); }),
              HasSubstr("already holds a run"));
}

TEST_F(RunDirectory, IsNotAFile) {
  std::ofstream(paths().directory) << "x";
  EXPECT_THAT(refusal([&] { expect_room_for_run(paths(), false); }),
              HasSubstr("is a file, expected a directory"));
}

// Analyses take the network of the checkpoint and report the settings of run.toml.
TEST_F(RunDirectory, WhoseSettingsDescribeAnotherNetworkIsRefused) {
  RunConfig config;
  config.model = {.name = "vgg5", .steps = 3, .width = 0.05};
  const NetworkSpec trained = small_vgg5().spec();
  expect_network_of(paths(), config, trained);
  config.model.steps = 4;
  EXPECT_EQ(
      refusal([&] { expect_network_of(paths(), config, trained); }),
      paths().settings().string() +
          ": describes a different network from the one that was trained: steps is 4, expected "
          "3");
}

}  // namespace
}  // namespace bntt
