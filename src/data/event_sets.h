#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "data/dataset.h"
#include "data/file_samples.h"

namespace bntt {

/// DVS-CIFAR10: a folder of AEDAT 2.0 files for each of the ten classes. It has no official split:
/// of each class, the tenth with the lowest name hashes is the test set.
DatasetSplits open_dvs_cifar10(const std::filesystem::path& directory,
                               const DatasetOptions& options);

/// DVS128 Gesture: AEDAT 3.1 recordings, each with a table of labelled stretches, and the lists
/// trials_to_train.txt and trials_to_test.txt. `directory` itself, or its DvsGesture.
DatasetSplits open_dvs_gesture(const std::filesystem::path& directory,
                               const DatasetOptions& options);

inline constexpr int64_t kGestures = 11;

/// The recordings that trials_to_train.txt or trials_to_test.txt names, beside the list.
std::vector<std::filesystem::path> read_gesture_trials(const std::filesystem::path& list);
/// The table of a recording's labelled stretches.
std::filesystem::path gesture_labels_of(const std::filesystem::path& recording);

/// N-MNIST: Train and Test, each with a folder of 40-bit event files for each digit.
DatasetSplits open_nmnist(const std::filesystem::path& directory, const DatasetOptions& options);

/// The user's own recordings, a folder for each class as read_class_folders finds them; any mix of
/// the formats that parse_recording reads.
DatasetSplits open_event_folder(const std::filesystem::path& directory,
                                const DatasetOptions& options);

/// A data set of event recordings as the camera gave them, for methods that read events and not
/// frames. Samples, order and splits are those of open_dataset.
struct RecordingSets {
  std::string dataset;
  std::vector<std::string> class_names;  ///< by label
  FileList train;
  FileList test;
  /// The recording in a file, as open_dataset shows it: upright, every event on the sensor, in the
  /// order of time. Throws Error, naming the file, also for one without events.
  std::function<Recording(const std::filesystem::path& file)> read;
};

/// Throws Error, in one sentence, for an unknown name, a data set of images, a sensor that the data
/// set does not take, and missing files. Recordings are not read yet.
RecordingSets open_recordings(std::string_view name, const std::filesystem::path& directory,
                              const SensorSize& sensor = {});

/// The events of a sample: all of a recording, or a stretch of it.
Recording events_of(const Recording& recording, const FileSample& sample);

/// The published data set of event recordings that `directory` looks like; empty: none.
std::string recognised_recordings(const std::filesystem::path& directory);

}  // namespace bntt
