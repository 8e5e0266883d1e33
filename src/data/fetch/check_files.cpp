#include <fmt/ranges.h>

#include <algorithm>
#include <system_error>

#include "base/fail.h"
#include "base/files.h"
#include "base/text.h"
#include "data/class_folders.h"
#include "data/event_files.h"
#include "data/event_sets.h"
#include "data/image_file.h"
#include "data/image_folders.h"
#include "data/recordings.h"
#include "fetch/check_formats.h"

// Data sets with one file per sample: every file is parsed as its loader parses it.

namespace bntt {
namespace fs = std::filesystem;
namespace {

constexpr uint64_t kLargestSample = uint64_t{1} << 30;
constexpr uint64_t kLargestTable = 1U << 24;
const std::vector<std::string> kImageExtensions = {".jpeg", ".jpg", ".png"};

/// Throws Error for a sample that a loader would reject; `file` starts its sentences.
using ParseSample = std::function<void(std::span<const uint8_t> bytes, const fs::path& file)>;

void expect_events(const Recording& recording, const fs::path& file) {
  if (recording.events.empty()) {
    fail("{} holds no events, expected at least one", file.string());
  }
  expect_inside(recording.events, recording.sensor, file.string());
}

/// Recordings of a square sensor.
template <typename Parse>
ParseSample recording(Parse parse, int64_t side) {
  return [=](std::span<const uint8_t> bytes, const fs::path& file) {
    expect_events({.sensor = {side, side}, .events = parse(bytes, file.string())}, file);
  };
}

/// `side` 0: any size.
ParseSample image(int64_t side) {
  return [side](std::span<const uint8_t> bytes, const fs::path& file) {
    const std::string origin = file.string();
    const Picture decoded = decode_picture(bytes, origin);
    if (side != 0 && (decoded.width != side || decoded.height != side)) {
      fail("{} has {}x{} pixels, expected {}x{}", origin, decoded.width, decoded.height, side,
           side);
    }
  };
}

/// The samples of a class; `expected` 0: any number of at least one.
FilePaths files_in(const fs::path& folder, const std::vector<std::string>& extensions,
                   std::size_t expected, Checker& checker) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) {
    checker.find(folder, "is missing, expected a folder");
    return {};
  }
  FilePaths files;
  try {
    files = hashed_files(folder, extensions, "check");
  } catch (const Error&) {
    checker.find(folder, "holds no file that ends in {}", fmt::join(extensions, ", "));
    return {};
  }
  std::ranges::sort(files);
  if (expected != 0 && files.size() != expected) {
    checker.find(folder, "holds {} files, expected {}", files.size(), expected);
  }
  return files;
}

void parse_all(const FilePaths& files, const ParseSample& parse, Checker& checker) {
  checker.each_file({files.begin(), files.end()}, kLargestSample,
                    [&](std::size_t i, std::span<const uint8_t> bytes) { parse(bytes, files[i]); });
}

void append(FilePaths& files, const FilePaths& more) {
  files.insert(files.end(), more.begin(), more.end());
}

/// Turns an Error thrown by `read` into a finding about `file`.
template <typename Read>
auto read_or_find(const fs::path& file, Checker& checker, const Read& read) -> decltype(read()) {
  try {
    return read();
  } catch (const Error& error) {
    checker.find_error(file, error);
    return {};
  }
}

fs::path inner_or_itself(const fs::path& directory, const char* inner) {
  std::error_code ignored;
  return fs::is_directory(directory / inner, ignored) ? directory / inner : directory;
}

/// Class folders as found by read_class_folders.
void check_class_folders(const fs::path& directory, const std::vector<std::string>& extensions,
                         const ParseSample& parse, Checker& checker) {
  std::error_code ignored;
  const bool split = fs::is_directory(directory / "train", ignored);
  const fs::path train = split ? directory / "train" : directory;
  std::vector<FilePaths> train_files;
  FilePaths files;
  const auto classes_of = [&](const fs::path& folder) {
    std::vector<std::string> names =
        read_or_find(folder, checker, [&] { return folder_names(folder, "check"); });
    if (names.empty()) checker.find(folder, "holds no folders, expected one for each class");
    if (names.size() == 1) {
      checker.find(folder, "holds one class folder, '{}', expected at least two classes",
                   excerpt(names.front()));
    }
    return names;
  };
  const std::vector<std::string> classes = classes_of(train);
  for (const std::string& name : classes) {
    train_files.push_back(files_in(train / name, extensions, 0, checker));
    append(files, train_files.back());
  }
  int64_t test_samples = 0;
  if (split) {
    const fs::path test =
        directory / (fs::is_directory(directory / "test", ignored) ? "test" : "val");
    const std::vector<std::string> test_classes = classes_of(test);
    if (!test_classes.empty() && test_classes != classes) {
      checker.find(test, "has different class folders from {}", train.string());
    }
    for (const std::string& name : test_classes) {
      const FilePaths more = files_in(test / name, extensions, 0, checker);
      test_samples += static_cast<int64_t>(more.size());
      append(files, more);
    }
  } else {
    for (const auto& of_class : split_tenth(train_files).test) {
      test_samples += static_cast<int64_t>(of_class.size());
    }
  }
  checker.add_samples(false, test_samples);
  checker.add_samples(true, static_cast<int64_t>(files.size()) - test_samples);
  parse_all(files, parse, checker);
}

}  // namespace

