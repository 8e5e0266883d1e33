#include <fmt/ranges.h>

#include <optional>
#include <system_error>

#include "base/files.h"
#include "data/idx.h"
#include "fetch/check_formats.h"

namespace bntt {
namespace fs = std::filesystem;
namespace {

constexpr uint64_t kLargestFile = uint64_t{1} << 30;

struct RecordFile {
  std::string name;
  int64_t records = 0;
  std::string md5;  ///< empty: none is published
  bool train = true;
};

/// CIFAR: records of a few label bytes and 3072 pixels.
struct RecordSet {
  std::string folder;  ///< folder of the archive that contains the files
  std::vector<RecordFile> files;
  std::vector<int64_t> classes;  ///< of each label byte
  int64_t train_per_class = 0;   ///< by the last label byte
  int64_t test_per_class = 0;
};

/// The number of records of each class by the last label byte.
std::vector<int64_t> check_labels(const RecordSet& set, const fs::path& path,
                                  std::span<const uint8_t> bytes, Checker& checker) {
  const std::size_t label_bytes = set.classes.size();
  const std::size_t record_bytes = label_bytes + 3072;
  std::vector<int64_t> counts(static_cast<std::size_t>(set.classes.back()));
  for (std::size_t place = 0; place < label_bytes; ++place) {
    int64_t wrong = 0;
    std::optional<std::size_t> first;
    for (std::size_t record = 0; record < bytes.size() / record_bytes; ++record) {
      const uint8_t label = bytes[record * record_bytes + place];
      if (label >= set.classes[place]) {
        ++wrong;
        if (!first) first = record;
      } else if (place + 1 == label_bytes) {
        ++counts[label];
      }
    }
    if (first) {
      checker.find(path, "has {} {} out of range, the first of image {}: {}, expected 0 to {}",
                   wrong, wrong == 1 ? "label" : "labels", *first,
                   bytes[*first * record_bytes + place], set.classes[place] - 1);
    }
  }
  return counts;
}

void check_record_set(const RecordSet& set, const fs::path& directory, Checker& checker) {
  std::error_code ignored;
  const fs::path inner = directory / set.folder;
  const fs::path root = fs::is_directory(inner, ignored) ? inner : directory;
  std::vector<fs::path> paths;
  for (const RecordFile& file : set.files) paths.push_back(root / file.name);
  std::vector<std::vector<int64_t>> counts(paths.size());
  checker.each_file(paths, kLargestFile, [&](std::size_t i, std::span<const uint8_t> bytes) {
    const RecordFile& file = set.files[i];
    const std::size_t expected =
        static_cast<std::size_t>(file.records) * (set.classes.size() + 3072);
    if (bytes.size() != expected) {
      checker.find(paths[i], "holds {} bytes, expected {}", bytes.size(), expected);
    }
    counts[i] = check_labels(set, paths[i], bytes, checker);
    if (!file.md5.empty()) checker.compare(paths[i], bytes, file.md5);
  });
  for (const bool train : {true, false}) {
    std::vector<int64_t> sum(static_cast<std::size_t>(set.classes.back()));
    int64_t samples = 0;
    bool whole = true;
    for (std::size_t i = 0; i < paths.size(); ++i) {
      if (set.files[i].train != train) continue;
      whole = whole && !counts[i].empty();
      for (std::size_t label = 0; label < counts[i].size(); ++label) {
        sum[label] += counts[i][label];
        samples += counts[i][label];
      }
    }
    checker.add_samples(train, samples);
    // If a file is missing, that is already a finding.
    if (whole) {
      checker.compare_classes(root, sum, train ? set.train_per_class : set.test_per_class);
    }
  }
}

/// The four files of MNIST and its relatives; checksums are of the uncompressed files, since
/// several compressed forms are in circulation.
struct IdxSet {
  std::string train_images;
  std::string train_labels;
  std::string test_images;
  std::string test_labels;
  int64_t train_per_class = 0;
  int64_t test_per_class = 0;
};

std::vector<uint8_t> plain_file(const IdxArray& array) {
  std::vector<uint8_t> bytes = {0, 0, 8, static_cast<uint8_t>(array.extents.size())};
  for (const int64_t extent : array.extents) {
    for (const int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<uint8_t>(extent >> shift));
  }
  bytes.insert(bytes.end(), array.values.begin(), array.values.end());
  return bytes;
}

struct IdxFile {
  std::string name;
  std::string md5;
  std::vector<int64_t> extents;
};

void check_idx_set(const IdxSet& set, const fs::path& directory, Checker& checker) {
  const std::vector<IdxFile> files = {
      {"train-images-idx3-ubyte", set.train_images, {60000, 28, 28}},
      {"train-labels-idx1-ubyte", set.train_labels, {60000}},
      {"t10k-images-idx3-ubyte", set.test_images, {10000, 28, 28}},
      {"t10k-labels-idx1-ubyte", set.test_labels, {10000}},
  };
  std::vector<fs::path> paths;
  for (const IdxFile& file : files) {
    std::error_code ignored;
    const fs::path plain = directory / file.name;
    paths.push_back(fs::exists(plain, ignored) ? plain : directory / (file.name + ".gz"));
  }
  checker.each_file(paths, kLargestFile, [&](std::size_t i, std::span<const uint8_t> bytes) {
    const IdxFile& file = files[i];
    const fs::path& path = paths[i];
    const bool labels = file.extents.size() == 1;
    const bool train = i < 2;
    const IdxArray array = parse_idx(bytes, static_cast<int>(file.extents.size()), path.string());
    if (array.extents != file.extents) {
      checker.find(path, "holds {} {}, expected {}", fmt::join(array.extents, "x"),
                   labels ? "labels" : "pixels", fmt::join(file.extents, "x"));
    }
    if (labels) {
      std::vector<int64_t> counts(10);
      int64_t wrong = 0;
      for (const uint8_t label : array.values) {
        if (label < counts.size()) {
          ++counts[label];
        } else {
          ++wrong;
        }
      }
      if (wrong > 0) checker.find(path, "has {} labels out of range, expected 0 to 9", wrong);
      checker.compare_classes(path, counts, train ? set.train_per_class : set.test_per_class);
    } else {
      checker.add_samples(train, array.extents[0]);
    }
    checker.compare(path, plain_file(array), file.md5);
  });
}

}  // namespace

void check_cifar10(const fs::path& directory, Checker& checker) {
  check_record_set({.folder = "cifar-10-batches-bin",
                    .files = {{"data_batch_1.bin", 10000, "5dd7e06a14cb22eb9f671a540d1b7c25"},
                              {"data_batch_2.bin", 10000, "5ea93a67294ea407fff1d09f752e9692"},
                              {"data_batch_3.bin", 10000, "942cd6a4bcdd0dd3c604fbe906cb4421"},
                              {"data_batch_4.bin", 10000, "ae636b3ba5c66a11e91e8cb52e771fcb"},
                              {"data_batch_5.bin", 10000, "53f37980c15c3d472c316c40844f3f0d"},
                              {"test_batch.bin", 10000, "803d5f7f4d78ea53de84dbe85f74fb6d", false}},
                    .classes = {10},
                    .train_per_class = 5000,
                    .test_per_class = 1000},
                   directory, checker);
}

void check_cifar100(const fs::path& directory, Checker& checker) {
  check_record_set({.folder = "cifar-100-binary",
                    .files = {{"train.bin", 50000, ""}, {"test.bin", 10000, "", false}},
                    .classes = {20, 100},
                    .train_per_class = 500,
                    .test_per_class = 100},
                   directory, checker);
}

void check_mnist(const fs::path& directory, Checker& checker) {
  check_idx_set({.train_images = "6bbc9ace898e44ae57da46a324031adb",
                 .train_labels = "a25bea736e30d166cdddb491f175f624",
                 .test_images = "2646ac647ad5339dbf082846283269ea",
                 .test_labels = "27ae3e4e09519cfbb04c329615203637"},
                directory, checker);
}

void check_fashion_mnist(const fs::path& directory, Checker& checker) {
  check_idx_set({.train_images = "f4a8712d7a061bf5bd6d2ca38dc4d50a",
                 .train_labels = "9018921c3c673c538a1fc5bad174d6f9",
                 .test_images = "8181f5470baa50b63fa0f6fddb340f0a",
                 .test_labels = "15d484375f8d13e6eb1aabb0c3f46965",
                 .train_per_class = 6000,
                 .test_per_class = 1000},
                directory, checker);
}

}  // namespace bntt
