#pragma once

#include <filesystem>
#include <vector>

#include "data/dataset.h"

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

}  // namespace bntt
