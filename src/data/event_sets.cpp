#include "data/event_sets.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
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

/// What is known about a data set's recordings before any of them is read.
struct EventSource {
  std::string dataset;
  Parse parse;
  int64_t side = kDvs128FrameSide;  ///< of the frames, unless the options change it
  SensorTurn turn = SensorTurn::none;
  std::string settings;  ///< what the frames depend on besides files and frame options
  std::vector<std::string> classes;
  FileList train;
  FileList test;
};

struct SourceOptions {
  bool train = true;
  bool test = true;
  SensorSize sensor;
};

/// All recordings of a published set have the same sensor.
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

FileSplit event_split(const EventSource& source, const char* split, FileList list,
                      const DatasetOptions& options) {
  const int64_t side = options.size > 0 ? options.size : source.side;
  const FrameOptions frames = options.events;
  FileSplit result;
  result.files = std::move(list.files);
  result.samples = std::move(list.samples);
  result.form = {.kind = SampleKind::events,
                 .shape = {2, side, side},
                 .frames = frames.frames,
                 .classes = static_cast<int64_t>(source.classes.size()),
                 .pixels = {},
                 .labels = {},
                 .class_names = source.classes};
  result.name = source.dataset + "-" + split;
  const std::string interval = frames.bin_us > 0 ? fmt::format("bins of {} us", frames.bin_us)
                               : frames.interval == Interval::time ? "time"
                                                                   : "count";
  result.settings =
      fmt::format("by {}, {}{}", interval, frames.clip ? "clipped" : "counts", source.settings);
  const auto count = [=, lock = std::make_shared<std::mutex>(), report = options.recording](
                         std::span<const Event> events, const FrameLayout& layout,
                         const std::string& origin, uint8_t* out) {
    const int64_t bins = count_events(events, layout, frames, origin, out);
    if (!report || bins == 0) return;
    const std::lock_guard guard(*lock);
    report(bins);
  };
  result.decode = [=, parse = source.parse, dataset = source.dataset, turn = source.turn](
                      const fs::path& file, std::span<const FileSample> samples,
                      std::span<uint8_t* const> out) {
    const std::string origin = dataset + ": " + file.string();
    const Recording recording = parse(read_file(file, kLargestRecording), file, origin);
    const FrameLayout layout = {.sensor = recording.sensor, .side = side, .turn = turn};
    for (std::size_t i = 0; i < samples.size(); ++i) {
      count(events_of(recording, samples[i]).events, layout, origin, out[i]);
    }
  };
  return result;
}

DatasetSplits read_both(EventSource source, const DatasetOptions& options) {
  const FileSplit train = event_split(source, "train", std::move(source.train), options);
  const FileSplit test = event_split(source, "test", std::move(source.test), options);
  return {.train = read_samples(train, options.limit_train, options),
          .test = read_samples(test, options.limit_test, options)};
}

SourceOptions source_options(const DatasetOptions& options) {
  return {.train = options.need_train, .test = options.need_test, .sensor = options.sensor};
}

std::vector<FilePaths> files_of_classes(const fs::path& directory,
                                        const std::vector<std::string>& classes,
                                        const std::string& extension, const std::string& dataset) {
  std::vector<FilePaths> files;
  files.reserve(classes.size());
  for (const std::string& name : classes) {
    files.push_back(hashed_files(directory / name, {extension}, dataset));
  }
  return files;
}

/// The recordings named in a list, and their labelled segments, in the order of the list. Each
/// recording holds all classes, so any prefix of a few recordings does too.
void add_trials(const fs::path& root, const char* name, FileList& list) {
  for (const fs::path& recording : read_gesture_trials(root / name)) {
    const fs::path labels = gesture_labels_of(recording);
    for (const GestureSpan& span : parse_gesture_labels(read_text(labels, 1 << 20), kGestures,
                                                        "dvs-gesture: " + labels.string())) {
      list.samples.push_back({.file = list.files.size(),
                              .label = span.label,
                              .begin_us = span.begin_us,
                              .end_us = span.end_us});
    }
    list.files.push_back(recording.string());
  }
}

EventSource dvs_cifar10(const fs::path& directory, const SourceOptions& wanted) {
  EventSource source = {.dataset = "dvs-cifar10",
                        .parse = with_sensor(kDvs128Side, parse_aedat2),
                        .turn = SensorTurn::half_and_swap,
                        .settings = "",
                        .classes = {"airplane", "automobile", "bird", "cat", "deer", "dog", "frog",
                                    "horse", "ship", "truck"}};
  FolderSplit files =
      split_tenth(files_of_classes(directory, source.classes, ".aedat", source.dataset));
  if (wanted.train) add_files(interleaved(std::move(files.train)), source.train);
  if (wanted.test) add_files(interleaved(std::move(files.test)), source.test);
  return source;
}

EventSource dvs_gesture(const fs::path& directory, const SourceOptions& wanted) {
  EventSource source = {
      .dataset = "dvs-gesture",
      .parse = with_sensor(kDvs128Side, parse_aedat3),
      .settings = "",
      .classes = {"hand clapping", "right hand wave", "left hand wave", "right arm clockwise",
                  "right arm counter-clockwise", "left arm clockwise", "left arm counter-clockwise",
                  "arm roll", "air drums", "air guitar", "other gestures"}};
  std::error_code ignored;
  const fs::path inner = directory / "DvsGesture";
  const fs::path& root = fs::is_directory(inner, ignored) ? inner : directory;
  if (wanted.train) add_trials(root, "trials_to_train.txt", source.train);
  if (wanted.test) add_trials(root, "trials_to_test.txt", source.test);
  return source;
}

