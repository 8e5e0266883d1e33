#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstring>
#include <filesystem>

#include "base/files.h"
#include "base/safetensors.h"
#include "message.h"

namespace bntt {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::message_of;
using Bytes = std::vector<uint8_t>;

TensorFile example() {
  TensorFile file;
  file.metadata = {{"step", "12"}, {"a", "\"quoted\" \xC3\xBC"}};
  file.tensors.push_back(
      float_tensor("conv1.weight", {2, 3}, std::vector<float>{1, -2, 0.5F, 4, 5, 6}));
  file.tensors.push_back(integer_tensor("position", {}, std::vector<int64_t>{-7}));
  file.tensors.push_back(float_tensor("a.empty", {0, 4}, {}));
  return file;
}

Bytes file_of(const std::string& header, std::size_t data_bytes) {
  Bytes bytes(8 + header.size() + data_bytes);
  const uint64_t length = header.size();
  std::memcpy(bytes.data(), &length, 8);
  std::memcpy(bytes.data() + 8, header.data(), header.size());
  return bytes;
}

std::string complaint(const Bytes& bytes, const TensorReadOptions& options = {}) {
  return message_of([&] { parse_tensors(bytes, "x.safetensors", options); });
}

std::string one_tensor(const std::string& dtype, const std::string& shape,
                       const std::string& offsets) {
  return R"({"w":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets +
         "}}";
}

TEST(Safetensors, RoundTrips) {
  for (const bool checksum : {false, true}) {
    const TensorFile file = parse_tensors(format_tensors(example(), {.checksum = checksum}), "x");
    EXPECT_EQ(file.metadata, example().metadata);
    ASSERT_EQ(file.tensors.size(), 3U);
    EXPECT_THAT(file.find("conv1.weight")->floats(), ElementsAre(1, -2, 0.5F, 4, 5, 6));
    EXPECT_THAT(file.find("conv1.weight")->shape, ElementsAre(2, 3));
    EXPECT_THAT(file.find("position")->integers(), ElementsAre(-7));
    EXPECT_TRUE(file.find("position")->shape.empty());
    EXPECT_TRUE(file.find("a.empty")->floats().empty());
    EXPECT_EQ(file.find("b"), nullptr);
    EXPECT_EQ(format_tensors(file), format_tensors(example()));
  }
}

TEST(Safetensors, HasTheLayoutOfTheFormat) {
  TensorFile file;
  file.tensors.push_back(float_tensor("w", {1}, std::vector<float>{1.0F}));
  const Bytes bytes = format_tensors(file, {.checksum = false});
  const std::string header = R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  const std::size_t padded = (header.size() + 7) / 8 * 8;
  ASSERT_EQ(bytes.size(), 8 + padded + 4);
  EXPECT_EQ(bytes[0], padded);
  const std::string text(bytes.begin() + 8, bytes.end() - 4);
  EXPECT_EQ(text, header + std::string(padded - header.size(), ' '));
  EXPECT_EQ(Bytes(bytes.end() - 4, bytes.end()), (Bytes{0, 0, 0x80, 0x3F}));
}

TEST(Safetensors, WrittenFileIsTheFormattedBytes) {
  std::string name = (std::filesystem::temp_directory_path() / "bntt-tensors-XXXXXX").string();
  ASSERT_NE(mkdtemp(name.data()), nullptr);
  const std::filesystem::path path = std::filesystem::path(name) / "a.safetensors";
  write_tensors(path, example());
  EXPECT_EQ(read_file(path, 1 << 20), format_tensors(example()));
  EXPECT_EQ(read_tensors(path, {.require_checksum = true}).tensors.size(), 3U);
  std::filesystem::remove_all(name);
}

TEST(Safetensors, ReadsWhatOthersWrite) {
  const std::string header =
      R"({ "b":{"shape":[2],"dtype":"BF16","data_offsets":[4,8]},)"
      R"("a":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]},"__metadata__":{"format":"pt"}})";
  const TensorFile file = parse_tensors(file_of(header, 8), "x");
  EXPECT_EQ(file.tensors[0].name, "a");
  EXPECT_EQ(file.tensors[1].type, TensorType::bf16);
  EXPECT_EQ(file.metadata.at("format"), "pt");
  EXPECT_EQ(message_of([&] { file.tensors[1].floats(); }),
            "tensor 'b' holds BF16 values, expected F32");
  EXPECT_NO_THROW(parse_tensors(file_of("{}", 0), "x"));
}

TEST(Safetensors, AForeignFileIsNotTakenForACheckpoint) {
  EXPECT_EQ(complaint(format_tensors(example(), {.checksum = false}), {.require_checksum = true}),
            "x.safetensors: has no checksum: not a checkpoint of bntt");
}

TEST(Safetensors, EveryFlippedBitIsNoticed) {
  const Bytes good = format_tensors(example());
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      Bytes bad = good;
      bad[i] = static_cast<uint8_t>(bad[i] ^ (1 << bit));
      // Another kind of space between the header and the data changes nothing.
      if (good[i] == ' ' && std::strchr("\t\n\r", bad[i]) != nullptr && bad[i] != 0) continue;
      EXPECT_NE(complaint(bad, {.require_checksum = true}), "") << "byte " << i << ", bit " << bit;
    }
  }
}

