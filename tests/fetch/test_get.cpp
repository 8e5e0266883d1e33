#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "archives.h"
#include "directory_state.h"
#include "fetch/get.h"
#include "fixtures.h"
#include "loopback_server.h"

namespace bntt {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::LoopbackServer;
using testing::names_in;
using testing::refusal;
using testing::serve_files;
using testing::text_of;
using testing::write_text;

std::string sha256_of(const std::string& text) {
  return checksum_of(DigestKind::sha256,
                     {reinterpret_cast<const uint8_t*>(text.data()), text.size()})
      .hex;
}

class Get : public ::testing::Test {
 protected:
  /// Two class archives, as DVS-CIFAR10 has them, and a plain file.
  DataSource source(const std::string& place) const {
    const auto archive = [&](const std::string& name, const std::string& bytes,
                             const std::string& folder) {
      return SourceFile{.name = name,
                        .url = place + "/" + name,
                        .bytes = static_cast<int64_t>(bytes.size()),
                        .sha256 = sha256_of(bytes),
                        .folder = folder,
                        .max_entries = 10,
                        .max_unpacked_bytes = 1000};
    };
    return {.dataset = "set",
            .page = "http://page",
            .files = {archive("cat.zip", cat_, "cat"),
                      archive("dog.tar.gz", dog_, "dog"),
                      {.name = "labels", .url = place + "/labels", .max_bytes = 100}}};
  }
  std::map<std::string, std::string> files() const {
    return {{"/cat.zip", cat_}, {"/dog.tar.gz", dog_}, {"/labels", "labels"}};
  }
  std::filesystem::path target() const { return directory_.path() / "new" / "target"; }
  std::vector<std::string> names() const { return names_in(target()); }

