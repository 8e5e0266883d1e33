#include "data/augmentation.h"

#include <algorithm>

#include "base/fail.h"
#include "base/random.h"
#include "bntt/batch.h"

namespace bntt {

void validate(const AugmentationSpec& spec, const MapShape& shape) {
  const int64_t largest = std::min(shape.height, shape.width);
  if (spec.pad < 0 || spec.pad > largest) {
    fail("the augmentation pads by {} pixels, expected 0 to {} for images of {}x{}", spec.pad,
         largest, shape.height, shape.width);
  }
  if (spec.cutout < 0 || spec.cutout > largest) {
    fail("the augmentation cuts out {} pixels, expected 0 to {} for images of {}x{}", spec.cutout,
         largest, shape.height, shape.width);
  }
}

CropFlip draw_crop_flip(const AugmentationSpec& spec, const MapShape& shape, uint64_t seed,
                        uint32_t epoch, uint32_t sample_id) {
  const auto draws = draw4(seed, Purpose::augmentation, {.epoch = epoch, .sample = sample_id});
  const auto places = static_cast<uint32_t>(2 * spec.pad + 1);
  CropFlip crop = {.top = static_cast<int64_t>(uniform_below(draws[0], places)) - spec.pad,
                   .left = static_cast<int64_t>(uniform_below(draws[1], places)) - spec.pad,
                   .flip = spec.flip && uniform_below(draws[2], 2) == 1};
  if (spec.cutout > 0) {
    // The centre of the square may be anywhere in the image.
    const auto middle =
        draw4(seed, Purpose::augmentation, {.epoch = epoch, .sample = sample_id, .block = 1});
    const auto from = [&](uint32_t bits, int64_t extent) {
      return static_cast<int64_t>(uniform_below(bits, static_cast<uint32_t>(extent))) -
             spec.cutout / 2;
    };
    crop.cutout = spec.cutout;
    crop.cutout_top = from(middle[0], shape.height);
    crop.cutout_left = from(middle[1], shape.width);
  }
  return crop;
}

namespace {

/// Calls copy(source pixel, target pixel) for every pixel that comes from the image, and blacks out
/// the others.
template <typename T, typename Copy>
void move_pixels(const uint8_t* image, const MapShape& shape, const CropFlip& crop, T* out,
                 const Copy& copy) {
  const auto in_cutout = [&](int64_t y, int64_t x) {
    return y >= crop.cutout_top && y < crop.cutout_top + crop.cutout && x >= crop.cutout_left &&
           x < crop.cutout_left + crop.cutout;
  };
  for (int64_t y = 0; y < shape.height; ++y) {
    const int64_t source_y = y + crop.top;
    const bool row_inside = source_y >= 0 && source_y < shape.height;
    for (int64_t x = 0; x < shape.width; ++x, out += shape.channels) {
      const int64_t source_x = (crop.flip ? shape.width - 1 - x : x) + crop.left;
      if (!row_inside || source_x < 0 || source_x >= shape.width || in_cutout(y, x)) {
        std::fill_n(out, shape.channels, T{0});
        continue;
      }
      copy(image + (source_y * shape.width + source_x) * shape.channels, out);
    }
  }
}

}  // namespace

void crop_flip(const uint8_t* image, const MapShape& shape, const CropFlip& crop, float* out) {
  move_pixels(image, shape, crop, out, [&](const uint8_t* pixel, float* target) {
    std::transform(pixel, pixel + shape.channels, target, value_of_pixel);
  });
}

void crop_flip(const uint8_t* frame, const MapShape& shape, const CropFlip& crop, uint8_t* out) {
  move_pixels(frame, shape, crop, out, [&](const uint8_t* pixel, uint8_t* target) {
    std::copy_n(pixel, shape.channels, target);
  });
}

}  // namespace bntt
