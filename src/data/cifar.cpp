#include "data/cifar.h"

#include <sstream>
#include <system_error>

#include "base/fail.h"
#include "base/files.h"

namespace bntt {
namespace fs = std::filesystem;
namespace {

constexpr MapShape kShape = {3, 32, 32};

struct CifarFile {
  fs::path path;
  int64_t records;
};

fs::path directory_or_inner(const fs::path& directory, const char* inner) {
  std::error_code ignored;
  return fs::is_directory(directory / inner, ignored) ? directory / inner : directory;
}

ImageSet read_files(const std::string& name, const std::vector<CifarFile>& files,
                    const CifarFormat& format, std::vector<std::string> class_names) {
  CifarRecords records;
  for (const CifarFile& file : files) {
    const auto expected = static_cast<uint64_t>(file.records * format.record_bytes());
    const std::string origin = name + ": " + file.path.string();
    std::error_code missing;
    const uint64_t size = fs::file_size(file.path, missing);
    if (missing) fail("{} cannot be read: {}", origin, missing.message());
    if (size != expected) fail("{} holds {} bytes, expected {}", origin, size, expected);
    append_cifar(read_file(file.path, expected), file.records, format, origin, records);
  }
  return {.shape = kShape,
          .classes = format.classes,
          .pixels = std::move(records.pixels),
          .labels = std::move(records.labels),
          .class_names = std::move(class_names)};
}

std::vector<std::string> read_class_names(const fs::path& path, int64_t classes) {
  std::error_code ignored;
  std::vector<std::string> names;
  if (!fs::exists(path, ignored)) return names;
  std::istringstream text(read_text(path, 1 << 16));
  for (std::string line; std::getline(text, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) names.push_back(line);
  }
  if (static_cast<int64_t>(names.size()) != classes) {
    fail("cifar100: {} holds {} names, expected {}", path.string(), names.size(), classes);
  }
  return names;
}

}  // namespace

CifarFormat cifar10_format() { return {}; }

CifarFormat cifar100_format(Labels labels) {
  return labels == Labels::fine ? CifarFormat{.label_bytes = 2, .label_place = 1, .classes = 100}
                                : CifarFormat{.label_bytes = 2, .label_place = 0, .classes = 20};
}

void append_cifar(std::span<const uint8_t> bytes, int64_t count, const CifarFormat& format,
                  const std::string& origin, CifarRecords& records) {
  const auto expected = static_cast<uint64_t>(count * format.record_bytes());
  if (bytes.size() != expected) {
    fail("{} holds {} bytes, expected {}", origin, bytes.size(), expected);
  }
  auto end = static_cast<int64_t>(records.pixels.size());
  records.pixels.resize(records.pixels.size() + static_cast<std::size_t>(count * kShape.size()));
  for (int64_t record = 0; record < count; ++record) {
    const uint8_t* begin = bytes.data() + record * format.record_bytes();
    const uint8_t label = begin[format.label_place];
    if (label >= format.classes) {
      fail("{} gives image {} the label {}, expected 0 to {}", origin, record, label,
           format.classes - 1);
    }
    records.labels.push_back(label);
    const uint8_t* planes = begin + format.label_bytes;  // [channel, y, x]
    for (int64_t pixel = 0; pixel < kShape.pixels(); ++pixel) {
      for (int64_t channel = 0; channel < kShape.channels; ++channel) {
        records.pixels[end++] = planes[channel * kShape.pixels() + pixel];
      }
    }
  }
}

DatasetSplits open_cifar10(const fs::path& directory, const DatasetOptions& options) {
  constexpr int64_t kRecordsPerFile = 10000;
  const fs::path batches = directory_or_inner(directory, "cifar-10-batches-bin");
  std::vector<CifarFile> train;
  std::vector<CifarFile> test;
  for (int batch = 1; options.need_train && batch <= 5; ++batch) {
    train.push_back({batches / fmt::format("data_batch_{}.bin", batch), kRecordsPerFile});
  }
  if (options.need_test) test.push_back({batches / "test_batch.bin", kRecordsPerFile});
  const std::vector<std::string> names = {"airplane", "automobile", "bird",  "cat",  "deer",
                                          "dog",      "frog",       "horse", "ship", "truck"};
  return {.train = read_files("cifar10", train, cifar10_format(), names),
          .test = read_files("cifar10", test, cifar10_format(), names)};
}

DatasetSplits open_cifar100(const fs::path& directory, const DatasetOptions& options) {
  const fs::path files = directory_or_inner(directory, "cifar-100-binary");
  const CifarFormat format = cifar100_format(options.labels);
  const bool fine = options.labels == Labels::fine;
  const std::vector<std::string> names = read_class_names(
      files / (fine ? "fine_label_names.txt" : "coarse_label_names.txt"), format.classes);
  std::vector<CifarFile> train;
  std::vector<CifarFile> test;
  if (options.need_train) train.push_back({files / "train.bin", 50000});
  if (options.need_test) test.push_back({files / "test.bin", 10000});
  return {.train = read_files("cifar100", train, format, names),
          .test = read_files("cifar100", test, format, names)};
}

}  // namespace bntt
