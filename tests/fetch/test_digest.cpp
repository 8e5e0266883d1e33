#include <gtest/gtest.h>

#include "directory_state.h"
#include "fetch/digest.h"
#include "fixtures.h"

namespace bntt {
namespace {

using testing::refusal;
using testing::TemporaryDirectory;
using testing::write_text;

std::span<const uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// The examples of RFC 1321 and FIPS 180-4.
TEST(Digest, OfPublishedExamples) {
  EXPECT_EQ(checksum_of(DigestKind::md5, {}).hex, "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(checksum_of(DigestKind::md5, bytes_of("abc")).hex, "900150983cd24fb0d6963f7d28e17f72");
  EXPECT_EQ(checksum_of(DigestKind::sha256, bytes_of("abc")).hex,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Digest, OfAFileIsThatOfItsBytesHoweverTheyArrive) {
  const TemporaryDirectory directory;
  const std::string text = testing::noise(3'000'001);
  write_text(directory.path() / "file", text);
  const Checksum whole = checksum_of(DigestKind::sha256, bytes_of(text));
  EXPECT_EQ(file_checksum(DigestKind::sha256, directory.path() / "file"), whole);
  Digest digest(DigestKind::sha256);
  digest.add(bytes_of(text).first(17));
  digest.add(bytes_of(text).subspan(17));
  EXPECT_EQ(digest.finish(), whole);
}

TEST(Digest, StopsWhenAskedAndNamesAMissingFile) {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "file";
  EXPECT_EQ(refusal([&] { file_checksum(DigestKind::md5, path); }),
            path.string() + ": cannot be opened");
  write_text(path, "abc");
  EXPECT_FALSE(file_checksum(DigestKind::md5, path, [](uint64_t, uint64_t) { return true; }));
}

}  // namespace
}  // namespace bntt
