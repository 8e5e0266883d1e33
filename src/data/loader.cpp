#include "data/loader.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "base/fail.h"
#include "base/shuffle.h"
#include "data/batch_of.h"

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

/// `scratch` takes a sample that is not in memory.
void append(const ImageSet& images, int64_t index, const CropFlip& crop,
            std::vector<uint8_t>& scratch, Batch& batch) {
  const int64_t size = images.shape.size();
  const uint8_t* sample = images.sample(index, scratch).data();
  if (images.kind == SampleKind::events) {
    uint8_t* counts = batch.counts.data() + batch.size() * images.sample_bytes();
    for (int64_t frame = 0; frame < images.frames; ++frame) {
      crop_flip(sample + frame * size, images.shape, crop, counts + frame * size);
    }
  } else {
    crop_flip(sample, images.shape, crop, batch.images.data() + batch.size() * size);
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

Batch batch_of(const ImageSet& images, std::span<const int64_t> indices,
               const AugmentationDraws* draws) {
  Batch batch = empty_batch(images, std::ssize(indices));
  std::vector<uint8_t> scratch;
  for (const int64_t index : indices) {
    const CropFlip crop = draws == nullptr ? CropFlip{}
                                           : draw_crop_flip(draws->spec, images.shape, draws->seed,
                                                            draws->epoch, sample_id(images, index));
    append(images, index, crop, scratch, batch);
  }
  return batch;
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
    order_ = std::vector<int64_t>();  // freed before the next one is made
  }
  if (order_.empty()) order_ = shuffled(samples_, options_.seed, position_.epoch);
  const auto size = static_cast<std::size_t>(options_.batch);
  const auto indices =
      std::span(order_).subspan(static_cast<std::size_t>(position_.batch) * size, size);
  if (images_.stored != nullptr) images_.stored->begin_reading(indices);
  const AugmentationDraws draws{options_.augmentation, options_.seed, position_.epoch};
  ++position_.batch;
  return batch_of(images_, indices, &draws);
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
  std::vector<int64_t> indices(static_cast<std::size_t>(end - begin));
  std::iota(indices.begin(), indices.end(), begin);
  return batch_of(images_, indices);
}

}  // namespace bntt
