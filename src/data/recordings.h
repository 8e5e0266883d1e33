#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/prophesee_files.h"

namespace bntt {

/// The endings of files that parse_recording may be given, in lower case. AEDAT 4 is among them so
/// that it is refused instead of overlooked.
const std::vector<std::string>& recording_extensions();

/// A recording in any format that is read here. AEDAT is known by its first line; else the ending
/// (one of recording_extensions) decides: .bin is N-MNIST's layout, .dat and .raw are Prophesee's.
/// The sensor is `sensor` where that is known, else what the file says, and is always known in the
/// result; every event lies inside it. y counts from the top. `origin` starts every error sentence.
Recording parse_recording(std::span<const uint8_t> bytes, const std::string& extension,
                          const SensorSize& sensor, const std::string& origin);

}  // namespace bntt
