#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bntt/api.h"
#include "bntt/data/recording.h"
#include "bntt/encoder.h"
#include "bntt/input_spec.h"
#include "bntt/samples.h"
#include "bntt/shape.h"

namespace bntt {

/// Which samples of a data set are read, and in which form.
struct DatasetRequest {
  bool train = true;           ///< read training samples
  bool test = true;            ///< read test samples
  int64_t limit_train = 0;     ///< use only the first samples, up to this number; 0: all
  int64_t limit_test = 0;      ///< the same for test samples
  bool coarse_labels = false;  ///< of CIFAR-100
  int64_t size = 0;            ///< height and width for the network; 0: as in the data set
  Fit fit = Fit::crop;         ///< of pictures in folders
  FrameOptions events;         ///< of recordings
  SensorSize sensor;           ///< of recordings; if unknown, each file gives its own
  /// A directory in which decoded samples are kept for the next time; empty: none.
  std::filesystem::path cache;
  /// Called while samples are decoded: what is decoded, how many are done, and their total. Called
  /// by one thread at a time.
  std::function<void(const std::string& what, int64_t done, int64_t all)> progress;
};

/// How the training samples of a data set are divided, and how they are changed at random.
struct TrainingSplit {
  double validation = 0.1;  ///< share of the samples, the last ones, that are not trained on
  int64_t pad = 4;          ///< largest random shift in pixels; 0: none
  bool flip = true;         ///< mirrors left and right with probability one half
  int64_t cutout = 0;       ///< side of a square blacked out at a random position; 0: none
  uint64_t seed = 1;        ///< of these changes
};

/// Samples of a Dataset, whose memory they share. Several threads may use one object. Moving is
/// copying: an object is never empty.
class BNTT_API DatasetSamples final : public Samples {
 public:
  /// Copies share all memory.
  /// @{
  DatasetSamples(const DatasetSamples&) = default;
  DatasetSamples& operator=(const DatasetSamples&) = default;
  /// @}
  ~DatasetSamples() override = default;

  int64_t size() const override;
  /// Changed at random if they are for training. Throws Error for an index out of range.
  Batch batch(std::span<const int64_t> samples, uint32_t epoch) override;
  /// All samples, unchanged: Model::predict gives the logits of `bntt eval` for test samples.
  Batch all() const;

 private:
  friend class Dataset;
  struct Contents;
  explicit DatasetSamples(Contents contents);

  std::shared_ptr<const Contents> contents_;
};

struct DatasetSplits;

/// The samples of a data set, read from its files. It is immutable: any number of threads may use
/// one object, and copies share its memory, so moving is copying: an object is never empty.
class BNTT_API Dataset {
 public:
  /// Copies share all memory.
  /// @{
  Dataset(const Dataset&) = default;
  Dataset& operator=(const Dataset&) = default;
  /// @}
  ~Dataset() = default;

  /// Reads and checks the files. `name` is one of names(); an empty directory means the data set's
  /// usual one, if it has one. Throws Error for an unknown name, for options that the data set does
  /// not have, and for missing or damaged files.
  static Dataset open(std::string_view name, const std::filesystem::path& directory = {},
                      const DatasetRequest& request = {});
  static std::vector<std::string> names();  ///< of all data sets, as `open` takes them

  bool has_events() const;        ///< recordings as frames of counts; otherwise images
  const MapShape& shape() const;  ///< of an image or of one frame
  int64_t frames() const;         ///< per recording; 1 for images
  int64_t classes() const;        ///< the number of classes
  const std::vector<std::string>& class_names() const;  ///< [class]; empty: unknown
  const ChannelStatistics& normalisation() const;       ///< empty for event data

  /// The samples to train with. Throws Error for options out of range and if no training samples
  /// were read.
  DatasetSamples train(const TrainingSplit& split = {}) const;
  /// Those held back for validation; throws Error like `train`.
  DatasetSamples validation(const TrainingSplit& split = {}) const;
  /// Throws Error if no test samples were read.
  DatasetSamples test() const;

  /// The same samples, with labels renumbered to this class order. For a model whose classes are in
  /// a different order, pass its ModelCard::class_names. Throws Error unless the classes are the
  /// same.
  Dataset with_classes(std::span<const std::string> class_names) const;

 private:
  friend class Settings;
  explicit Dataset(DatasetSplits splits);
  const DatasetSplits& splits() const { return *splits_; }

  std::shared_ptr<const DatasetSplits> splits_;
};

}  // namespace bntt
