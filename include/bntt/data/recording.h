#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "bntt/api.h"
#include "bntt/batch.h"
#include "bntt/input_spec.h"

namespace bntt {

struct ModelCard;

/// Pixels of an event camera's sensor; 0x0: unknown.
struct SensorSize {
  int64_t width = 0;   ///< in pixels
  int64_t height = 0;  ///< in pixels

  /// Whether both sides are above 0.
  bool known() const { return width > 0 && height > 0; }
  bool operator==(const SensorSize&) const = default;
};

/// One change of brightness seen by a pixel of an event camera, in the camera's own coordinates.
struct Event {
  int64_t time_us = 0;  ///< without the wrap-around of the file's counter
  int16_t x = 0;        ///< column, from the left
  int16_t y = 0;        ///< row, from the top
  bool on = false;      ///< brighter
  bool operator==(const Event&) const = default;
};

/// Events, and the sensor that recorded them.
struct Recording {
  SensorSize sensor;          ///< whose pixels the events name
  std::vector<Event> events;  ///< in the order of the file
};

/// Reads AEDAT 2.0 and 3.1, EVT 2.0 and 3.0 (.raw), .dat, or N-MNIST's layout (.bin). `sensor` is
/// for files that do not state theirs. y counts from the top. Throws an Error that begins with the
/// file's name, also if only one side of the sensor is given. May be called from several threads,
/// as may all functions here.
BNTT_API Recording read_recording(const std::filesystem::path& file, const SensorSize& sensor = {});

/// Reads a recording as the model of this card read the recordings of its training. The sensor is
/// `sensor` if that is known, otherwise that of the training, otherwise the one stated in the file.
/// Recordings of DVS-CIFAR10 are rotated upright. Throws Error like read_recording.
BNTT_API Recording read_recording_for(const ModelCard& card, const std::filesystem::path& file,
                                      const SensorSize& sensor = {});

/// A recording as one sample for a network that reads maps of this shape, such as
/// model.network().spec().input: the events of each interval are counted, [frame, y, x, polarity].
/// Throws Error for a shape that is not square with two channels, for options out of range, and for
/// a recording without events.
BNTT_API Batch frames_of(const Recording& recording, const MapShape& shape,
                         const FrameOptions& options);

}  // namespace bntt
