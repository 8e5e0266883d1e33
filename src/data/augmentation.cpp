#include "data/augmentation.h"

#include <algorithm>

#include "base/fail.h"
#include "base/random.h"

namespace bntt {

void validate(const AugmentationSpec& spec, const MapShape& shape) {
  const int64_t largest = std::min(shape.height, shape.width);
  if (spec.pad < 0 || spec.pad > largest) {
    fail("the augmentation pads by {} pixels, expected 0 to {} for images of {}x{}", spec.pad,
         largest, shape.height, shape.width);
  }
}

CropFlip draw_crop_flip(const AugmentationSpec& spec, uint64_t seed, uint32_t epoch,
                        uint32_t sample_id) {
  const auto draws = draw4(seed, Purpose::augmentation, {.epoch = epoch, .sample = sample_id});
  const auto places = static_cast<uint32_t>(2 * spec.pad + 1);
  return {.top = static_cast<int64_t>(uniform_below(draws[0], places)) - spec.pad,
          .left = static_cast<int64_t>(uniform_below(draws[1], places)) - spec.pad,
          .flip = spec.flip && uniform_below(draws[2], 2) == 1};
}

void crop_flip(const uint8_t* image, const MapShape& shape, const CropFlip& crop, float* out) {
  for (int64_t y = 0; y < shape.height; ++y) {
    const int64_t source_y = y + crop.top;
    const bool row_inside = source_y >= 0 && source_y < shape.height;
    for (int64_t x = 0; x < shape.width; ++x, out += shape.channels) {
      const int64_t source_x = (crop.flip ? shape.width - 1 - x : x) + crop.left;
      if (!row_inside || source_x < 0 || source_x >= shape.width) {
        std::fill_n(out, shape.channels, 0.0F);
        continue;
      }
      const uint8_t* pixel = image + (source_y * shape.width + source_x) * shape.channels;
      for (int64_t channel = 0; channel < shape.channels; ++channel) {
        out[channel] = static_cast<float>(pixel[channel]) / 255.0F;
      }
    }
  }
}

}  // namespace bntt
