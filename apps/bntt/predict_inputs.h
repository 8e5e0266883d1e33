#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "bntt/batch.h"
#include "bntt/data/recording.h"
#include "bntt/model.h"

namespace bntt::cli {

/// A sample with the name under which its answer is shown.
struct NamedSample {
  std::string name;
  Batch batch;  ///< of one sample
};

/// The name that stands for frames on standard input.
inline constexpr const char* kStandardInput = "-";

/// What of `names` the model can read: files as they are, of a folder all pictures (or recordings)
/// in it and below, by name. Throws Error for a name that does not exist and for a folder without
/// any.
std::vector<std::filesystem::path> sample_files(const Model& model,
                                                const std::vector<std::string>& names);

/// A picture, or for a model of event recordings a recording, in the model's form. `sensor`, if it
/// is known, replaces that of the model's training and of the file.
NamedSample read_sample(const Model& model, const std::filesystem::path& file,
                        const SensorSize& sensor, uint32_t sample);

/// A recording for a model of event recordings. Warns of one that lasts longer than the model's
/// bins of fixed length.
Recording read_model_recording(const Model& model, const std::filesystem::path& file,
                               const SensorSize& sensor);

/// Samples on standard input, as bytes of the model's size: images [y, x, channel], or counts
/// [frame, y, x, polarity]. One at a time, as they come, until `use` answers true. Throws Error for
/// an input that ends in the middle of a sample.
void read_frames(const Model& model, uint32_t first_sample,
                 const std::function<bool(NamedSample)>& use);

}  // namespace bntt::cli
