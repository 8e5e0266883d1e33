#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>

#include "base/files.h"
#include "message.h"

namespace bntt {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::message_of;

class Files : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "bntt-files-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override { fs::remove_all(directory_); }

  std::size_t entries() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(directory_), fs::directory_iterator()));
  }

  fs::path directory_;
};

TEST_F(Files, AtomicWriteReplacesAndLeavesNoTemporary) {
  const fs::path path = directory_ / "a.txt";
  write_text_atomically(path, "first and long");
  write_text_atomically(path, "second");
  EXPECT_EQ(read_text(path), "second");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(Files, AtomicWriteJoinsItsParts) {
  const std::vector<uint8_t> a = {1, 2};
  const std::vector<uint8_t> b = {3};
  write_file_atomically(directory_ / "a", {a, {}, b});
  EXPECT_EQ(read_file(directory_ / "a", 3), (std::vector<uint8_t>{1, 2, 3}));
}

TEST_F(Files, FailedWriteKeepsTheOldFileAndRemovesTheTemporary) {
  const fs::path path = directory_ / "a";
  fs::create_directory(path);
  write_text_atomically(path / "inside", "x");
  EXPECT_THAT(message_of([&] { write_text_atomically(path, "new"); }), HasSubstr("a: cannot be"));
  EXPECT_EQ(read_text(path / "inside"), "x");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(Files, AFileThatCannotGrowIsAnErrorThatNamesIt) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit two_bytes{2, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &two_bytes), 0);
  const std::string message = message_of([&] { write_text_atomically(directory_ / "a", "new"); });
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_THAT(message, HasSubstr("a: cannot be written: File too large"));
  EXPECT_EQ(entries(), 0U);
}

// A second writer of the same file, between the first one's writing and renaming.
TEST_F(Files, TwoWritersDoNotShareATemporary) {
  const fs::path path = directory_ / "a";
  const std::string first = "first";
  write_file_atomically(path, {{reinterpret_cast<const uint8_t*>(first.data()), first.size()}},
                        [&] { write_text_atomically(path, "second"); });
  EXPECT_EQ(read_text(path), "first");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(Files, ReadingRefusesLargeMissingAndOdd) {
  write_text_atomically(directory_ / "a", "1234");
  EXPECT_THAT(message_of([&] { read_file(directory_ / "a", 3); }),
              HasSubstr("a: holds 4 bytes, expected at most 3"));
  EXPECT_THAT(message_of([&] { read_file(directory_ / "b", 3); }),
              HasSubstr("b: cannot be opened"));
  EXPECT_THAT(message_of([&] { read_file(directory_, 3); }), HasSubstr("is not a regular file"));
}

TEST_F(Files, LinkGivesASecondNameThatOutlivesTheFirst) {
  const fs::path now = directory_ / "now";
  const fs::path before = directory_ / "before";
  write_text_atomically(now, "1");
  replace_with_link(now, before);
  write_text_atomically(now, "2");
  EXPECT_EQ(read_text(before), "1");
  replace_with_link(now, before);
  replace_with_link(now, before);
  EXPECT_EQ(read_text(before), "2");
  EXPECT_EQ(entries(), 2U);
}

TEST_F(Files, LineLogCutsBackToWhatIsKept) {
  const fs::path path = directory_ / "metrics.jsonl";
  uint64_t kept = 0;
  {
    LineLog log(path, 0);
    log.append("one");
    kept = log.bytes();
    log.append("two");
    log.sync();
  }
  EXPECT_EQ(read_text(path), "one\ntwo\n");
  {
    LineLog log(path, kept);
    log.append("three");
    EXPECT_EQ(log.bytes(), read_text(path).size());
  }
  EXPECT_EQ(read_text(path), "one\nthree\n");
  EXPECT_THAT(message_of([&] { LineLog(path, 100); }),
              HasSubstr("holds 10 bytes, expected at least 100"));
}

}  // namespace
}  // namespace bntt
