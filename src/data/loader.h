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
  std::size_t prefetch = 3;  ///< batches that wait ready
};

/// Augmented batches, epoch after epoch without end, made in the background. A batch is always
/// whole: the rest of an epoch that fills none is dropped. What is delivered depends on the
/// position alone, not on where it started.
class TrainLoader {
 public:
  /// `images` must outlive the loader. Throws Error when the samples do not fill one batch.
  TrainLoader(const ImageSet& images, SampleRange samples, const TrainLoaderOptions& options,
              LoaderPosition start = {});

  int64_t batches_per_epoch() const { return samples_.size() / options_.batch; }

  /// Waits for the next batch. Rethrows what failed in the background.
  Batch next() { return prefetcher_->next(); }

 private:
  Batch make_batch();

  const ImageSet& images_;
  SampleRange samples_;
  TrainLoaderOptions options_;
  // These two belong to the background thread.
  LoaderPosition position_;
  std::vector<int64_t> order_;                   // of position_.epoch
  std::optional<Prefetcher<Batch>> prefetcher_;  // last: it uses all others
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
