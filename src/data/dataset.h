#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "bntt/shape.h"

namespace bntt {

/// Test images are numbered from here, so that no draw for them equals one for a training image.
inline constexpr uint32_t kFirstTestId = 0x80000000U;

/// Images in file order. Image i has the sample id first_id + i.
struct ImageSet {
  MapShape shape;
  int64_t classes = 0;
  std::vector<uint8_t> pixels;  ///< [image, y, x, channel]
  std::vector<int64_t> labels;  ///< [image], each below `classes`
  std::vector<std::string> class_names;
  uint32_t first_id = 0;

  int64_t size() const { return static_cast<int64_t>(labels.size()); }
  const uint8_t* image(int64_t index) const { return pixels.data() + index * shape.size(); }
};

/// Per channel, of pixels in 0..1.
struct ChannelStatistics {
  std::vector<float> mean;
  std::vector<float> deviation;
  bool operator==(const ChannelStatistics&) const = default;
};

struct DatasetSplits {
  ImageSet train;  ///< without images when not needed; shape and classes are always there
  ImageSet test;
  ChannelStatistics normalisation;
};

struct DatasetOptions {
  bool need_train = true;
  bool need_test = true;
  int64_t limit_train = 0;  ///< keeps the first so many images; 0 keeps all
  int64_t limit_test = 0;
};

std::vector<std::string> dataset_names();

/// Mean and deviation of a data set's training pixels. Throws Error for an unknown name.
ChannelStatistics dataset_normalisation(std::string_view name);

/// Reads and validates a data set. An empty directory means the data set's usual place, if it has
/// one. Throws Error, in one sentence, for an unknown name and for missing or damaged files.
DatasetSplits open_dataset(std::string_view name, const std::filesystem::path& directory,
                           const DatasetOptions& options = {});

}  // namespace bntt
