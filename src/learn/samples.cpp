#include "bntt/samples.h"

#include <limits>

#include "base/fail.h"
#include "input/whole_images.h"

namespace bntt {

LabelledImages::LabelledImages(const Images& images, std::span<const int64_t> labels)
    : images_(images), labels_(labels) {
  expect_whole(images, "samples");
  if (images.count > std::numeric_limits<uint32_t>::max()) {
    fail("samples: {} images exceed the largest number of samples", images.count);
  }
  if (std::ssize(labels) != images.count) {
    fail("samples: {} labels for {} images, expected one for each", labels.size(), images.count);
  }
  for (const int64_t label : labels) {
    if (label < 0) fail("samples: a label is {}, expected at least 0", label);
  }
}

Batch LabelledImages::batch(std::span<const int64_t> samples, uint32_t /*epoch*/) {
  const MapShape shape{images_.channels, images_.height, images_.width};
  Batch batch{.shape = shape, .images = Buffer<float>(std::ssize(samples) * shape.size())};
  float* to = batch.images.data();
  for (const int64_t sample : samples) {
    if (sample < 0 || sample >= images_.count) {
      fail("samples: sample {} is out of range, expected 0 to {}", sample, images_.count - 1);
    }
    batch.sample_ids.push_back(static_cast<uint32_t>(sample));
    batch.labels.push_back(labels_[sample]);
    const uint8_t* pixels = images_.pixels.data() + sample * shape.size();
    for (int64_t i = 0; i < shape.size(); ++i) *to++ = value_of_pixel(pixels[i]);
  }
  return batch;
}

}  // namespace bntt
