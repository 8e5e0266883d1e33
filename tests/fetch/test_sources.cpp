#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fetch/sources.h"
#include "fixtures.h"

namespace bntt {
namespace {

using ::testing::Contains;
using testing::refusal;

TEST(Sources, EveryOfficialOneHasAPageChecksumsAndBounds) {
  for (const std::string& name : source_names()) {
    const DataSource& source = official_source(name);
    EXPECT_EQ(source.dataset, name);
    EXPECT_THAT(source.page, ::testing::StartsWith("http")) << name;
    EXPECT_FALSE(source.files.empty()) << name;
    for (const SourceFile& file : source.files) {
      EXPECT_TRUE(file.checksum().has_value()) << file.name;
      EXPECT_EQ(file.md5.size(), 32U) << file.name;
      EXPECT_TRUE(file.bytes > 0 || file.max_bytes > 0) << file.name;
      EXPECT_TRUE(!file.is_archive() || (file.max_entries > 0 && file.max_unpacked_bytes > 0))
          << file.name;
      EXPECT_TRUE(!file.url.empty() || !source.instructions.empty()) << file.name;
    }
  }
}

TEST(Sources, AreKnownForEveryPresetsDataSet) {
  for (const char* name :
       {"cifar10", "cifar100", "tiny-imagenet", "dvs-cifar10", "fashion-mnist", "mnist"}) {
    EXPECT_THAT(source_names(), Contains(name));
  }
  EXPECT_THAT(refusal([] { official_source("cifar11"); }),
              ::testing::MatchesRegex("no download source is known for 'cifar11', expected one of "
                                      "cifar10, .*, did you mean 'cifar10'\\?"));
}

TEST(Sources, AMirrorIsADirectoryOrTheFileItself) {
  const DataSource& one = official_source("cifar10");
  EXPECT_EQ(at_mirror(one, "http://here/data").files[0].url,
            "http://here/data/cifar-10-binary.tar.gz");
  EXPECT_EQ(at_mirror(one, "http://here/data/").files[0].url,
            "http://here/data/cifar-10-binary.tar.gz");
  EXPECT_EQ(at_mirror(one, "http://here/cifar-10-binary.tar.gz").files[0].url,
            "http://here/cifar-10-binary.tar.gz");
  EXPECT_EQ(at_mirror(official_source("mnist"), "http://here").files[3].url,
            "http://here/t10k-labels-idx1-ubyte.gz");
}

TEST(Sources, ReadsAPlaceOfTheUsersOwn) {
  const DataSource source = source_from_toml(R"(
page = "http://lab.example/"
[[file]]
name = "set.zip"
url = "http://lab.example/set.zip"
max_bytes = 1000
folder = "set"
max_entries = 5
max_unpacked_bytes = 2000
[[file]]
name = "labels.csv"
url = "http://lab.example/labels.csv"
bytes = 17
md5 = "00000000000000000000000000000000"
sha256 = "0000000000000000000000000000000000000000000000000000000000000001"
)",
                                             "own.toml", "mine");
  ASSERT_EQ(source.files.size(), 2U);
  EXPECT_EQ(source.dataset, "mine");
  EXPECT_FALSE(source.files[0].checksum());
  EXPECT_EQ(source.files[0].max_unpacked_bytes, 2000);
  EXPECT_EQ(source.files[1].checksum()->kind, DigestKind::sha256);
}

TEST(Sources, RefusesDescriptionsThatCouldLeadAstray) {
  const auto refused = [](const std::string& text) {
    return refusal([&] { source_from_toml(text, "own.toml", "mine"); });
  };
  const std::string name = "expected a name without '/' that begins with no dot";
  EXPECT_EQ(refused(""), "own.toml: names no [[file]], expected at least one");
  EXPECT_EQ(refused("[[file]]\nname = '../x'\nbytes = 1"),
            "own.toml: a file has the name '../x', " + name);
  EXPECT_EQ(refused("[[file]]\nname = '/x'\nbytes = 1"),
            "own.toml: a file has the name '/x', " + name);
  EXPECT_EQ(refused("[[file]]\nname = 'x'\nfolder = '..'\nbytes = 1"),
            "own.toml: x has the folder '..', " + name);
  EXPECT_EQ(refused("[[file]]\nname = 'x'"),
            "own.toml: x has neither bytes nor max_bytes, expected one of them");
  EXPECT_EQ(refused("[[file]]\nname = 'x'\nbytes = 1\nfolder = 'y'"),
            "own.toml: x is an archive without max_entries or max_unpacked_bytes, expected both");
  EXPECT_EQ(refused("[[file]]\nname = 'x'\nbytes = 1\nmd5 = 'ABC'"),
            "own.toml: x has the md5 'ABC', expected 32 digits 0-9, a-f");
  EXPECT_EQ(refused("[[file]]\nname = 'x'\nbytes = 1\n[[file]]\nname = 'x'\nbytes = 1"),
            "own.toml: names the file x twice");
  EXPECT_THAT(refused("[[file]]\nname = 'x'\nbyte = 1"), ::testing::HasSubstr("byte"));
}

}  // namespace
}  // namespace bntt
