#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>

#include "data/sample_cache.h"
#include "fixtures.h"

namespace bntt {
namespace {

using testing::Bytes;
using testing::TemporaryDirectory;
namespace fs = std::filesystem;

/// Files whose one byte is repeated to make a sample; counts how often it had to decode.
class SampleCache : public ::testing::Test {
 protected:
  static constexpr int64_t kSampleBytes = 700000;  // several chunks in all

  SampleCache() {
    for (int i = 0; i < 4; ++i) {
      source_.write(std::to_string(i), Bytes{static_cast<uint8_t>(10 * i)});
    }
    split_.form.shape = {1, 1, kSampleBytes};
    split_.form.classes = 1;
    split_.name = "set-train";
    split_.settings = "plain";
    for (int i = 0; i < 4; ++i) add_files({{source_.path() / std::to_string(i), 0}}, split_);
    split_.decode = [this](const fs::path& file, std::span<const FileSample>,
                           std::span<uint8_t* const> out) {
      std::ifstream stream(file, std::ios::binary);
      const auto value = static_cast<uint8_t>(stream.get());
      for (uint8_t* pixels : out) std::fill_n(pixels, kSampleBytes, value);
      ++decoded_;
    };
    options_.cache.directory = cache_.path() / "inner";
  }

  /// How many files had to be decoded.
  int read(int64_t limit = 0) {
    decoded_ = 0;
    const ImageSet set = read_samples(split_, limit, options_);
    for (int64_t i = 0; i < set.size(); ++i) {
      EXPECT_EQ(set.image(i)[0], i == 0 ? first_value_ : 10 * i);
      EXPECT_EQ(set.image(i)[kSampleBytes - 1], set.image(i)[0]);
    }
    return decoded_;
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> result;
    for (const auto& entry : fs::directory_iterator(options_.cache.directory)) {
      result.push_back(entry.path());
    }
    return result;
  }

  TemporaryDirectory source_;
  TemporaryDirectory cache_;
  FileSplit split_;
  DatasetOptions options_;
  std::atomic<int> decoded_ = 0;
  uint8_t first_value_ = 0;
};

TEST_F(SampleCache, DecodesOnce) {
  EXPECT_EQ(read(), 4);
  EXPECT_EQ(read(), 0);
  EXPECT_EQ(read(3), 0);
  EXPECT_EQ(files().size(), 1U);
  options_.cache.directory.clear();
  EXPECT_EQ(read(), 4);
}

TEST_F(SampleCache, APrefixAloneIsNotKept) {
  EXPECT_EQ(read(2), 2);
  EXPECT_EQ(read(2), 2);
}

TEST_F(SampleCache, IsStaleWhenFilesOrSettingsChange) {
  read();
  source_.write("0", Bytes{77});
  fs::last_write_time(source_.path() / "0",
                      fs::file_time_type::clock::now() + std::chrono::seconds(5));
  first_value_ = 77;
  EXPECT_EQ(read(), 4);
  split_.settings = "other";
  EXPECT_EQ(read(), 4);
  EXPECT_EQ(read(), 0);
}

TEST_F(SampleCache, DamageIsNoticedEverywhereAndMended) {
  read();
  const fs::path file = files().front();
  const auto size = static_cast<int64_t>(fs::file_size(file));
  for (const int64_t place : {int64_t{0}, int64_t{9}, int64_t{17}, int64_t{25}, int64_t{33},
                              int64_t{4096}, size / 2, size - 1}) {
    {
      std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
      stream.seekg(place);
      const int byte = stream.get();
      stream.seekp(place);
      stream.put(static_cast<char>(byte ^ 0x10));
    }
    EXPECT_EQ(read(), 4) << place;
    EXPECT_EQ(read(), 0) << place;
  }
  for (const int64_t cut : {int64_t{0}, int64_t{31}, int64_t{4096}, size - 1, size + 1}) {
    fs::resize_file(file, static_cast<uintmax_t>(cut));
    EXPECT_EQ(read(), 4) << cut;
  }
  EXPECT_EQ(files().size(), 1U);
}

TEST_F(SampleCache, NothingIsLeftOfAFailedBuild) {
  const DecodeFile decode = split_.decode;
  split_.decode = [&](const fs::path& file, std::span<const FileSample> samples,
                      std::span<uint8_t* const> out) {
    if (file.filename() == "2") throw Error("file 2 is damaged");
    decode(file, samples, out);
  };
  EXPECT_EQ(testing::refusal([&] { read(); }), "file 2 is damaged");
  EXPECT_TRUE(files().empty());
}

TEST_F(SampleCache, StaysWithinItsLimit) {
  options_.cache.limit_bytes = 6'000'000;  // room for two
  read();
  split_.settings = "second";
  read();
  split_.settings = "third";
  read();
  EXPECT_EQ(files().size(), 2U);
  EXPECT_EQ(read(), 0);
  split_.settings = "plain";
  EXPECT_EQ(read(), 4);
  options_.cache.limit_bytes = 1000;
  split_.settings = "too large";
  EXPECT_EQ(read(), 4);
  EXPECT_EQ(read(), 4);
}

TEST_F(SampleCache, DoesWithoutAPlaceToWrite) {
  cache_.write("file", {});
  options_.cache.directory = cache_.path() / "file";
  EXPECT_EQ(read(), 4);
}

}  // namespace
}  // namespace bntt
