#include "data/dataset.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <system_error>

#include "base/enums.h"
#include "base/fail.h"
#include "base/suggest.h"
#include "base/text.h"
#include "data/cifar.h"
#include "data/event_sets.h"
#include "data/image_folders.h"
#include "data/mnist.h"

namespace bntt {
namespace fs = std::filesystem;
namespace {

constexpr int64_t kLargestSide = 1024;
constexpr int64_t kMostFrames = 1 << 16;

using Open = DatasetSplits (*)(const fs::path& directory, const DatasetOptions& options);

struct DatasetEntry {
  DatasetInfo info;
  Open open;
};

const std::vector<DatasetEntry>& datasets() {
  static const std::vector<DatasetEntry> entries = {
      // The deviations in use since the first PyTorch examples: computed per image, then averaged;
      // over all pixels it would be about 0.25. The authors' code uses them, so results are
      // comparable.
      {{.name = "cifar10",
        .normalisation = {{0.4914F, 0.4822F, 0.4465F}, {0.2023F, 0.1994F, 0.2010F}},
        .source = "the files of cifar-10-binary.tar.gz",
        .shape = {3, 32, 32},
        .classes = 10,
        .train_samples = 50000,
        .test_samples = 10000},
       open_cifar10},
      {{.name = "cifar100",
        .normalisation = {{0.5071F, 0.4865F, 0.4409F}, {0.2673F, 0.2564F, 0.2762F}},
        .source = "the files of cifar-100-binary.tar.gz",
        .shape = {3, 32, 32},
        .coarse_labels = true,
        .classes = 100,
        .train_samples = 50000,
        .test_samples = 10000},
       open_cifar100},
      {{.name = "dvs-cifar10",
        .kind = SampleKind::events,
        .source = "ten class folders of .aedat files",
        .shape = {2, 42, 42},
        .resizable = true,
        .classes = 10,
        .train_samples = 9000,
        .test_samples = 1000},
       open_dvs_cifar10},
      {{.name = "dvs-gesture",
        .kind = SampleKind::events,
        .source = "the files of DvsGesture.tar.gz",
        .shape = {2, 42, 42},
        .resizable = true,
        .classes = 11},
       open_dvs_gesture},
      {{.name = "event-folder",
        .kind = SampleKind::events,
        .source = "a folder of event recordings for each class",
        .shape = {2, 42, 42},
        .resizable = true,
        .any_sensor = true},
       open_event_folder},
      {{.name = "fashion-mnist",
        .normalisation = {{0.2860F}, {0.3530F}},
        .source = "the files of the Debian package dataset-fashion-mnist",
        .usual_directory = "/usr/share/datasets/fashion-mnist",
        .shape = {1, 28, 28},
        .classes = 10,
        .train_samples = 60000,
        .test_samples = 10000},
       open_fashion_mnist},
      {{.name = "folder",
        .source = "a folder of images for each class",
        .shape = {3, 32, 32},
        .resizable = true,
        .fittable = true},
       open_image_folder},
      {{.name = "mnist",
        .normalisation = {{0.1307F}, {0.3081F}},
        .source = "the four IDX files of MNIST",
        .shape = {1, 28, 28},
        .classes = 10,
        .train_samples = 60000,
        .test_samples = 10000},
       open_mnist},
      {{.name = "nmnist",
        .kind = SampleKind::events,
        .source = "the folders Train and Test of N-MNIST",
        .shape = {2, 34, 34},
        .resizable = true,
        .classes = 10,
        .train_samples = 60000,
        .test_samples = 10000},
       open_nmnist},
      {{.name = "tiny-imagenet",
        .normalisation = {{0.4802F, 0.4481F, 0.3975F}, {0.2770F, 0.2691F, 0.2821F}},
        .source = "the files of tiny-imagenet-200.zip",
        .shape = {3, 64, 64},
        .resizable = true,
        .classes = 200,
        .train_samples = 100000,
        .test_samples = 10000},
       open_tiny_imagenet},
  };
  return entries;
}

const DatasetEntry& find_entry(std::string_view name) {
  const auto entry = std::ranges::find(datasets(), name,
                                       [](const DatasetEntry& known) { return known.info.name; });
  if (entry == datasets().end()) {
    const std::vector<std::string> known = dataset_names();
    fail("unknown data set '{}', expected one of {}{}", excerpt(name), fmt::join(known, ", "),
         did_you_mean(name, known));
  }
  return *entry;
}

void keep_first(ImageSet& set, int64_t limit) {
  if (limit == 0 || limit >= set.size()) return;
  set.labels.resize(static_cast<std::size_t>(limit));
  set.files.keep_first(static_cast<std::size_t>(limit));
  if (set.stored != nullptr) return;
  set.pixels = set.pixels.first(static_cast<std::size_t>(limit * set.sample_bytes()));
}

// An option that would have no effect is a misunderstanding.
void check_options(const DatasetInfo& info, const DatasetOptions& options) {
  for (const int64_t limit : {options.limit_train, options.limit_test}) {
    if (limit < 0) {
      fail("{}: the image limit is {}, expected 0 (all) or more", info.name, limit);
    }
  }
  if (options.labels == Labels::coarse && !info.coarse_labels) {
    fail("{}: has no coarse labels, only one set of labels", info.name);
  }
  if (options.size != 0 && options.size != info.shape.height && !info.resizable) {
    fail("{}: a size of {} was given, but its images are {}x{}", info.name, options.size,
         info.shape.height, info.shape.width);
  }
  if (options.size < 0 || options.size > kLargestSide) {
    fail("{}: the size is {}, expected 0 (its own) to {}", info.name, options.size, kLargestSide);
  }
  expect_enum(info.name, "fit", options.fit, "Fit");
  expect_enum(info.name, "interval", options.events.interval, "Interval");
  if (options.fit != Fit::crop && !info.fittable) {
    fail("{}: data.fit was given, but {}", info.name,
         info.kind == SampleKind::events ? "it holds event recordings"
                                         : "all its images have the same size");
  }
  check_sensor(info, options.sensor);
  const FrameOptions plain = {.frames = options.events.frames};
  if (info.kind != SampleKind::events && options.events != plain) {
    fail("{}: settings of event frames were given, but it holds images", info.name);
  }
  if (options.events.bin_us < 0) {
    fail("{}: bins of {} microseconds were given, expected at least 0", info.name,
         options.events.bin_us);
  }
  if (options.events.bin_us > 0 && options.events.interval != Interval::time) {
    fail("{}: bins of fixed length cannot be combined with intervals of equal event counts",
         info.name);
  }
  if (options.events.frames < 1 || options.events.frames > kMostFrames) {
    fail("{}: {} frames were given, expected 1 to {}", info.name, options.events.frames,
         kMostFrames);
  }
}

// Training samples have ids below those of test samples, which end where the ids do.
void check_number(const DatasetInfo& info, const ImageSet& set) {
  if (set.size() > int64_t{kFirstTestId}) {
    fail("{}: there are {} samples, expected at most {}", info.name, set.size(), kFirstTestId);
  }
}

}  // namespace

std::span<const uint8_t> ImageSet::sample(int64_t index, std::vector<uint8_t>& scratch) const {
  const auto size = static_cast<std::size_t>(sample_bytes());
  if (stored == nullptr) return {image(index), size};
  scratch.resize(size);
  stored->read(index, scratch.data());
  return scratch;
}

std::vector<std::string> dataset_names() {
  std::vector<std::string> names;
  for (const DatasetEntry& entry : datasets()) names.push_back(entry.info.name);
  return names;
}

const DatasetInfo& dataset_info(std::string_view name) { return find_entry(name).info; }

void check_sensor(const DatasetInfo& info, const SensorSize& sensor) {
  if (sensor == SensorSize{}) return;
  if (!info.any_sensor) {
    fail("{}: the size of a sensor was given, but only event-folder takes one", info.name);
  }
  const auto wrong = [](int64_t side) { return side < 1 || side > kLargestSensorSide; };
  if (wrong(sensor.width) || wrong(sensor.height)) {
    fail("{}: a sensor of {}x{} pixels was given, expected both sides from 1 to {}, or neither",
         info.name, sensor.width, sensor.height, kLargestSensorSide);
  }
}

ChannelStatistics dataset_normalisation(std::string_view name) {
  const DatasetInfo& info = dataset_info(name);
  if (info.normalisation.mean.empty()) {
    fail("the data set {} has no mean and deviation of its own", info.name);
  }
  return info.normalisation;
}

int64_t longest_recording_bins(std::string_view name, const fs::path& directory,
                               DatasetOptions options) {
  int64_t longest = 0;
  options.need_train = true;
  options.need_test = true;
  options.limit_train = 0;
  options.limit_test = 0;
  options.events.frames = 1;
  options.size = 1;  // the frames themselves are not needed
  options.cache = {};
  options.recording = [&](int64_t bins) { longest = std::max(longest, bins); };
  open_dataset(name, directory, options);
  return longest;
}

DatasetSplits open_dataset(std::string_view name, const fs::path& directory,
                           const DatasetOptions& options) {
  const auto& [info, open] = find_entry(name);
  check_options(info, options);
  const fs::path place = directory.empty() ? fs::path(info.usual_directory) : directory;
  if (place.empty()) {
    fail("{}: no data directory was given, expected one with {}", name, info.source);
  }
  std::error_code ignored;
  if (!fs::is_directory(place, ignored)) {
    fail("{}: {} is not a directory, expected one with {}", name, place.string(), info.source);
  }
  DatasetSplits splits = open(place, options);
  if (splits.normalisation.mean.empty()) splits.normalisation = info.normalisation;
  splits.train.first_id = 0;
  splits.test.first_id = kFirstTestId;
  keep_first(splits.train, options.limit_train);
  keep_first(splits.test, options.limit_test);
  check_number(info, splits.train);
  check_number(info, splits.test);
  return splits;
}

}  // namespace bntt
