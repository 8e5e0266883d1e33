#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bntt/input_spec.h"
#include "bntt/shape.h"
#include "data/path_list.h"
#include "data/sensor_size.h"
#include "data/shared_bytes.h"
#include "data/stored_samples.h"

namespace bntt {

enum class SampleKind { image, events };

/// Images, or event recordings as frames of counts, in the fixed order of their data set. Sample i
/// has the id first_id + i.
struct ImageSet {
  SampleKind kind = SampleKind::image;
  MapShape shape;      ///< of one frame
  int64_t frames = 1;  ///< per sample: 1 for images
  int64_t classes = 0;
  SharedBytes pixels;  ///< [sample, frame, y, x, channel]; empty if they stay in files
  std::shared_ptr<const StoredSamples> stored = nullptr;  ///< null if they are in `pixels`
  std::vector<int64_t> labels;                            ///< [sample], each below `classes`
  std::vector<std::string> class_names;
  PathList files;  ///< [sample], if samples are files; otherwise empty
  uint32_t first_id = 0;

  int64_t size() const { return static_cast<int64_t>(labels.size()); }
  int64_t sample_bytes() const { return frames * shape.size(); }
  /// For samples in `pixels`.
  const uint8_t* image(int64_t index) const { return pixels.data() + index * sample_bytes(); }
  /// The bytes of a sample, wherever it is: in `pixels`, or read into `scratch`. Throws Error if
  /// its file is damaged.
  std::span<const uint8_t> sample(int64_t index, std::vector<uint8_t>& scratch) const;
};

struct DatasetSplits {
  ImageSet train;  ///< has no images if not needed, but always shape and classes
  ImageSet test;
  ChannelStatistics normalisation;  ///< empty for event data
};

/// What is known about a data set without its files.
struct DatasetInfo {
  std::string name;
  SampleKind kind = SampleKind::image;
  ChannelStatistics normalisation;  ///< empty: event data, or measured on the training images
  std::string source;               ///< completes "expected one with ..."
  std::string usual_directory;      ///< empty: none
  MapShape shape;                   ///< as passed to a network, unless options change it
  bool resizable = false;           ///< whether DatasetOptions::size may change the shape
  bool fittable = false;            ///< whether images of any size are resized to fit
  bool any_sensor = false;          ///< whether DatasetOptions::sensor may be set
  bool coarse_labels = false;       ///< whether there is a second, coarser set of labels
  int64_t classes = 0;              ///< 0: as many as there are folders
  int64_t train_samples = 0;        ///< when complete; 0: any number
  int64_t test_samples = 0;
};

enum class Labels { fine, coarse };

/// Where decoded samples are kept for reuse.
struct CacheOptions {
  std::filesystem::path directory;            ///< empty: no cache
  uint64_t limit_bytes = uint64_t{32} << 30;  ///< for all sets together, but one may be larger
  uint64_t shard_bytes = uint64_t{1} << 30;   ///< of the samples in one file, about
  uint64_t mapped_bytes = uint64_t{1} << 29;  ///< larger sets are read sample by sample
  bool operator==(const CacheOptions&) const = default;
};

struct DatasetOptions {
  bool need_train = true;
  bool need_test = true;
  int64_t limit_train = 0;  ///< use only the first samples, up to this number; 0: all
  int64_t limit_test = 0;
  Labels labels = Labels::fine;
  int64_t size = 0;  ///< height and width for the network; 0: as in the data set
  Fit fit = Fit::crop;
  FrameOptions events;
  SensorSize sensor;  ///< of event recordings; if unknown, each file gives its own
  CacheOptions cache;
  /// Called while samples are decoded: what is decoded, how many are done, and their total. Called
  /// by one thread at a time.
  std::function<void(const std::string& what, int64_t done, int64_t all)> progress;
  /// Called with one sentence for each file of the cache that is damaged or does not fit, before it
  /// is made again.
  std::function<void(const std::string& sentence)> notice;
  /// Called for each recording that is decoded into bins of fixed length, with its number of bins.
  /// Called by one thread at a time.
  std::function<void(int64_t bins)> recording;
};

std::vector<std::string> dataset_names();

/// Throws Error for an unknown name.
const DatasetInfo& dataset_info(std::string_view name);

/// Throws Error for a sensor that the data set does not accept, or with an impossible side.
void check_sensor(const DatasetInfo& info, const SensorSize& sensor);

/// Mean and deviation of a data set's training pixels. Throws Error for an unknown name, and for a
/// data set whose statistics are not known without its files.
ChannelStatistics dataset_normalisation(std::string_view name);

/// The number of bins of options.events.bin_us in the longest recording of all splits. Reads all of
/// them.
int64_t longest_recording_bins(std::string_view name, const std::filesystem::path& directory,
                               DatasetOptions options);

/// Reads and validates a data set. An empty directory means the data set's usual directory, if it
/// has one. Throws Error, with one sentence, for an unknown name, for options that the data set
/// does not have, and for missing or damaged files.
DatasetSplits open_dataset(std::string_view name, const std::filesystem::path& directory,
                           const DatasetOptions& options = {});

}  // namespace bntt
