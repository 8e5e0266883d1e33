#include "convert/calibration.h"

#include <algorithm>

#include "base/fail.h"
#include "data/loader.h"

namespace bntt {
namespace {

template <typename Number>
void append(const Buffer<Number>& from, Buffer<Number>& to) {
  Buffer<Number> longer(to.size() + from.size());
  std::copy(from.begin(), from.end(), std::copy(to.begin(), to.end(), longer.begin()));
  to = std::move(longer);
}

}  // namespace

std::vector<Batch> calibration_batches(const ImageSet& images, SampleRange train, int64_t count,
                                       uint64_t seed, int64_t together) {
  if (count < 1 || count > train.size()) {
    fail("--calibration-images is {}, expected 1 to the {} training images", count, train.size());
  }
  std::vector<Batch> batches;
  TrainLoader loader(images, train,
                     {.batch = 1, .seed = seed, .augmentation = {.pad = 0, .flip = false}});
  for (int64_t i = 0; i < count; ++i) {
    Batch one = loader.next();
    if (i % together == 0) {
      batches.push_back(std::move(one));
      continue;
    }
    Batch& batch = batches.back();
    batch.sample_ids.push_back(one.sample_ids.front());
    batch.labels.push_back(one.labels.front());
    append(one.images, batch.images);
    append(one.counts, batch.counts);
  }
  return batches;
}

}  // namespace bntt