TEST(Safetensors, DamagedDataAreCalledDamaged) {
  Bytes bytes = format_tensors(example());
  bytes.back() ^= 1;
  EXPECT_THAT(complaint(bytes), ::testing::MatchesRegex("x.safetensors: damaged: checksum is "
                                                        "[0-9a-f]+, expected [0-9a-f]+"));
}

TEST(Safetensors, EveryCutIsNoticed) {
  const Bytes good = format_tensors(example());
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_NE(complaint(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size))), "");
  }
  Bytes longer = good;
  longer.push_back(0);
  EXPECT_THAT(complaint(longer), HasSubstr("bytes of data, but its tensors have"));
}

TEST(Safetensors, HostileHeadersAreRefused) {
  Bytes endless = file_of("{}", 0);
  std::fill_n(endless.begin(), 8, 0xFF);
  EXPECT_THAT(complaint(endless), HasSubstr("a header of 18446744073709551615 bytes"));
  EXPECT_THAT(complaint(file_of("[]", 0)), HasSubstr("header is not an object"));
  EXPECT_THAT(complaint(file_of("{\"w\":", 0)), HasSubstr("is not JSON"));
  EXPECT_THAT(complaint(file_of(std::string(1 << 20, '['), 0)), HasSubstr("nested deeper"));
  EXPECT_THAT(complaint(file_of(R"({"w":1})", 0)), HasSubstr("expected exactly dtype"));
  EXPECT_THAT(complaint(file_of(R"({"__metadata__":{"a":1}})", 0)), HasSubstr("is not a string"));
  EXPECT_THAT(complaint(file_of(R"({"__metadata__":[]})", 0)), HasSubstr("is not an object"));
  EXPECT_THAT(complaint(file_of(R"({"__metadata__":{},"__metadata__":{}})", 0)),
              HasSubstr("occurs twice"));
}

TEST(Safetensors, HostileTensorsAreRefused) {
  const auto says = [](const std::string& header, std::size_t bytes, const char* part) {
    EXPECT_THAT(complaint(file_of(header, bytes)), HasSubstr(part)) << header;
  };
  says(one_tensor("F31", "[1]", "[0,4]"), 4, "tensor 'w': unknown dtype the string \"F31\"");
  says(one_tensor("F32", "[2]", "[0,4]"), 4, "do not fit");
  says(one_tensor("F32", "[1]", "[0,8]"), 4, "was cut short: holds ");
  says(one_tensor("F32", "[1]", "[4,0]"), 4, "data_offsets");
  says(one_tensor("F32", "[1]", "[0]"), 4, "data_offsets");
  says(one_tensor("F32", "[-1]", "[0,4]"), 4, "shape holds -1");
  says(one_tensor("F32", "[1.0]", "[0,4]"), 4, "shape holds 1.0");
  says(one_tensor("F32", "[18446744073709551615]", "[0,4]"), 4, "shape holds");
  says(one_tensor("F32", "[4611686018427387904,4]", "[0,0]"), 0, "do not fit");
  says(one_tensor("F32", "[4294967296,4294967296]", "[0,0]"), 0, "do not fit");
  says(one_tensor("F32", "\"1\"", "[0,4]"), 4, "shape is not a list");
  says(one_tensor("F32", "[1]", "[4,8]"), 8, "data begin at 4, expected 0");
  says(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
       R"("b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})",
       12, "tensor 'b': data begin at 4, expected 8");
  says(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
       R"("a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
       8, "the key 'a' occurs twice");
  says(one_tensor("F32", "[1]", "[0,4]"), 8, "holds 8 bytes of data, but its tensors have 4");
}

}  // namespace
}  // namespace bntt
