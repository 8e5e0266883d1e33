#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "archives.h"
#include "directory_state.h"
#include "fetch/unpack.h"
#include "fixtures.h"

namespace bntt {
namespace {

using testing::ArchiveEntry;
using ::testing::ElementsAre;
using testing::EntryKind;
using ::testing::IsEmpty;
using testing::names_in;
using testing::refusal;
using ::testing::StartsWith;
using testing::tar_gz_archive;
using testing::text_of;
using testing::write_text;
using testing::zip_archive;

class Unpack : public ::testing::Test {
 protected:
  Unpack() {
    std::filesystem::create_directory(target());
    write_text(outside(), "outside");
  }
  std::filesystem::path archive() const { return directory_.path() / "archive"; }
  std::filesystem::path outside() const { return directory_.path() / "outside"; }
  std::filesystem::path target() const { return directory_.path() / "target"; }

  UnpackResult unpack_bytes(const std::string& bytes, UnpackLimits limits = {10, 10'000}) const {
    write_text(archive(), bytes);
    return unpack(archive(), target(), {.folder = "set", .limits = limits, .progress = {}});
  }
  /// The sentence after the archive's name; nothing may be left in the target directory, nothing
  /// changed outside.
  std::string refused(const std::string& bytes, UnpackLimits limits = {10, 10'000}) const {
    const std::string sentence = refusal([&] { unpack_bytes(bytes, limits); });
    EXPECT_THAT(names_in(target()), IsEmpty()) << sentence;
    EXPECT_THAT(names_in(directory_.path()), ElementsAre("archive", "outside", "target"));
    EXPECT_EQ(text_of(outside()), "outside");
    const std::string start = archive().string() + ": ";
    EXPECT_THAT(sentence, StartsWith(start));
    return sentence.substr(std::min(start.size(), sentence.size()));
  }

  const testing::TemporaryDirectory directory_;
};

std::vector<std::string> both(const std::vector<ArchiveEntry>& entries) {
  return {zip_archive(entries), tar_gz_archive(entries)};
}

TEST_F(Unpack, BringsFilesAndFoldersOfZipAndTarGz) {
  const std::string large = testing::noise(150'000);
  for (const std::string& bytes : both({{"set/", "", EntryKind::folder},
                                        {"set/a/b.txt", "b"},
                                        {"./set/large", large},
                                        {"set/empty", ""},
                                        {"notes.txt", "of no interest"}})) {
    const UnpackResult result = unpack_bytes(bytes, {5, 200'000});
    EXPECT_FALSE(result.stopped);
    EXPECT_EQ(result.files, 3U);
    EXPECT_THAT(names_in(target()),
                ElementsAre("set", "set/a", "set/a/b.txt", "set/empty", "set/large"));
    EXPECT_EQ(text_of(target() / "set/a/b.txt"), "b");
    EXPECT_EQ(text_of(target() / "set/large"), large);
    std::filesystem::remove_all(target() / "set");
  }
}

TEST_F(Unpack, RefusesPathsThatLeaveTheFolder) {
  for (const char* path : {"set/../../outside", "../outside", "set/a/../../../outside"}) {
    for (const std::string& bytes : both({{"set/a", "a"}, {path, "hostile"}})) {
      EXPECT_EQ(refused(bytes), "holds '" + std::string(path) +
                                    "', a path that leaves its folder, expected only files and "
                                    "folders inside 'set'");
    }
  }
}

TEST_F(Unpack, RefusesAbsolutePaths) {
  const std::string path = outside().string();
  for (const std::string& bytes : both({{"set/a", "a"}, {path, "hostile"}})) {
    EXPECT_THAT(refused(bytes), ::testing::HasSubstr("an absolute path, expected only files"));
  }
}

TEST_F(Unpack, RefusesLinksBeforeAnythingIsWrittenThroughThem) {
  for (const std::string& bytes :
       both({{"set/link", "../..", EntryKind::symbolic_link}, {"set/link/outside", "hostile"}})) {
    EXPECT_EQ(refused(bytes),
              "holds 'set/link', a link, expected only files and folders inside 'set'");
  }
  const std::vector<ArchiveEntry> to_a_file = {
      {"set/link", outside().string(), EntryKind::symbolic_link}, {"set/link", "hostile"}};
  for (const std::string& bytes : both(to_a_file)) {
    EXPECT_EQ(refused(bytes),
              "holds 'set/link', a link, expected only files and folders inside 'set'");
  }
  EXPECT_EQ(refused(tar_gz_archive({{"set/a", "a"}, {"set/b", "set/a", EntryKind::hard_link}})),
            "holds 'set/b', a link, expected only files and folders inside 'set'");
  EXPECT_EQ(refused(tar_gz_archive({{"link", "/", EntryKind::symbolic_link}})),
            "holds 'link', a link, expected only files and folders inside 'set'");
}

TEST_F(Unpack, RefusesDevicesPipesAndFilesThatComeTwice) {
  EXPECT_EQ(refused(tar_gz_archive({{"set/pipe", "", EntryKind::pipe}})),
            "holds 'set/pipe', neither file nor folder, expected only files and folders inside "
            "'set'");
  for (const std::string& bytes : both({{"set/a", "first"}, {"set/./a", "second"}})) {
    EXPECT_EQ(refused(bytes),
              "holds 'set/./a', a path that occurs twice, expected only files and folders inside "
              "'set'");
  }
  for (const std::string& bytes : both({{"set/a", "first"}, {"set/a/b", "below a file"}})) {
    EXPECT_EQ(refused(bytes), "'set/a/b' cannot be written: Not a directory");
  }
}

TEST_F(Unpack, BoundsWhatABombUnpacksTo) {
  const std::string zeros(10'000'000, '\0');
  for (const std::string& bytes : both({{"set/bomb", zeros}})) {
    EXPECT_LT(bytes.size(), 100'000U);
    EXPECT_EQ(refused(bytes), "unpacks to more than the 10000 bytes that are accepted");
  }
  // Also where its files would be left out.
  for (const std::string& bytes : both({{"set/a", "a"}, {"bomb", zeros}})) {
    EXPECT_EQ(refused(bytes), "unpacks to more than the 10000 bytes that are accepted");
  }
}

TEST_F(Unpack, BoundsEntriesAndDepth) {
  std::vector<ArchiveEntry> many;
  for (int i = 0; i < 11; ++i) many.push_back({"set/" + std::to_string(i), "x"});
  for (const std::string& bytes : both(many)) {
    EXPECT_EQ(refused(bytes), "holds more than the 10 entries that are accepted");
    EXPECT_EQ(unpack_bytes(bytes, {11, 11}).files, 11U);
    std::filesystem::remove_all(target() / "set");
  }
  std::string deep = "set";
  for (int i = 0; i < 16; ++i) deep += "/d";
  for (const std::string& bytes : both({{deep, "x"}})) {
    EXPECT_THAT(refused(bytes), ::testing::HasSubstr("a path with too many folders"));
  }
}

TEST_F(Unpack, RefusesAnArchiveCutAnywhere) {
  for (const std::string& bytes :
       both({{"set/a", testing::noise(3000)}, {"set/b", testing::noise(3000)}})) {
    for (std::size_t size = 0; size < bytes.size() - 1; size += 97) {
      EXPECT_THAT(refused(bytes.substr(0, size)),
                  ::testing::AnyOf(StartsWith("cannot be unpacked: "), "holds no folder 'set'"))
          << size;
    }
  }
}

TEST_F(Unpack, RefusesOtherFormatsAndOtherFolders) {
  EXPECT_THAT(refused("no archive at all"), StartsWith("cannot be unpacked: "));
  for (const std::string& bytes : both({{"other/a", "a"}})) {
    EXPECT_EQ(refused(bytes), "holds no folder 'set'");
  }
  for (const std::string& bytes : both({{"set", "a file"}})) {
    EXPECT_EQ(refused(bytes), "holds no folder 'set'");
  }
}

TEST_F(Unpack, StopsWhenAskedAndLeavesNothing) {
  write_text(archive(), tar_gz_archive({{"set/a", "a"}, {"set/b", "b"}}));
  const UnpackResult result =
      unpack(archive(), target(),
             {.folder = "set", .limits = {10, 10'000}, .progress = [](uint64_t, uint64_t) {
                return true;
              }});
  EXPECT_TRUE(result.stopped);
  EXPECT_THAT(names_in(target()), IsEmpty());
}

TEST_F(Unpack, ReplacesNothingAndSweepsUpAfterAKilledProgram) {
  const std::string bytes = zip_archive({{"set/a", "new"}});
  std::filesystem::create_directory(target() / "set");
  EXPECT_EQ(refusal([&] { unpack_bytes(bytes); }),
            (target() / "set").string() + ": already exists, but archive unpacks to that name");
  std::filesystem::remove(target() / "set");
  std::filesystem::create_directories(target() / ".unpacking" / "set");
  write_text(target() / ".unpacking" / "set" / "half", "half");
  std::filesystem::create_directory_symlink(directory_.path(), target() / ".unpacking" / "link");
  unpack_bytes(bytes);
  EXPECT_THAT(names_in(target()), ElementsAre("set", "set/a"));
  EXPECT_EQ(text_of(outside()), "outside");
}

}  // namespace
}  // namespace bntt