  const testing::TemporaryDirectory directory_;
  const std::string cat_ = testing::zip_archive({{"cat/1", "one"}, {"cat/2", "two"}});
  const std::string dog_ = testing::tar_gz_archive({{"dog/1", "one"}});
  const GetOptions quick_{.download = {.attempts = 1, .pause = std::chrono::milliseconds(0)}};
};

TEST_F(Get, FetchesUnpacksAndTidiesUp) {
  const LoopbackServer server(serve_files(files()));
  const GetResult result = get_dataset(source(server.url()), target(), quick_);
  EXPECT_FALSE(result.stopped);
  ASSERT_EQ(result.files.size(), 3U);
  EXPECT_EQ(result.files[0].name, "cat");
  EXPECT_EQ(result.files[0].unpacked_files, 2U);
  EXPECT_EQ(result.files[0].bytes, cat_.size());
  EXPECT_FALSE(result.files[0].recorded);
  EXPECT_EQ(result.files[2].recorded->hex, sha256_of("labels"));
  EXPECT_THAT(names(),
              ElementsAre(kRecordedChecksums, "cat", "cat/1", "cat/2", "dog", "dog/1", "labels"));
  EXPECT_EQ(text_of(target() / "dog" / "1"), "one");

  const GetResult again = get_dataset(source(server.url()), target(), quick_);
  EXPECT_EQ(server.requests().size(), 3U);
  for (const GotFile& file : again.files) EXPECT_TRUE(file.already_there) << file.name;
}

TEST_F(Get, KeepsArchivesOnDemandAndThoseOfTheUser) {
  const LoopbackServer server(serve_files(files()));
  GetOptions keeping = quick_;
  keeping.keep_archives = true;
  get_dataset(source(server.url()), target(), keeping);
  EXPECT_EQ(text_of(target() / "cat.zip"), cat_);
  std::filesystem::remove_all(target() / "cat");
  const GetResult again = get_dataset(source(server.url()), target(), quick_);
  EXPECT_EQ(server.requests().size(), 3U);
  EXPECT_FALSE(again.files[0].already_there);
  EXPECT_EQ(again.files[0].bytes, 0U);
  EXPECT_EQ(text_of(target() / "cat.zip"), cat_);
  EXPECT_EQ(text_of(target() / "cat" / "2"), "two");
}

TEST_F(Get, AnArchiveOfTheUsersThatIsAnotherFileIsRefusedAndKept) {
  const LoopbackServer server(serve_files(files()));
  std::filesystem::create_directories(target());
  write_text(target() / "cat.zip", "another");
  EXPECT_EQ(refusal([&] { get_dataset(source(server.url()), target(), quick_); }),
            (target() / "cat.zip").string() + ": has the sha256 " + sha256_of("another") +
                ", expected " + sha256_of(cat_) + "; remove it to download it again");
  EXPECT_THAT(names(), ElementsAre("cat.zip"));
}

TEST_F(Get, TheFirstDownloadsChecksumBindsTheNext) {
  get_dataset(source(LoopbackServer(serve_files(files())).url()), directory_.path() / "unused",
              {.progress = [](const GetProgress&) { return true; }});
  {
    const LoopbackServer server(serve_files(files()));
    get_dataset(source(server.url()), target(), quick_);
  }
  std::filesystem::remove(target() / "labels");
  std::map<std::string, std::string> changed = files();
  changed["/labels"] = "forged";
  const LoopbackServer server(serve_files(changed));
  EXPECT_EQ(refusal([&] { get_dataset(source(server.url()), target(), quick_); }),
            server.url("/labels") + ": the downloaded file has the sha256 " + sha256_of("forged") +
                ", expected " + sha256_of("labels") + ", and was removed");
  EXPECT_FALSE(std::filesystem::exists(target() / "labels"));
}

TEST_F(Get, AFailureLeavesNoDirectoryBehind) {
  const LoopbackServer server(serve_files({}));
  EXPECT_EQ(refusal([&] { get_dataset(source(server.url()), target(), quick_); }),
            server.url("/cat.zip") + ": the server answered with status 404, expected 200");
  EXPECT_FALSE(std::filesystem::exists(target()));
}

TEST_F(Get, AHostileArchiveLeavesOnlyWhatWasVerified) {
  const std::string hostile = testing::zip_archive({{"cat/../../evil", "x"}});
  DataSource evil = source("");
  evil.files.resize(1);
  evil.files[0].bytes = static_cast<int64_t>(hostile.size());
  evil.files[0].sha256 = sha256_of(hostile);
  const LoopbackServer server(serve_files({{"/cat.zip", hostile}}));
  EXPECT_EQ(refusal([&] { get_dataset(at_mirror(evil, server.url()), target(), quick_); }),
            (target() / "cat.zip").string() +
                ": holds 'cat/../../evil', a path that leaves its folder, expected only files and "
                "folders inside 'cat'");
  EXPECT_THAT(names_in(directory_.path()), ElementsAre("new", "new/target", "new/target/cat.zip"));
}

TEST_F(Get, StoppedAnywhereItGoesOnTheNextTime) {
  const LoopbackServer server(serve_files(files()));
  int calls = 0;
  int stops = 0;
  for (int stop_at = 1; stop_at < 1000; ++stop_at) {
    calls = 0;
    GetOptions options = quick_;
    options.progress = [&](const GetProgress&) { return ++calls == stop_at; };
    const GetResult result = get_dataset(source(server.url()), target(), options);
    if (!result.stopped) break;
    ++stops;
    if (!std::filesystem::exists(target())) continue;
    for (const std::string& name : names()) EXPECT_NE(name.substr(0, 5), ".unpa");
    if (std::filesystem::exists(target() / "cat")) {
      EXPECT_EQ(text_of(target() / "cat" / "2"), "two");
    }
  }
  EXPECT_GT(stops, 3);
  EXPECT_EQ(text_of(target() / "cat" / "2"), "two");
  EXPECT_EQ(text_of(target() / "dog" / "1"), "one");
  EXPECT_EQ(text_of(target() / "labels"), "labels");
}

TEST_F(Get, SaysHowToComeByWhatNoProgramMayFetch) {
  EXPECT_THAT(refusal([&] { get_dataset(official_source("dvs-gesture"), target(), quick_); }),
              ::testing::MatchesRegex("dvs-gesture: DvsGesture.tar.gz is not in .* and cannot be "
                                      "downloaded automatically: IBM .* run this command again.*"));
  EXPECT_FALSE(std::filesystem::exists(target()));
}

TEST_F(Get, OnlyOneProgramAtATime) {
  const LoopbackServer server(serve_files(files()));
  GetOptions options = quick_;
  std::string second;
  options.progress = [&](const GetProgress&) {
    if (second.empty()) {
      second = refusal([&] { get_dataset(source(server.url()), target(), quick_); });
    }
    return false;
  };
  get_dataset(source(server.url()), target(), options);
  EXPECT_EQ(second, target().string() + ": another bntt data get is already using this directory");
}

}  // namespace
}  // namespace bntt
