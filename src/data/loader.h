#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "bntt/batch.h"
#include "data/augmentation.h"
#include "data/dataset.h"
#include "data/prefetcher.h"
#include "data/split.h"

namespace bntt {

/// The order of an epoch, a permutation of `samples`: a pure function of its arguments.
std::vector<int64_t> shuffled(SampleRange samples, uint64_t seed, uint32_t epoch);

/// The next batch to be delivered.
struct LoaderPosition {
  uint32_t epoch = 0;
  int64_t batch = 0;  ///< of the epoch
};

struct TrainLoaderOptions {
  int64_t batch = 64;
  uint64_t seed = 0;
  AugmentationSpec augmentation;
  std::size_t prefetch = 3;  ///< batches prepared in advance
};

/// Augmented batches, epoch after epoch without end, prepared in the background. A batch is always
/// complete: samples at the end of an epoch that do not fill one are dropped. A batch depends only
/// on its position, not on where the loader started.
class TrainLoader {
 public:
  /// `images` must outlive the loader. Throws Error if the samples do not fill one batch.
  TrainLoader(const ImageSet& images, SampleRange samples, const TrainLoaderOptions& options,
              LoaderPosition start = {});

  int64_t batches_per_epoch() const { return samples_.size() / options_.batch; }

  /// Waits for the next batch. Rethrows errors of the background thread.
  Batch next() { return prefetcher_->next(); }

 private:
  Batch make_batch();

  const ImageSet& images_;
  SampleRange samples_;
  TrainLoaderOptions options_;
  // The next two belong to the background thread.
  LoaderPosition position_;
  std::vector<int64_t> order_;                   // of position_.epoch
  std::optional<Prefetcher<Batch>> prefetcher_;  // last: it uses all the others
};

/// Images in file order, unchanged; the last batch may be smaller.
class EvalLoader {
 public:
  /// `images` must outlive the loader.
  EvalLoader(const ImageSet& images, SampleRange samples, int64_t batch);
  EvalLoader(const ImageSet& images, int64_t batch)
      : EvalLoader(images, {0, images.size()}, batch) {}

  int64_t batches() const { return (samples_.size() + batch_ - 1) / batch_; }
  Batch batch(int64_t index) const;

 private:
  const ImageSet& images_;
  SampleRange samples_;
  int64_t batch_;
};

}  // namespace bntt
