#include "data/recordings.h"

#include <algorithm>

#include "base/enums.h"
#include "base/fail.h"
#include "base/files.h"
#include "base/text.h"
#include "bntt/model.h"
#include "data/class_folders.h"
#include "data/event_bytes.h"
#include "data/event_frames.h"
#include "toml/toml.h"

namespace bntt {
namespace {

/// For example "2.0" for "#!AER-DAT2.0"; empty for other files.
std::string_view aedat_version(std::string_view text) {
  constexpr std::string_view kStart = "#!AER-DAT";
  if (!text.starts_with(kStart)) return {};
  text.remove_prefix(kStart.size());
  return text.substr(0, text.find_first_of("\r\n"));
}

Recording parse_aedat(std::span<const uint8_t> bytes, std::string_view version,
                      const std::string& origin) {
  if (version == "2.0") {
    Recording recording{.sensor = {kDvs128Side, kDvs128Side},
                        .events = parse_aedat2(bytes, origin)};
    // Only this format counts rows from the bottom.
    for (Event& event : recording.events) {
      event.y = static_cast<int16_t>(kDvs128Side - 1 - event.y);
    }
    return recording;
  }
  if (version == "3.1") {
    return {.sensor = aedat3_sensor(bytes), .events = parse_aedat3(bytes, origin)};
  }
  if (version.starts_with('4')) {
    fail("{} is AEDAT 4, which is not supported: export it as AEDAT 3.1", origin);
  }
  fail("{} is AEDAT {}, expected 2.0 or 3.1", origin, excerpt(version));
}

void expect_both_sides(const SensorSize& sensor, const std::filesystem::path& file) {
  if (sensor.known() || sensor == SensorSize{}) return;
  fail("{}: a sensor of {}x{} pixels was given, expected both sides above 0, or neither",
       file.string(), sensor.width, sensor.height);
}

/// The sensor that the settings of a training name; unknown if they name none.
SensorSize sensor_in(const std::string& settings) {
  const Json all = parse_toml(settings, "the model's settings");
  const Json data = all.value("data", Json::object());
  const auto side = [&](const char* name) {
    const auto found = data.find(name);
    return found != data.end() && found->is_number_integer() ? found->get<int64_t>() : 0;
  };
  return {side("sensor_width"), side("sensor_height")};
}

}  // namespace

const std::vector<std::string>& recording_extensions() {
  static const std::vector<std::string> extensions = {".aedat", ".aedat2", ".aedat4",
                                                      ".bin",   ".dat",    ".raw"};
  return extensions;
}

Recording parse_recording(std::span<const uint8_t> bytes, const std::string& extension,
                          const SensorSize& sensor, const std::string& origin) {
  Recording recording;
  const std::string_view text = text_of(bytes);
  const std::string_view version = aedat_version(text);
  if (!version.empty()) {
    recording = parse_aedat(bytes, version, origin);
  } else if (extension == ".bin") {
    recording.events = parse_nmnist(bytes, origin);
  } else if (extension == ".dat") {
    recording = parse_dat(bytes, origin);
  } else if (extension == ".raw") {
    recording = parse_raw(bytes, origin);
  } else {
    fail("{} begins with '{}', expected '#!AER-DAT2.0' or '#!AER-DAT3.1'", origin,
         excerpt(text.substr(0, std::min<std::size_t>(text.size(), 12))));
  }
  if (sensor.known()) recording.sensor = sensor;
  if (!recording.sensor.known()) {
    fail(
        "{} does not say how large its sensor is: set sensor_width and sensor_height "
        "(--sensor-width and --sensor-height of bntt data and bntt predict)",
        origin);
  }
  expect_inside(recording.events, recording.sensor, origin);
  return recording;
}

Recording read_recording(const std::filesystem::path& file, const SensorSize& sensor) {
  expect_both_sides(sensor, file);
  constexpr uint64_t kLargestRecording = uint64_t{1} << 30;
  return parse_recording(read_file(file, kLargestRecording), lower_extension(file), sensor,
                         file.string());
}

Recording read_recording_of(std::string_view dataset, const std::filesystem::path& file,
                            const SensorSize& sensor) {
  SensorSize known = sensor;
  if (!known.known() && dataset == "nmnist") known = {kNmnistSide, kNmnistSide};
  if (!known.known() && dataset == "dvs-gesture") known = {kDvs128Side, kDvs128Side};
  Recording recording = read_recording(file, known);
  const bool of_dvs128 = recording.sensor == SensorSize{kDvs128Side, kDvs128Side};
  if (dataset == "dvs-cifar10" && of_dvs128 && lower_extension(file) == ".aedat") {
    for (Event& event : recording.events) {
      const int16_t column = event.y;
      event.y = static_cast<int16_t>(kDvs128Side - 1 - event.x);
      event.x = column;
    }
  }
  return recording;
}

Recording read_recording_for(const ModelCard& card, const std::filesystem::path& file,
                             const SensorSize& sensor) {
  expect_both_sides(sensor, file);
  const SensorSize known = sensor.known() ? sensor : sensor_in(card.training.settings);
  return read_recording_of(card.training.data, file, known);
}

std::optional<std::string> cut_text(const Recording& recording, const FrameOptions& options) {
  if (options.bin_us == 0 || recording.events.empty()) return std::nullopt;
  const auto [first, last] = std::ranges::minmax_element(recording.events, {}, &Event::time_us);
  // Unsigned, as times in a damaged file may be too far apart: frames_of() rejects those.
  const auto span_us = static_cast<int64_t>(static_cast<uint64_t>(last->time_us) -
                                            static_cast<uint64_t>(first->time_us));
  const int64_t bins = span_us / options.bin_us + 1;
  if (bins <= options.frames) return std::nullopt;
  return fmt::format("lasts {} bins of {} microseconds and is cut to the network's {}", bins,
                     options.bin_us, options.frames);
}

Batch frames_of(const Recording& recording, const MapShape& shape, const FrameOptions& options) {
  if (shape.channels != 2 || shape.height != shape.width || shape.height < 1) {
    fail("recording: frames of {}x{}x{}, expected two channels (off and on) and a square",
         shape.channels, shape.height, shape.width);
  }
  constexpr int64_t kMost = 1 << 16;  // frames, and pixels of a side
  if (options.frames < 1 || options.frames > kMost || shape.height > kMost) {
    fail("recording: {} frames of {}x{} pixels, expected 1 to {} of each", options.frames,
         shape.height, shape.width, kMost);
  }
  expect_enum("recording", "interval", options.interval, "Interval");
  if (options.bin_us < 0) {
    fail("recording: bins of {} microseconds, expected at least 0", options.bin_us);
  }
  if (!recording.sensor.known()) fail("recording: the size of its sensor is not known");
  Batch batch{.sample_ids = {kFirstTestId},
              .labels = {},
              .shape = shape,
              .frames = options.frames,
              .counts = Buffer<uint8_t>(options.frames * shape.size())};
  count_events(recording.events, {.sensor = recording.sensor, .side = shape.height}, options,
               "recording", batch.counts.data());
  return batch;
}

}  // namespace bntt
