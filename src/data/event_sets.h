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
/// the tenth of each class with the lowest name hashes is the test set.
DatasetSplits open_dvs_cifar10(const std::filesystem::path& directory,
                               const DatasetOptions& options);

/// DVS128 Gesture: AEDAT 3.1 recordings, each with a table of labelled segments, and the lists
/// trials_to_train.txt and trials_to_test.txt. `directory` itself, or its DvsGesture.
DatasetSplits open_dvs_gesture(const std::filesystem::path& directory,
                               const DatasetOptions& options);

inline constexpr int64_t kGestures = 11;

/// The recordings named in trials_to_train.txt or trials_to_test.txt, in the directory of the list.
std::vector<std::filesystem::path> read_gesture_trials(const std::filesystem::path& list);
/// The table of a recording's labelled segments.
std::filesystem::path gesture_labels_of(const std::filesystem::path& recording);

/// N-MNIST: Train and Test, each with a folder of 40-bit event files for each digit.
DatasetSplits open_nmnist(const std::filesystem::path& directory, const DatasetOptions& options);

/// The user's own recordings, one folder per class as found by read_class_folders, in any mix of
/// the formats that parse_recording reads.
DatasetSplits open_event_folder(const std::filesystem::path& directory,
                                const DatasetOptions& options);

/// A data set of event recordings as recorded by the camera, for methods that read events instead
/// of frames. Samples, order and splits are those of open_dataset.
struct RecordingSets {
  std::string dataset;
  std::vector<std::string> class_names;  ///< by label
  FileList train;
  FileList test;
  /// The recording in a file, as open_dataset reads it: upright, every event on the sensor, in
  /// order of time. Throws an Error that names the file, also if it has no events.
  std::function<Recording(const std::filesystem::path& file)> read;
};

/// Throws Error, with one sentence, for an unknown name, a data set of images, a sensor that the
/// data set does not accept, and missing files. Does not read the recordings yet.
RecordingSets open_recordings(std::string_view name, const std::filesystem::path& directory,
                              const SensorSize& sensor = {});

/// The events of a sample: a whole recording, or a segment of it.
Recording events_of(const Recording& recording, const FileSample& sample);

/// The published data set of event recordings that `directory` appears to hold; empty if none.
std::string recognised_recordings(const std::filesystem::path& directory);

}  // namespace bntt
