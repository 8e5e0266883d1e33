// Data sets larger than memory: sparse files of 4 GiB, of which little is on disk, and a bound of
// 256 MB on the memory of the whole process. The samples that are read exceed the bound.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "data/idx.h"
#include "data/loader.h"
#include "data/sample_cache.h"
#include "fixtures.h"

namespace bntt {
namespace {

namespace fs = std::filesystem;
using testing::Bytes;
using testing::idx_file;
using testing::TemporaryDirectory;

constexpr uint64_t kFourGib = uint64_t{1} << 32;
constexpr int64_t kBound = 256'000'000;
constexpr int64_t kMarkEvery = 64;  // samples; the others are holes in their files

/// RssAnon + RssFile of this process: the memory that it fills, with that of mapped files.
int64_t resident_bytes() {
  std::ifstream status("/proc/self/status");
  int64_t bytes = 0;
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssAnon:") || line.starts_with("RssFile:")) {
      bytes += std::stoll(line.substr(8)) * 1024;
    }
  }
  return bytes;
}

/// Beginning at `offset`, pieces of bytes in a file that otherwise consists of holes.
class SparseFile {
 public:
  SparseFile(const fs::path& path, uint64_t size)
      : file_(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {
    if (file_.get() < 0 || ::ftruncate(file_.get(), static_cast<off_t>(size)) != 0) {
      throw std::runtime_error("cannot create " + path.string());
    }
  }
  void write(uint64_t offset, std::span<const uint8_t> bytes) const {
    const ssize_t written =
        ::pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written != std::ssize(bytes)) throw std::runtime_error("cannot write a sparse file");
  }
  uint64_t bytes_on_disk() const {
    struct stat status {};
    ::fstat(file_.get(), &status);
    return static_cast<uint64_t>(status.st_blocks) * 512;
  }

 private:
  Descriptor file_;
};

Bytes mark_of(int64_t sample) {
  return {static_cast<uint8_t>(sample), static_cast<uint8_t>(sample >> 8),
          static_cast<uint8_t>(sample >> 16), 0xaa};
}

class LargeData : public ::testing::Test {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "sanitizers keep memory of their own";
#endif
  }

  void note_memory() { most_ = std::max(most_, resident_bytes()); }

  /// Every byte of every sample must be what was written: its mark, or nothing.
  static void expect_sample(const Batch& batch, int64_t i, int64_t sample) {
    const Bytes mark = sample % kMarkEvery == 0 ? mark_of(sample) : Bytes(4);
    const int64_t size = batch.counts.empty() ? batch.images.size() / batch.size()
                                              : batch.counts.size() / batch.size();
    for (int64_t byte = 0; byte < 4; ++byte) {
      const int64_t place = i * size + byte;
      const float found = batch.counts.empty() ? 255.0F * batch.images[place]
                                               : static_cast<float>(batch.counts[place]);
      ASSERT_EQ(found, static_cast<float>(mark[byte])) << "sample " << sample;
    }
  }

  /// An epoch's first batches in the order of the seed, then the same number in file order.
  void expect_all_in_bound(const ImageSet& set, int64_t batch, int64_t batches) {
    const SampleRange all{0, set.size()};
    ASSERT_GT(batch * batches * set.sample_bytes(), kBound);
    const std::vector<int64_t> order = shuffled(all, 3, 1);
    TrainLoader loader(set, all,
                       {.batch = batch, .seed = 3, .augmentation = {.pad = 0, .flip = false}},
                       {.epoch = 1});
    for (int64_t b = 0; b < batches; ++b) {
      const Batch next = loader.next();
      note_memory();
      for (int64_t i = 0; i < batch; ++i) {
        const int64_t sample = order[b * batch + i];
        ASSERT_EQ(next.sample_ids[i], static_cast<uint32_t>(sample));
        ASSERT_EQ(next.labels[i], set.labels[sample]);
        expect_sample(next, i, sample);
      }
    }
    const int64_t begin = set.size() - batch * batches;
    const EvalLoader eval(set, {begin, set.size()}, batch);
    for (int64_t b = 0; b < eval.batches(); ++b) {
      const Batch next = eval.batch(b);
      note_memory();
      for (int64_t i = 0; i < batch; ++i) expect_sample(next, i, begin + b * batch + i);
    }
    EXPECT_LT(most_, kBound);
    RecordProperty("resident_bytes", std::to_string(most_));
  }

  TemporaryDirectory directory_;
  int64_t most_ = 0;
};