EventSource nmnist(const fs::path& directory, const SourceOptions& wanted) {
  EventSource source = {.dataset = "nmnist",
                        .parse = with_sensor(kNmnistSide, parse_nmnist),
                        .side = kNmnistSide,
                        .settings = "",
                        .classes = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}};
  const auto files = [&](const char* folder) {
    return interleaved(
        files_of_classes(directory / folder, source.classes, ".bin", source.dataset));
  };
  if (wanted.train) add_files(files("Train"), source.train);
  if (wanted.test) add_files(files("Test"), source.test);
  return source;
}

EventSource event_folder(const fs::path& directory, const SourceOptions& wanted) {
  const SensorSize sensor = wanted.sensor;
  EventSource source = {
      .dataset = "event-folder",
      .parse =
          [=](std::span<const uint8_t> bytes, const fs::path& file, const std::string& origin) {
            return parse_recording(bytes, lower_extension(file), sensor, origin);
          },
      .settings = sensor.known() ? fmt::format(", sensor {}x{}", sensor.width, sensor.height) : ""};
  ClassFolders folders = read_class_folders(directory, recording_extensions(), source.dataset);
  source.classes = std::move(folders.names);
  if (wanted.train) add_files(interleaved(std::move(folders.files.train)), source.train);
  if (wanted.test) add_files(interleaved(std::move(folders.files.test)), source.test);
  return source;
}

using Find = EventSource (*)(const fs::path& directory, const SourceOptions& wanted);

const std::vector<std::pair<std::string, Find>>& event_sources() {
  static const std::vector<std::pair<std::string, Find>> sources = {{"dvs-cifar10", dvs_cifar10},
                                                                    {"dvs-gesture", dvs_gesture},
                                                                    {"event-folder", event_folder},
                                                                    {"nmnist", nmnist}};
  return sources;
}

/// Turns the events in the same way as count_events.
void turn_upright(Recording& recording) {
  const SensorSize sensor = recording.sensor;
  for (Event& event : recording.events) {
    const auto column = static_cast<int16_t>(sensor.height - 1 - event.y);
    event.y = static_cast<int16_t>(sensor.width - 1 - event.x);
    event.x = column;
  }
  recording.sensor = {.width = sensor.height, .height = sensor.width};
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
  return read_both(dvs_cifar10(directory, source_options(options)), options);
}

DatasetSplits open_dvs_gesture(const fs::path& directory, const DatasetOptions& options) {
  return read_both(dvs_gesture(directory, source_options(options)), options);
}

DatasetSplits open_nmnist(const fs::path& directory, const DatasetOptions& options) {
  return read_both(nmnist(directory, source_options(options)), options);
}

DatasetSplits open_event_folder(const fs::path& directory, const DatasetOptions& options) {
  return read_both(event_folder(directory, source_options(options)), options);
}

RecordingSets open_recordings(std::string_view name, const fs::path& directory,
                              const SensorSize& sensor) {
  const DatasetInfo& info = dataset_info(name);
  const auto found =
      std::ranges::find(event_sources(), info.name, [](const auto& s) { return s.first; });
  if (found == event_sources().end()) {
    std::vector<std::string> names;
    for (const auto& known : event_sources()) names.push_back(known.first);
    fail("{} holds images, expected a data set of event recordings: {}", info.name,
         fmt::join(names, ", "));
  }
  check_sensor(info, sensor);
  std::error_code ignored;
  if (!fs::is_directory(directory, ignored)) {
    fail("{}: {} is not a directory, expected one with {}", name, directory.string(), info.source);
  }
  EventSource source = found->second(directory, {.sensor = sensor});
  RecordingSets sets{.dataset = source.dataset,
                     .class_names = std::move(source.classes),
                     .train = std::move(source.train),
                     .test = std::move(source.test)};
  sets.read = [parse = source.parse, dataset = source.dataset,
               turn = source.turn](const fs::path& file) {
    const std::string origin = dataset + ": " + file.string();
    Recording recording = parse(read_file(file, kLargestRecording), file, origin);
    if (recording.events.empty()) fail("{} holds no events, expected at least one", origin);
    expect_inside(recording.events, recording.sensor, origin);
    if (turn == SensorTurn::half_and_swap) turn_upright(recording);
    std::ranges::stable_sort(recording.events, {}, &Event::time_us);
    return recording;
  };
  return sets;
}

Recording events_of(const Recording& recording, const FileSample& sample) {
  if (is_whole(sample)) return recording;
  Recording within{.sensor = recording.sensor, .events = {}};
  std::ranges::copy_if(recording.events, std::back_inserter(within.events),
                       [&](const Event& event) {
                         return event.time_us >= sample.begin_us && event.time_us < sample.end_us;
                       });
  return within;
}

std::string recognised_recordings(const fs::path& directory) {
  std::error_code ignored;
  const auto holds = [&](const char* name) { return fs::exists(directory / name, ignored); };
  if (holds("Train/0") && holds("Test/0")) return "nmnist";
  if (holds("trials_to_train.txt") || holds("DvsGesture")) return "dvs-gesture";
  if (holds("airplane") && holds("truck")) return "dvs-cifar10";
  return "";
}

}  // namespace bntt
