#include "data/loader.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/fail.h"
#include "base/shuffle.h"

namespace bntt {
namespace {

Batch empty_batch(const ImageSet& images, int64_t size) {
  Batch batch;
  batch.shape = images.shape;
  batch.sample_ids.reserve(static_cast<std::size_t>(size));
  batch.labels.reserve(static_cast<std::size_t>(size));
  if (images.kind == SampleKind::events) {
    batch.frames = images.frames;
    batch.counts = Buffer<uint8_t>(size * images.sample_bytes());
  } else {
    batch.images = Buffer<float>(size * images.shape.size());
  }
  return batch;
}

uint32_t sample_id(const ImageSet& images, int64_t index) {
  return images.first_id + static_cast<uint32_t>(index);
}

void append(const ImageSet& images, int64_t index, const CropFlip& crop, Batch& batch) {
  const int64_t size = images.shape.size();
  if (images.kind == SampleKind::events) {
    uint8_t* counts = batch.counts.data() + batch.size() * images.sample_bytes();
    for (int64_t frame = 0; frame < images.frames; ++frame) {
      crop_flip(images.image(index) + frame * size, images.shape, crop, counts + frame * size);
    }
  } else {
    crop_flip(images.image(index), images.shape, crop, batch.images.data() + batch.size() * size);
  }
  batch.sample_ids.push_back(sample_id(images, index));
  batch.labels.push_back(images.labels[index]);
}

bool lies_in(SampleRange samples, const ImageSet& images) {
  return 0 <= samples.begin && samples.begin <= samples.end && samples.end <= images.size();
}

void validate_batch_size(int64_t batch) {
  if (batch < 1) fail("the batch size is {}, expected at least 1", batch);
}

}  // namespace

std::vector<int64_t> shuffled(SampleRange samples, uint64_t seed, uint32_t epoch) {
  return shuffled(samples.begin, samples.end, seed, epoch);
}

TrainLoader::TrainLoader(const ImageSet& images, SampleRange samples,
                         const TrainLoaderOptions& options, LoaderPosition start)
    : images_(images), samples_(samples), options_(options), position_(start) {
  BNTT_CHECK(lies_in(samples, images));
  validate_batch_size(options.batch);
  validate(options.augmentation, images.shape);
  if (samples.size() < options.batch) {
    fail("there are {} training images, expected at least one batch of {}", samples.size(),
         options.batch);
  }
  BNTT_CHECK(options.prefetch >= 1 && start.batch >= 0 && start.batch <= batches_per_epoch());
  prefetcher_.emplace([this] { return make_batch(); }, options.prefetch);
}

Batch TrainLoader::make_batch() {
  if (position_.batch == batches_per_epoch()) {
    position_ = {.epoch = position_.epoch + 1, .batch = 0};
    order_.clear();
  }
  if (order_.empty()) order_ = shuffled(samples_, options_.seed, position_.epoch);
  Batch batch = empty_batch(images_, options_.batch);
  for (int64_t i = 0; i < options_.batch; ++i) {
    const int64_t index = order_[position_.batch * options_.batch + i];
    append(images_, index,
           draw_crop_flip(options_.augmentation, images_.shape, options_.seed, position_.epoch,
                          sample_id(images_, index)),
           batch);
  }
  ++position_.batch;
  return batch;
}

EvalLoader::EvalLoader(const ImageSet& images, SampleRange samples, int64_t batch)
    : images_(images), samples_(samples), batch_(batch) {
  BNTT_CHECK(lies_in(samples, images));
  validate_batch_size(batch);
}

Batch EvalLoader::batch(int64_t index) const {
  BNTT_CHECK(index >= 0 && index < batches());
  const int64_t begin = samples_.begin + index * batch_;
  const int64_t end = std::min(begin + batch_, samples_.end);
  Batch batch = empty_batch(images_, end - begin);
  for (int64_t i = begin; i < end; ++i) append(images_, i, {}, batch);
  return batch;
}

}  // namespace bntt
