#include "data/event_sets.h"

#include <algorithm>
#include <functional>
#include <string>
#include <system_error>
#include <vector>

#include "base/fail.h"
#include "base/files.h"
#include "base/text.h"
#include "data/event_frames.h"
#include "data/file_samples.h"
#include "data/recordings.h"

namespace bntt {
namespace fs = std::filesystem;
namespace {

constexpr uint64_t kLargestRecording = uint64_t{1} << 30;
/// The paper's size for DVS-CIFAR10; DVS128 Gesture comes from the same camera.
constexpr int64_t kDvs128FrameSide = 42;

/// The recording in `bytes`, with its sensor.
using Parse = std::function<Recording(std::span<const uint8_t> bytes, const fs::path& file,
                                      const std::string& origin)>;

struct EventFormat {
  std::string dataset;
  Parse parse;
  int64_t side = kDvs128FrameSide;  ///< of the frames, unless the options say otherwise
  SensorTurn turn = SensorTurn::none;
  std::string settings;  ///< what the frames depend on besides files and frame options
};

/// All recordings of a published set come from one sensor.
Parse with_sensor(int64_t side,
                  std::vector<Event> (*parse)(std::span<const uint8_t>, const std::string&)) {
  return [=](std::span<const uint8_t> bytes, const fs::path&, const std::string& origin) {
    return Recording{.sensor = {side, side}, .events = parse(bytes, origin)};
  };
}

bool is_whole(const FileSample& sample) {
  const FileSample whole;
  return sample.begin_us == whole.begin_us && sample.end_us == whole.end_us;
}

FileSplit event_split(const EventFormat& format, const char* split, const DatasetOptions& options,
                      const std::vector<std::string>& class_names) {
  const int64_t side = options.size > 0 ? options.size : format.side;
  const FrameOptions frames = options.events;
  FileSplit result;
  result.form = {.kind = SampleKind::events,
                 .shape = {2, side, side},
                 .frames = frames.frames,
                 .classes = static_cast<int64_t>(class_names.size()),
                 .pixels = {},
                 .labels = {},
                 .class_names = class_names};
  result.name = format.dataset + "-" + split;
  result.settings = fmt::format("by {}, {}{}", frames.interval == Interval::time ? "time" : "count",
                                frames.clip ? "clipped" : "counts", format.settings);
  result.decode = [=](const fs::path& file, std::span<const FileSample> samples,
                      std::span<uint8_t* const> out) {
    const std::string origin = format.dataset + ": " + file.string();
    const Recording recording = format.parse(read_file(file, kLargestRecording), file, origin);
    const FrameLayout layout = {.sensor = recording.sensor, .side = side, .turn = format.turn};
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (is_whole(samples[i])) {
        count_events(recording.events, layout, frames, origin, out[i]);
        continue;
      }
      std::vector<Event> within;
      std::ranges::copy_if(recording.events, std::back_inserter(within), [&](const Event& event) {
        return event.time_us >= samples[i].begin_us && event.time_us < samples[i].end_us;
      });
      count_events(within, layout, frames, origin, out[i]);
    }
  };
  return result;
}

DatasetSplits read_both(const FileSplit& train, const FileSplit& test,
                        const DatasetOptions& options) {
  return {.train = read_samples(train, options.limit_train, options),
          .test = read_samples(test, options.limit_test, options)};
}

std::vector<std::vector<fs::path>> files_of_classes(const fs::path& directory,
                                                    const std::vector<std::string>& classes,
                                                    const std::string& extension,
                                                    const std::string& dataset) {
  std::vector<std::vector<fs::path>> files;
  files.reserve(classes.size());
  for (const std::string& name : classes) {
    files.push_back(hashed_files(directory / name, {extension}, dataset));
  }
  return files;
}

/// The recordings that a list names, and their labelled stretches, in the order of the list. Each
/// recording holds all classes, so any prefix of a few recordings does too.
void add_trials(const fs::path& root, const char* list, FileSplit& split) {
  for (const fs::path& recording : read_gesture_trials(root / list)) {
    const fs::path labels = gesture_labels_of(recording);
    for (const GestureSpan& span : parse_gesture_labels(
             read_text(labels, 1 << 20), split.form.classes, "dvs-gesture: " + labels.string())) {
      split.samples.push_back({.file = split.files.size(),
                               .label = span.label,
                               .begin_us = span.begin_us,
                               .end_us = span.end_us});
    }
    split.files.push_back(recording);
  }
}

}  // namespace

