#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/prophesee_files.h"

namespace bntt {

/// The file extensions that parse_recording accepts, in lower case. AEDAT 4 is listed so that it is
/// rejected with a message instead of skipped.
const std::vector<std::string>& recording_extensions();

/// A recording in any supported format. AEDAT is recognised by its first line; otherwise the
/// extension (one of recording_extensions) decides: .bin is N-MNIST's layout, .dat and .raw are
/// Prophesee's. The sensor is `sensor` if that is known, otherwise the one given in the file, and
/// is always known in the result; every event lies inside it. y counts from the top. `origin`
/// starts every error sentence.
Recording parse_recording(std::span<const uint8_t> bytes, const std::string& extension,
                          const SensorSize& sensor, const std::string& origin);

/// A recording as the named data set presents its own: N-MNIST's and DVS128 Gesture's files do not
/// always give their sensor, and the camera of DVS-CIFAR10 lay on its side. For any other name, the
/// result of read_recording.
Recording read_recording_of(std::string_view dataset, const std::filesystem::path& file,
                            const SensorSize& sensor);

/// For a recording that lasts longer than the frames of fixed length in `options`: what is cut off,
/// to be printed after the recording's name.
std::optional<std::string> cut_text(const Recording& recording, const FrameOptions& options);

}  // namespace bntt
