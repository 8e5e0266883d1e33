#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iterator>

#include "base/threads.h"
#include "data/loader.h"
#include "data/sample_cache.h"
#include "fixtures.h"

namespace bntt {
namespace {

using ::testing::AllOf;
using testing::Bytes;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using testing::refusal;
using ::testing::StartsWith;
using testing::TemporaryDirectory;
namespace fs = std::filesystem;

/// Files whose one byte is repeated to make a sample; counts how often it had to decode.
class SampleCache : public ::testing::Test {
 protected:
  static constexpr int64_t kSampleBytes = 700416;  // 171 pages

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
    expect_samples(set);
    return decoded_;
  }
  void expect_samples(const ImageSet& set) const {
    std::vector<uint8_t> scratch;
    for (int64_t i = 0; i < set.size(); ++i) {
      const auto value = static_cast<uint8_t>(i == 0 ? first_value_ : 10 * i);
      const std::span<const uint8_t> bytes = set.sample(i, scratch);
      EXPECT_EQ(std::ranges::count(bytes, value), kSampleBytes) << i;
    }
  }
  static void damage(const fs::path& file, int64_t place) {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(place);
    const int byte = stream.get();
    stream.seekp(place);
    stream.put(static_cast<char>(byte ^ 0x10));
  }
  /// Shards of about this many samples, which are never mapped.
  void store_in_shards(int64_t samples) {
    options_.cache.shard_bytes = static_cast<uint64_t>(samples * kSampleBytes);
    options_.cache.mapped_bytes = 0;
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> result;
    for (const auto& entry : fs::directory_iterator(options_.cache.directory)) {
      if (entry.path().extension() != ".bnttcache-lock") result.push_back(entry.path());
    }
    std::ranges::sort(result);
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
    damage(file, place);
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
  EXPECT_EQ(refusal([&] { read(); }), "file 2 is damaged");
  EXPECT_TRUE(files().empty());
}

TEST_F(SampleCache, KeepsTheShardsThatWereFinishedBeforeAFailure) {
  store_in_shards(1);
  const DecodeFile decode = split_.decode;
  split_.decode = [&](const fs::path& file, std::span<const FileSample> samples,
                      std::span<uint8_t* const> out) {
    if (file.filename() == "2") throw Error("file 2 is damaged");
    decode(file, samples, out);
  };
  EXPECT_EQ(refusal([&] { read(); }), "file 2 is damaged");
  EXPECT_EQ(files().size(), 2U);
  split_.decode = decode;
  EXPECT_EQ(read(), 2);
  EXPECT_EQ(read(), 0);
  EXPECT_EQ(files().size(), 4U);
}

TEST_F(SampleCache, APrefixNeedsOnlyItsShards) {
  store_in_shards(2);
  EXPECT_EQ(read(1), 1);  // less than a shard: held in memory
  EXPECT_EQ(read(2), 2);
  EXPECT_EQ(read(1), 0);
  EXPECT_EQ(files().size(), 1U);
  EXPECT_EQ(read(3), 2);
  EXPECT_EQ(read(), 0);
}

TEST_F(SampleCache, OnlyADamagedShardIsMadeAgain) {
  store_in_shards(1);
  read();
  std::vector<std::string> notices;
  options_.notice = [&](const std::string& sentence) { notices.push_back(sentence); };
  const std::string second = files().at(1).string();
  const auto size = fs::file_size(second);
  fs::resize_file(second, size - 1);
  EXPECT_EQ(read(), 1);
  EXPECT_EQ(notices.back(), fmt::format("{}: holds {} bytes, expected {}", second, size - 1, size));
  damage(second, 50);
  EXPECT_EQ(read(), 1);
  EXPECT_THAT(notices.back(), StartsWith(second + ": its head has the CRC-32 "));
  damage(second, 7);
  EXPECT_EQ(read(), 1);
  EXPECT_EQ(notices.back(), second + ": begins with other bytes than bnttdat2");
  fs::copy_file(files().at(0), second, fs::copy_options::overwrite_existing);
  EXPECT_EQ(read(), 1);
  EXPECT_EQ(notices.back(), second +
                                ": holds 1 samples of 700416 bytes from sample 0 on, expected "
                                "1 of 700416 from 1 on");
  split_.settings = "other";
  EXPECT_EQ(read(), 4);
  const std::string other = files().at(1).string() == second ? files().at(5) : files().at(1);
  fs::copy_file(second, other, fs::copy_options::overwrite_existing);
  EXPECT_EQ(read(), 1);
  EXPECT_THAT(notices.back(), StartsWith(other + ": was made from other files or settings: its "));
  EXPECT_EQ(notices.size(), 5U);
  EXPECT_EQ(read(), 0);
}

TEST_F(SampleCache, AShardThatChangesWhileItIsInUseIsRefused) {
  store_in_shards(2);
  const ImageSet set = read_samples(split_, 0, options_);
  const std::string second = files().at(1).string();
  damage(second, static_cast<int64_t>(fs::file_size(second)) - 1);
  std::vector<uint8_t> scratch;
  EXPECT_EQ(std::ranges::count(set.sample(2, scratch), 20), kSampleBytes);
  EXPECT_THAT(refusal([&] { set.sample(3, scratch); }),
              AllOf(StartsWith(second + ": sample 1 has the CRC-32 "), HasSubstr(", expected "),
                    EndsWith("; remove this file, and its samples will be decoded again")));
  fs::resize_file(second, 5000);
  EXPECT_EQ(refusal([&] { set.sample(2, scratch); }),
            fmt::format("{}: holds 5000 bytes, expected at least {}; remove this file, and its "
                        "samples will be decoded again",
                        second, 4096 + kSampleBytes));
  TrainLoader loader(set, {0, 4}, {.batch = 4, .augmentation = {.pad = 0}});
  EXPECT_THAT(refusal([&] { loader.next(); }), StartsWith(second + ": holds 5000 bytes"));
}

TEST_F(SampleCache, ShardsAreRemovedTogether) {
  store_in_shards(1);
  options_.cache.limit_bytes = 3'000'000;  // room for one set
  read();
  const std::vector<fs::path> first = files();
  EXPECT_EQ(first.size(), 4U);
  split_.settings = "second";
  read();
  EXPECT_EQ(files().size(), 4U);
  for (const fs::path& file : files()) EXPECT_EQ(std::ranges::count(first, file), 0);
}

TEST_F(SampleCache, AFileOfEarlierVersionsIsNeitherReadNorKept) {
  read();
  const fs::path shard = files().front();
  const fs::path single = shard.parent_path() / (shard.stem().stem().string() + ".bnttcache");
  fs::rename(shard, single);
  EXPECT_EQ(read(), 4);
  EXPECT_THAT(files(), ElementsAre(shard));
}

TEST_F(SampleCache, ProcessesThatStartTogetherDecodeOnce) {
  store_in_shards(2);
  for (int i = 0; i < 4; ++i) {
    if (::fork() == 0) {
      set_threads(1);  // OpenMP's other threads did not come along
      const DecodeFile decode = split_.decode;
      split_.decode = [&](const fs::path& file, std::span<const FileSample> samples,
                          std::span<uint8_t* const> out) {
        decode(file, samples, out);
        std::ofstream(source_.path() / "log", std::ios::app) << file.filename() << "\n";
      };
      const ImageSet set = read_samples(split_, 0, options_);
      std::vector<uint8_t> scratch;
      ::_exit(set.sample(3, scratch)[5] == 30 ? 0 : 1);
    }
  }
  for (int i = 0; i < 4; ++i) {
    int status = 1;
    ::wait(&status);
    EXPECT_EQ(status, 0);
  }
  std::ifstream log(source_.path() / "log");
  EXPECT_EQ(std::count(std::istreambuf_iterator<char>(log), {}, '\n'), 4);
}

TEST_F(SampleCache, ShardsCanBeMappedAsOneRange) {
  store_in_shards(1);
  const ImageSet set = read_samples(split_, 0, options_);
  const auto mapped = set.stored->mapped();
  ASSERT_TRUE(mapped);
  ASSERT_EQ(mapped->size(), 4 * kSampleBytes);
  for (std::size_t i = 0; i < mapped->size(); i += 1000) {
    ASSERT_EQ((*mapped)[i], i / kSampleBytes * 10);
  }
}

TEST_F(SampleCache, WhatFitsNowhereIsRefused) {
  split_.form.frames = int64_t{1} << 28;  // 188 TB a sample
  EXPECT_THAT(refusal([&] { read_samples(split_, 0, options_); }),
              AllOf(StartsWith("set-train: "), HasSubstr(" bytes of memory are available and "),
                    EndsWith("has no room for them or cannot be written")));
  options_.cache.directory.clear();
  EXPECT_THAT(refusal([&] { read_samples(split_, 0, options_); }),
              EndsWith("there is no cache to store them in"));
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
  split_.settings = "larger than the limit";
  EXPECT_EQ(read(), 4);
  EXPECT_EQ(read(), 0);
  EXPECT_EQ(files().size(), 1U);
}

TEST_F(SampleCache, DoesWithoutAPlaceToWrite) {
  cache_.write("file", {});
  options_.cache.directory = cache_.path() / "file";
  EXPECT_EQ(read(), 4);
}

}  // namespace
}  // namespace bntt