void check_nmnist(const fs::path& directory, Checker& checker) {
  FilePaths files;
  for (const bool train : {true, false}) {
    const fs::path folder = directory / (train ? "Train" : "Test");
    const std::size_t expected = train ? 60000 : 10000;
    const std::size_t before = files.size();
    for (int digit = 0; digit < 10; ++digit) {
      append(files, files_in(folder / std::to_string(digit), {".bin"}, 0, checker));
    }
    const std::size_t samples = files.size() - before;
    if (samples != expected) {
      checker.find(folder, "holds {} recordings, expected {}", samples, expected);
    }
    checker.add_samples(train, static_cast<int64_t>(samples));
  }
  parse_all(files, recording(parse_nmnist, kNmnistSide), checker);
}

void check_dvs_cifar10(const fs::path& directory, Checker& checker) {
  std::vector<FilePaths> classes;
  for (const char* name :
       {"airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"}) {
    classes.push_back(files_in(directory / name, {".aedat"}, 1000, checker));
  }
  const FolderSplit split = split_tenth(classes);
  FilePaths files;
  for (std::size_t label = 0; label < classes.size(); ++label) {
    append(files, classes[label]);
    checker.add_samples(true, static_cast<int64_t>(split.train[label].size()));
    checker.add_samples(false, static_cast<int64_t>(split.test[label].size()));
  }
  parse_all(files, recording(parse_aedat2, kDvs128Side), checker);
}

void check_dvs_gesture(const fs::path& directory, Checker& checker) {
  const fs::path root = inner_or_itself(directory, "DvsGesture");
  FilePaths files;
  for (const bool train : {true, false}) {
    const fs::path list = root / (train ? "trials_to_train.txt" : "trials_to_test.txt");
    for (const fs::path& trial :
         read_or_find(list, checker, [&] { return read_gesture_trials(list); })) {
      files.push_back(trial.string());
      const fs::path table = gesture_labels_of(trial);
      const auto spans = read_or_find(table, checker, [&] {
        return parse_gesture_labels(read_text(table, kLargestTable), kGestures, table.string());
      });
      checker.add_samples(train, static_cast<int64_t>(spans.size()));
    }
  }
  parse_all(files, recording(parse_aedat3, kDvs128Side), checker);
}

void check_tiny_imagenet(const fs::path& directory, Checker& checker) {
  const fs::path root = inner_or_itself(directory, "tiny-imagenet-200");
  const fs::path list = root / "wnids.txt";
  const std::vector<std::string> wnids =
      read_or_find(list, checker, [&] { return read_wnids(root); });
  if (wnids.empty()) return;
  if (wnids.size() != 200) checker.find(list, "names {} classes, expected 200", wnids.size());
  FilePaths files;
  for (const std::string& wnid : wnids) {
    append(files, files_in(root / "train" / wnid / "images", kImageExtensions, 500, checker));
  }
  checker.add_samples(true, static_cast<int64_t>(files.size()));
  const fs::path table = root / "val" / "val_annotations.txt";
  const std::vector<LabelledFile> validation = read_or_find(table, checker, [&] {
    return parse_annotations(read_text(table, kLargestTable), wnids, root / "val" / "images",
                             table.string());
  });
  std::vector<int64_t> counts(wnids.size());
  for (const LabelledFile& file : validation) {
    ++counts[static_cast<std::size_t>(file.label)];
    files.push_back(file.path);
  }
  checker.add_samples(false, static_cast<int64_t>(validation.size()));
  if (!validation.empty()) checker.compare_classes(table, counts, 50);
  parse_all(files, image(64), checker);
}

void check_event_folder(const fs::path& directory, Checker& checker) {
  const SensorSize sensor = checker.options().sensor;
  const auto parse = [=](std::span<const uint8_t> bytes, const fs::path& file) {
    expect_events(parse_recording(bytes, lower_extension(file), sensor, file.string()), file);
  };
  check_class_folders(directory, recording_extensions(), parse, checker);
}

void check_folder(const fs::path& directory, Checker& checker) {
  check_class_folders(directory, kImageExtensions, image(0), checker);
}

}  // namespace bntt
