#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/class_folders.h"
#include "fixtures.h"

namespace bntt {
namespace {

using ::testing::ElementsAre;
using testing::refusal;
using testing::TemporaryDirectory;
using Paths = FilePaths;

// Worked out by an independent program: these numbers fix the published splits.
TEST(ClassFolders, TheHashOfANameNeverChanges) {
  EXPECT_EQ(name_hash(""), 0xf52a15e9a9b5e89bU);
  EXPECT_EQ(name_hash("cifar10_airplane_0.aedat"), 0x8334afd5162d473fU);
  EXPECT_EQ(name_hash("n01698640_0.JPEG"), 0xa7e20a90c151bfc8U);
}

TEST(ClassFolders, FilesAreOrderedByTheHashOfTheirNames) {
  const TemporaryDirectory directory;
  for (const char* name : {"a.PNG", "b.png", "c.jpeg", "d.txt", ".hidden.png"}) {
    directory.write(name, {});
  }
  std::vector<std::pair<uint64_t, std::string>> expected;
  for (const std::string name : {"a.PNG", "b.png", "c.jpeg"}) {
    expected.emplace_back(name_hash(name), name);
  }
  std::sort(expected.begin(), expected.end());
  const Paths files = hashed_files(directory.path(), {".png", ".jpeg"}, "set");
  ASSERT_EQ(files.size(), 3U);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(files[i], (directory.path() / expected[i].second).string());
  }
  EXPECT_EQ(refusal([&] { hashed_files(directory.path(), {".bin"}, "set"); }),
            "set: " + directory.path().string() + " holds no file, expected some that end in .bin");
}

TEST(ClassFolders, EveryPrefixHoldsTheClassesInProportion) {
  std::vector<Paths> files(3);
  for (int i = 0; i < 40; ++i) files[0].push_back(std::to_string(i));
  for (int i = 0; i < 20; ++i) files[1].push_back(std::to_string(i));
  for (int i = 0; i < 20; ++i) files[2].push_back(std::to_string(i));
  const std::vector<LabelledFile> order = interleaved(files);
  ASSERT_EQ(order.size(), 80U);
  std::vector<int> counts(3);
  for (std::size_t i = 0; i < order.size(); ++i) {
    EXPECT_EQ(order[i].path, std::to_string(counts[order[i].label]));
    ++counts[order[i].label];
    EXPECT_NEAR(counts[0], 0.5 * static_cast<double>(i + 1), 1.01);
    EXPECT_NEAR(counts[1], 0.25 * static_cast<double>(i + 1), 1.01);
  }
}

TEST(ClassFolders, ATenthOfEachClassIsForTesting) {
  const auto numbered = [](int count) {
    Paths paths;
    for (int i = 0; i < count; ++i) paths.push_back(std::to_string(i));
    return paths;
  };
  const FolderSplit split = split_tenth({numbered(30), numbered(11), numbered(2), numbered(1)});
  EXPECT_EQ(split.test[0], (Paths{"0", "1", "2"}));
  EXPECT_EQ(split.train[0].size(), 27U);
  EXPECT_EQ(split.test[1], (Paths{"0", "1"}));
  EXPECT_EQ(split.test[2], (Paths{"0"}));
  EXPECT_EQ(split.train[2], (Paths{"1"}));
  EXPECT_TRUE(split.test[3].empty());
  EXPECT_EQ(split.train[3], (Paths{"0"}));
}

}  // namespace
}  // namespace bntt
