#include "data/image_folders.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <mutex>
#include <system_error>

#include "base/fail.h"
#include "base/files.h"
#include "base/text.h"
#include "base/threads.h"
#include "data/file_samples.h"
#include "data/image_file.h"

namespace bntt {
namespace fs = std::filesystem;
namespace {

constexpr int64_t kTinyImageNetSide = 64;
constexpr int64_t kFolderSide = 32;

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) lines.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

FileSplit image_split(const std::string& dataset, const char* split, int64_t own_side,
                      const DatasetOptions& options, const std::vector<std::string>& class_names) {
  const int64_t side = options.size > 0 ? options.size : own_side;
  const Fit fit = options.fit;
  FileSplit result;
  result.form = {.shape = {3, side, side},
                 .classes = static_cast<int64_t>(class_names.size()),
                 .pixels = {},
                 .labels = {},
                 .class_names = class_names};
  result.name = dataset + "-" + split;
  result.settings = fit == Fit::crop ? "crop" : "squeeze";
  result.decode = [=](const fs::path& file, std::span<const FileSample>,
                      std::span<uint8_t* const> out) {
    const std::string origin = dataset + ": " + file.string();
    const Picture image = decode_picture(read_file(file, kLargestImageFile), origin);
    for (uint8_t* pixels : out) fit_image(view_of(image), {side, side}, fit, pixels);
  };
  return result;
}

// Integers until the end, so that the order of the images does not matter.
ChannelStatistics measured(const ImageSet& set) {
  constexpr int64_t kImagesTogether = 1024;
  const auto channels = static_cast<std::size_t>(set.shape.channels);
  std::vector<uint64_t> sums(channels);
  std::vector<uint64_t> squares(channels);
  std::mutex mutex;
  parallel_for((set.size() + kImagesTogether - 1) / kImagesTogether, [&](int64_t block) {
    std::vector<uint8_t> scratch;
    std::vector<uint64_t> block_sums(channels);
    std::vector<uint64_t> block_squares(channels);
    const int64_t end = std::min((block + 1) * kImagesTogether, set.size());
    for (int64_t image = block * kImagesTogether; image < end; ++image) {
      const std::span<const uint8_t> pixels = set.sample(image, scratch);
      for (std::size_t i = 0; i < pixels.size(); i += channels) {
        for (std::size_t channel = 0; channel < channels; ++channel) {
          const uint64_t value = pixels[i + channel];
          block_sums[channel] += value;
          block_squares[channel] += value * value;
        }
      }
    }
    const std::lock_guard lock(mutex);
    std::ranges::transform(sums, block_sums, sums.begin(), std::plus());
    std::ranges::transform(squares, block_squares, squares.begin(), std::plus());
  });
  ChannelStatistics statistics;
  for (std::size_t channel = 0; channel < channels; ++channel) {
    const auto count = static_cast<double>(std::max<int64_t>(1, set.size() * set.shape.pixels()));
    const double mean = static_cast<double>(sums[channel]) / count;
    const double variance =
        std::max(0.0, static_cast<double>(squares[channel]) / count - mean * mean);
    statistics.mean.push_back(static_cast<float>(mean / 255.0));
    // Images of one colour have no deviation; half a grey level is used instead.
    statistics.deviation.push_back(static_cast<float>(std::max(0.5, std::sqrt(variance)) / 255.0));
  }
  return statistics;
}

}  // namespace

std::vector<LabelledFile> parse_annotations(std::string_view text,
                                            const std::vector<std::string>& wnids,
                                            const fs::path& images, const std::string& origin) {
  std::map<std::string_view, int64_t> labels;
  for (std::size_t i = 0; i < wnids.size(); ++i) labels[wnids[i]] = static_cast<int64_t>(i);
  std::vector<LabelledFile> files;
  for (const std::string& line : lines_of(text)) {
    const std::size_t name_end = line.find('\t');
    if (name_end == std::string::npos) {
      fail("{}: line {} has no tab, expected a file name, a tab and a class", origin,
           files.size() + 1);
    }
    const std::string name = line.substr(0, name_end);
    const std::string wnid =
        line.substr(name_end + 1, line.find('\t', name_end + 1) - name_end - 1);
    if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos ||
        name.find('\0') != std::string::npos) {
      fail("{}: line {} names the file '{}', expected one of val/images", origin, files.size() + 1,
           excerpt(name));
    }
    const auto label = labels.find(wnid);
    if (label == labels.end()) {
      fail("{}: line {} names the class '{}', which wnids.txt does not have", origin,
           files.size() + 1, excerpt(wnid));
    }
    files.push_back({(images / name).string(), label->second});
  }
  return files;
}

std::vector<std::string> read_wnids(const fs::path& root) {
  const fs::path path = root / "wnids.txt";
  std::vector<std::string> wnids = lines_of(read_text(path, 1 << 20));
  if (wnids.empty()) fail("tiny-imagenet: {} names no class", path.string());
  for (const std::string& wnid : wnids) {
    if (wnid.find('/') != std::string::npos || wnid.starts_with('.')) {
      fail("tiny-imagenet: {} names the class '{}', expected the name of a folder", path.string(),
           excerpt(wnid));
    }
  }
  return wnids;
}

const std::vector<std::string>& picture_extensions() {
  static const std::vector<std::string> extensions = {".jpeg", ".jpg", ".png"};
  return extensions;
}

DatasetSplits open_tiny_imagenet(const fs::path& directory, const DatasetOptions& options) {
  const std::string name = "tiny-imagenet";
  const fs::path inner = directory / "tiny-imagenet-200";
  std::error_code ignored;
  const fs::path& root = fs::is_directory(inner, ignored) ? inner : directory;
  const std::vector<std::string> wnids = read_wnids(root);
  FileSplit train = image_split(name, "train", kTinyImageNetSide, options, wnids);
  FileSplit test = image_split(name, "val", kTinyImageNetSide, options, wnids);
  if (options.need_train) {
    std::vector<FilePaths> files;
    for (const std::string& wnid : wnids) {
      files.push_back(hashed_files(root / "train" / wnid / "images", picture_extensions(), name));
    }
    add_files(interleaved(std::move(files)), train);
  }
  if (options.need_test) {
    const fs::path annotations = root / "val" / "val_annotations.txt";
    add_files(parse_annotations(read_text(annotations), wnids, root / "val" / "images",
                                name + ": " + annotations.string()),
              test);
  }
  return {.train = read_samples(train, options.limit_train, options),
          .test = read_samples(test, options.limit_test, options)};
}

DatasetSplits open_image_folder(const fs::path& directory, const DatasetOptions& options) {
  ClassFolders folders = read_class_folders(directory, picture_extensions(), "folder");
  FileSplit train = image_split("folder", "train", kFolderSide, options, folders.names);
  FileSplit test = image_split("folder", "test", kFolderSide, options, folders.names);
  if (options.need_train) add_files(interleaved(std::move(folders.files.train)), train);
  if (options.need_test) add_files(interleaved(std::move(folders.files.test)), test);
  DatasetSplits splits{.train = read_samples(train, options.limit_train, options),
                       .test = read_samples(test, options.limit_test, options)};
  // Without training images this is an approximation; a run keeps the values measured in training.
  splits.normalisation = measured(splits.train.size() > 0 ? splits.train : splits.test);
  return splits;
}

}  // namespace bntt