std::vector<fs::path> read_gesture_trials(const fs::path& list) {
  std::vector<fs::path> recordings;
  const std::string text = read_text(list, 1 << 20);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string name = text.substr(begin, end - begin);
    begin = end + 1;
    while (!name.empty() && (name.back() == '\r' || name.back() == ' ')) name.pop_back();
    if (name.empty()) continue;
    if (!name.ends_with(".aedat") || name.find('/') != std::string::npos) {
      fail("dvs-gesture: {} names '{}', expected the name of an .aedat file", list.string(),
           excerpt(name));
    }
    recordings.push_back(list.parent_path() / name);
  }
  return recordings;
}

fs::path gesture_labels_of(const fs::path& recording) {
  return recording.parent_path() / (recording.stem().string() + "_labels.csv");
}

DatasetSplits open_dvs_cifar10(const fs::path& directory, const DatasetOptions& options) {
  const EventFormat format = {.dataset = "dvs-cifar10",
                              .parse = with_sensor(kDvs128Side, parse_aedat2),
                              .turn = SensorTurn::half_and_swap,
                              .settings = ""};
  const std::vector<std::string> classes = {"airplane", "automobile", "bird",  "cat",  "deer",
                                            "dog",      "frog",       "horse", "ship", "truck"};
  FileSplit train = event_split(format, "train", options, classes);
  FileSplit test = event_split(format, "test", options, classes);
  const FolderSplit files =
      split_tenth(files_of_classes(directory, classes, ".aedat", format.dataset));
  if (options.need_train) add_files(interleaved(files.train), train);
  if (options.need_test) add_files(interleaved(files.test), test);
  return read_both(train, test, options);
}

DatasetSplits open_dvs_gesture(const fs::path& directory, const DatasetOptions& options) {
  const EventFormat format = {
      .dataset = "dvs-gesture", .parse = with_sensor(kDvs128Side, parse_aedat3), .settings = ""};
  const std::vector<std::string> classes = {"hand clapping",
                                            "right hand wave",
                                            "left hand wave",
                                            "right arm clockwise",
                                            "right arm counter-clockwise",
                                            "left arm clockwise",
                                            "left arm counter-clockwise",
                                            "arm roll",
                                            "air drums",
                                            "air guitar",
                                            "other gestures"};
  std::error_code ignored;
  const fs::path inner = directory / "DvsGesture";
  const fs::path& root = fs::is_directory(inner, ignored) ? inner : directory;
  FileSplit train = event_split(format, "train", options, classes);
  FileSplit test = event_split(format, "test", options, classes);
  if (options.need_train) add_trials(root, "trials_to_train.txt", train);
  if (options.need_test) add_trials(root, "trials_to_test.txt", test);
  return read_both(train, test, options);
}

DatasetSplits open_nmnist(const fs::path& directory, const DatasetOptions& options) {
  const EventFormat format = {.dataset = "nmnist",
                              .parse = with_sensor(kNmnistSide, parse_nmnist),
                              .side = kNmnistSide,
                              .settings = ""};
  const std::vector<std::string> classes = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
  FileSplit train = event_split(format, "train", options, classes);
  FileSplit test = event_split(format, "test", options, classes);
  const auto add = [&](const char* folder, FileSplit& split) {
    add_files(interleaved(files_of_classes(directory / folder, classes, ".bin", format.dataset)),
              split);
  };
  if (options.need_train) add("Train", train);
  if (options.need_test) add("Test", test);
  return read_both(train, test, options);
}

DatasetSplits open_event_folder(const fs::path& directory, const DatasetOptions& options) {
  const SensorSize sensor = options.sensor;
  const EventFormat format = {
      .dataset = "event-folder",
      .parse =
          [=](std::span<const uint8_t> bytes, const fs::path& file, const std::string& origin) {
            return parse_recording(bytes, lower_extension(file), sensor, origin);
          },
      .settings = sensor.known() ? fmt::format(", sensor {}x{}", sensor.width, sensor.height) : ""};
  const ClassFolders folders =
      read_class_folders(directory, recording_extensions(), format.dataset);
  FileSplit train = event_split(format, "train", options, folders.names);
  FileSplit test = event_split(format, "test", options, folders.names);
  if (options.need_train) add_files(interleaved(folders.files.train), train);
  if (options.need_test) add_files(interleaved(folders.files.test), test);
  return read_both(train, test, options);
}

}  // namespace bntt
