#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/idx.h"
#include "fixtures.h"

namespace bntt {
namespace {

using testing::Bytes;
using ::testing::ElementsAre;
using testing::gzip;
using ::testing::HasSubstr;
using testing::idx_file;
using testing::refusal;
using testing::TemporaryDirectory;

const Bytes kValues = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

std::string refused(const Bytes& bytes, int rank = 3) {
  return refusal([&] { parse_idx(bytes, rank, "set: file"); });
}

TEST(Idx, PlainAndGzipGiveTheSameArray) {
  const Bytes plain = idx_file({2, 2, 3}, kValues);
  for (const Bytes& bytes : {plain, gzip(plain)}) {
    const IdxArray array = parse_idx(bytes, 3, "file");
    EXPECT_THAT(array.extents, ElementsAre(2, 2, 3));
    EXPECT_EQ(array.values, kValues);
  }
}

TEST(Idx, GzipLargerThanOneInflatedPiece) {
  Bytes values(300 * 1000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<uint8_t>(i * i >> 3);
  const IdxArray array = parse_idx(gzip(idx_file({300, 1000}, values)), 2, "file");
  EXPECT_EQ(array.values, values);
}

TEST(Idx, RefusesAShortHeader) {
  EXPECT_EQ(refused({}), "set: file holds 0 bytes, expected at least the 16 of an IDX header");
  const Bytes header = idx_file({2, 2}, {});
  EXPECT_EQ(refused(header), "set: file holds 12 bytes, expected at least the 16 of an IDX header");
  EXPECT_EQ(refused(gzip(header)),
            "set: file holds 12 bytes, expected at least the 16 of an IDX header");
}

TEST(Idx, RefusesAnotherMagicNumber) {
  EXPECT_EQ(refused(idx_file({12}, kValues)),
            "set: file starts with the magic number 0x00000801, expected 0x00000803");
  Bytes floats = idx_file({2, 2, 3}, kValues);
  floats[2] = 0x0d;
  EXPECT_EQ(refused(floats),
            "set: file starts with the magic number 0x00000d03, expected 0x00000803");
}

TEST(Idx, RefusesTooFewAndTooManyBytes) {
  EXPECT_EQ(refused(idx_file({2, 2, 4}, kValues)), "set: file holds 28 bytes, expected 32");
  EXPECT_EQ(refused(idx_file({2, 2, 2}, kValues)), "set: file holds 28 bytes, expected 24");
  EXPECT_EQ(refused(gzip(idx_file({2, 2, 4}, kValues))),
            "set: file inflates to 28 bytes, expected 32");
  EXPECT_EQ(refused(gzip(idx_file({2, 2, 2}, kValues))),
            "set: file inflates to more than the expected 24 bytes");
}

TEST(Idx, RefusesAbsurdSizesWithoutAllocatingThem) {
  EXPECT_EQ(refused(idx_file({0, 2, 3}, {})),
            "set: file announces 0 along axis 1, expected at least 1");
  const char* too_much = "set: file announces more than the 1073741824 bytes that are accepted";
  EXPECT_EQ(refused(idx_file({0xffffffff, 0xffffffff, 0xffffffff}, kValues)), too_much);
  EXPECT_EQ(refused(idx_file({0x10000, 0x10000, 0x10000}, kValues)), too_much);
  // 1 GiB announced, 12 bytes there.
  EXPECT_EQ(refused(gzip(idx_file({1024, 1024, 1024}, kValues))),
            "set: file inflates to 28 bytes, expected 1073741840");
}

TEST(Idx, RefusesDamagedGzip) {
  const Bytes packed = gzip(idx_file({2, 2, 3}, kValues));
  for (std::size_t size = 2; size < packed.size(); ++size) {
    EXPECT_THAT(refused({packed.begin(), packed.begin() + static_cast<int64_t>(size)}),
                HasSubstr("set: file is a truncated gzip file: it stops after "))
        << size;
  }
  Bytes wrong_sum = packed;
  wrong_sum[packed.size() - 8] ^= 1;
  EXPECT_EQ(refused(wrong_sum),
            "set: file is a damaged gzip file after 28 inflated bytes: incorrect data check");
  Bytes longer = packed;
  longer.push_back(0);
  EXPECT_EQ(refused(longer),
            "set: file holds 1 bytes after the end of its gzip stream, expected none");
}

TEST(Idx, ReadsThePlainFileOrItsCompressedForm) {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "labels";
  EXPECT_EQ(refusal([&] { read_idx(path, 1, "set"); }),
            "set: neither " + path.string() + " nor labels.gz exists");
  directory.write("labels.gz", gzip(idx_file({2}, {1, 2})));
  EXPECT_THAT(read_idx(path, 1, "set").values, ElementsAre(1, 2));
  directory.write("labels", idx_file({2}, {3, 4}));
  EXPECT_THAT(read_idx(path, 1, "set").values, ElementsAre(3, 4));
  directory.write("labels", idx_file({3}, {3, 4}));
  EXPECT_EQ(refusal([&] { read_idx(path, 1, "set"); }),
            "set: " + path.string() + " holds 10 bytes, expected 11");
}

}  // namespace
}  // namespace bntt
