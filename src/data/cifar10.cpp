#include "data/cifar10.h"

#include <system_error>

#include "base/fail.h"
#include "base/files.h"

namespace bntt {
namespace fs = std::filesystem;
namespace {

constexpr MapShape kShape = {3, 32, 32};
constexpr int64_t kRecordBytes = 1 + 3 * 32 * 32;
constexpr int64_t kRecordsPerFile = 10000;

fs::path batches_directory(const fs::path& directory) {
  fs::path inner = directory / "cifar-10-batches-bin";
  std::error_code ignored;
  return fs::is_directory(inner, ignored) ? inner : directory;
}

void append_file(const fs::path& path, ImageSet& set) {
  constexpr auto kFileBytes = static_cast<uint64_t>(kRecordsPerFile * kRecordBytes);
  const std::string origin = "cifar10: " + path.string();
  std::error_code missing;
  const uint64_t size = fs::file_size(path, missing);
  if (missing) fail("{} cannot be read: {}", origin, missing.message());
  if (size != kFileBytes) fail("{} holds {} bytes, expected {}", origin, size, kFileBytes);
  append_cifar10(read_file(path, kFileBytes), kRecordsPerFile, origin, set);
}

}  // namespace

ImageSet empty_cifar10() {
  return {.shape = kShape,
          .classes = 10,
          .pixels = {},
          .labels = {},
          .class_names = {"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse",
                          "ship", "truck"}};
}

void append_cifar10(std::span<const uint8_t> bytes, int64_t records, const std::string& origin,
                    ImageSet& set) {
  const auto expected = static_cast<uint64_t>(records * kRecordBytes);
  if (bytes.size() != expected) {
    fail("{} holds {} bytes, expected {}", origin, bytes.size(), expected);
  }
  auto end = static_cast<int64_t>(set.pixels.size());
  set.pixels.resize(set.pixels.size() + static_cast<std::size_t>(records * kShape.size()));
  for (int64_t record = 0; record < records; ++record) {
    const uint8_t* label = bytes.data() + record * kRecordBytes;
    if (*label >= set.classes) {
      fail("{} gives image {} the label {}, expected 0 to {}", origin, record, *label,
           set.classes - 1);
    }
    set.labels.push_back(*label);
    const uint8_t* planes = label + 1;  // [channel, y, x]
    for (int64_t pixel = 0; pixel < kShape.pixels(); ++pixel) {
      for (int64_t channel = 0; channel < kShape.channels; ++channel) {
        set.pixels[end++] = planes[channel * kShape.pixels() + pixel];
      }
    }
  }
}

DatasetSplits open_cifar10(const fs::path& directory, const DatasetOptions& options) {
  const fs::path batches = batches_directory(directory);
  DatasetSplits splits;
  splits.train = empty_cifar10();
  splits.test = empty_cifar10();
  if (options.need_train) {
    for (int batch = 1; batch <= 5; ++batch) {
      append_file(batches / fmt::format("data_batch_{}.bin", batch), splits.train);
    }
  }
  if (options.need_test) append_file(batches / "test_batch.bin", splits.test);
  return splits;
}

}  // namespace bntt