TEST_F(LargeData, ShardsOf4GibInBoundedMemory) {
  FileSplit split;
  split.form = {.kind = SampleKind::events, .shape = {2, 64, 64}, .frames = 16, .classes = 10};
  const int64_t sample_bytes = split.form.sample_bytes();
  const auto samples = static_cast<int64_t>(kFourGib) / sample_bytes;
  split.name = "large-train";
  split.files.push_back((directory_.path() / "recording").string());
  for (int64_t i = 0; i < samples; ++i) split.samples.push_back({.file = 0, .label = i % 10});
  split.decode = [](const fs::path&, std::span<const FileSample>, std::span<uint8_t* const>) {
    throw Error("decoded instead of read from the cache");
  };
  DatasetOptions options;
  options.cache.directory = directory_.path() / "cache";
  fs::create_directories(options.cache.directory);
  const CacheEntry entry = cache_entry(split, options.cache);
  ASSERT_EQ(entry.shards(), 4);
  Bytes content(static_cast<std::size_t>(sample_bytes));
  const auto empty_crc = static_cast<uint32_t>(crc32_z(0, content.data(), content.size()));
  uint64_t on_disk = 0;
  for (int64_t shard = 0; shard < entry.shards(); ++shard) {
    const ShardForm form = entry.form(shard);
    const SparseFile file(entry.path(shard), form.file_bytes());
    std::vector<uint32_t> crcs(static_cast<std::size_t>(form.samples), empty_crc);
    for (int64_t i = 0; i < form.samples; ++i) {
      if ((form.first + i) % kMarkEvery != 0) continue;
      const Bytes mark = mark_of(form.first + i);
      std::ranges::copy(mark, content.begin());
      crcs[i] = static_cast<uint32_t>(crc32_z(0, content.data(), content.size()));
      file.write(form.payload_offset() + static_cast<uint64_t>(i * sample_bytes), mark);
    }
    file.write(0, shard_head(form, crcs));
    on_disk += file.bytes_on_disk();
  }
  if (on_disk > kFourGib / 8) GTEST_SKIP() << "this file system has no sparse files";

  const ImageSet set = read_samples(split, 0, options);
  ASSERT_EQ(set.size(), samples);
  ASSERT_NE(set.stored, nullptr);
  expect_all_in_bound(set, 64, 48);
}

TEST_F(LargeData, IdxFileOf4GibInBoundedMemory) {
  constexpr uint32_t kSide = 256;
  constexpr uint32_t kImages = kFourGib / (kSide * kSide);
  {
    const SparseFile file(directory_.path() / "train-images-idx3-ubyte", 16 + kFourGib);
    file.write(0, idx_file({kImages, kSide, kSide}, {}));
    for (int64_t i = 0; i < kImages; i += kMarkEvery) {
      file.write(16 + static_cast<uint64_t>(i * kSide * kSide), mark_of(i));
    }
    if (file.bytes_on_disk() > kFourGib / 8) {
      GTEST_SKIP() << "this file system has no sparse files";
    }
  }
  Bytes labels(kImages);
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<uint8_t>(i % 10);
  directory_.write("train-labels-idx1-ubyte", idx_file({kImages}, labels));
  const ImageSet set = open_dataset("mnist", directory_.path(), {.need_test = false}).train;
  ASSERT_EQ(set.size(), int64_t{kImages});
  ASSERT_NE(set.stored, nullptr);
  expect_all_in_bound(set, 32, 128);
}

TEST_F(LargeData, RecordingsAreDecodedIntoShardsBlockByBlock) {
  constexpr int64_t kSamples = 3000;
  FileSplit split;
  split.form.shape = {1, 256, 256};
  split.form.classes = 1;
  split.name = "large-train";
  split.files.push_back((directory_.path() / "recording").string());
  for (int64_t i = 0; i < kSamples; ++i) {
    split.samples.push_back({.file = 0, .label = 0, .begin_us = i});
  }
  split.decode = [&](const fs::path&, std::span<const FileSample> samples,
                     std::span<uint8_t* const> out) {
    for (std::size_t i = 0; i < samples.size(); ++i) {
      std::fill_n(out[i], 256 * 256, static_cast<uint8_t>(samples[i].begin_us % 251));
    }
    note_memory();
  };
  DatasetOptions options;
  options.cache = {.directory = directory_.path() / "cache", .shard_bytes = 64 << 20};
  const int64_t before = resident_bytes();
  const ImageSet set = read_samples(split, 0, options);
  note_memory();
  // The samples are 197 MB. A third of that is more than a block of 32 MiB and what it takes to
  // fill and write it.
  EXPECT_LT(most_ - before, kSamples * set.sample_bytes() / 3);
  std::vector<uint8_t> scratch;
  for (int64_t i = 0; i < kSamples; i += 7) {
    const auto value = static_cast<uint8_t>(i % 251);
    ASSERT_EQ(std::ranges::count(set.sample(i, scratch), value), set.sample_bytes()) << i;
  }
}

TEST(LargeOrder, IsAPermutationOfMillions) {
  constexpr int64_t kSamples = 8'000'000;
  const std::vector<int64_t> order = shuffled({0, kSamples}, 9, 4);
  std::vector<bool> seen(kSamples);
  for (const int64_t sample : order) seen[sample] = true;
  EXPECT_EQ(std::ranges::count(seen, true), kSamples);
  // Half of the first half comes from the second half.
  const auto crossed = std::count_if(order.begin(), order.begin() + kSamples / 2,
                                     [](int64_t sample) { return sample >= kSamples / 2; });
  EXPECT_NEAR(static_cast<double>(crossed) / kSamples, 0.25, 0.001);
}

}  // namespace
}  // namespace bntt
