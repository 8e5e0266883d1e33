#include <numeric>
#include <optional>
#include <utility>

#include "base/fail.h"
#include "bntt/data/dataset.h"
#include "data/augmentation.h"
#include "data/batch_of.h"
#include "data/class_names.h"
#include "data/dataset.h"
#include "data/split.h"

namespace bntt {

struct DatasetSamples::Contents {
  std::shared_ptr<const DatasetSplits> splits;  // keeps the samples alive
  const ImageSet& set;
  SampleRange range;
  std::optional<AugmentationDraws> draws;  // of any epoch
};

DatasetSamples::DatasetSamples(Contents contents)
    : contents_(std::make_shared<const Contents>(std::move(contents))) {}

int64_t DatasetSamples::size() const { return contents_->range.size(); }

Batch DatasetSamples::batch(std::span<const int64_t> samples, uint32_t epoch) {
  std::vector<int64_t> indices;
  for (const int64_t sample : samples) {
    if (sample < 0 || sample >= size()) {
      fail("samples: sample {} is out of range, expected 0 to {}", sample, size() - 1);
    }
    indices.push_back(contents_->range.begin + sample);
  }
  if (!contents_->draws) return batch_of(contents_->set, indices);
  AugmentationDraws draws = *contents_->draws;
  draws.epoch = epoch;
  return batch_of(contents_->set, indices, &draws);
}

Batch DatasetSamples::all() const {
  std::vector<int64_t> indices(static_cast<std::size_t>(size()));
  std::iota(indices.begin(), indices.end(), contents_->range.begin);
  return batch_of(contents_->set, indices);
}

Dataset::Dataset(DatasetSplits splits)
    : splits_(std::make_shared<const DatasetSplits>(std::move(splits))) {}

Dataset Dataset::open(std::string_view name, const std::filesystem::path& directory,
                      const DatasetRequest& request) {
  return Dataset(open_dataset(name, directory,
                              {.need_train = request.train,
                               .need_test = request.test,
                               .limit_train = request.limit_train,
                               .limit_test = request.limit_test,
                               .labels = request.coarse_labels ? Labels::coarse : Labels::fine,
                               .size = request.size,
                               .fit = request.fit,
                               .events = request.events,
                               .sensor = request.sensor,
                               .cache = {.directory = request.cache},
                               .progress = request.progress}));
}

std::vector<std::string> Dataset::names() { return dataset_names(); }

// Without training samples, their split still has shape and classes.
bool Dataset::has_events() const { return splits_->train.kind == SampleKind::events; }
const MapShape& Dataset::shape() const { return splits_->train.shape; }
int64_t Dataset::frames() const { return splits_->train.frames; }
int64_t Dataset::classes() const { return splits_->train.classes; }
const std::vector<std::string>& Dataset::class_names() const { return splits_->train.class_names; }
const ChannelStatistics& Dataset::normalisation() const { return splits_->normalisation; }

namespace {

AugmentationSpec augmentation_of(const TrainingSplit& split) {
  return {.pad = split.pad, .flip = split.flip, .cutout = split.cutout};
}

Split ranges_of(const ImageSet& set, const TrainingSplit& split) {
  if (set.size() == 0) fail("data set: no training samples were read");
  validate(augmentation_of(split), set.shape);
  return split_training(set.size(), split.validation);
}

}  // namespace

DatasetSamples Dataset::train(const TrainingSplit& split) const {
  const ImageSet& set = splits_->train;
  const AugmentationDraws draws{.spec = augmentation_of(split), .seed = split.seed};
  return DatasetSamples({splits_, set, ranges_of(set, split).train, draws});
}

DatasetSamples Dataset::validation(const TrainingSplit& split) const {
  const ImageSet& set = splits_->train;
  return DatasetSamples({splits_, set, ranges_of(set, split).validation, std::nullopt});
}

DatasetSamples Dataset::test() const {
  const ImageSet& set = splits_->test;
  if (set.size() == 0) fail("data set: no test samples were read");
  return DatasetSamples({splits_, set, {0, set.size()}, std::nullopt});
}

Dataset Dataset::with_classes(std::span<const std::string> class_names) const {
  DatasetSplits splits = *splits_;
  match_classes(splits, class_names, "data set");
  return Dataset(std::move(splits));
}

}  // namespace bntt
