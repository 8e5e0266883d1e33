#pragma once

#include <cstdint>

#include "bntt/shape.h"

namespace bntt {

struct AugmentationSpec {
  int64_t pad =
      4;  ///< black pixels on each side before a random crop to the old size; 0 for no crop
  bool flip = true;    ///< mirrors left and right with probability one half
  int64_t cutout = 0;  ///< side of a square blacked out at a random position; 0 for none
  bool operator==(const AugmentationSpec&) const = default;
};

/// The position of the crop in the unpadded image (negative: begins in the padding), and whether it
/// is mirrored afterwards.
struct CropFlip {
  int64_t top = 0;
  int64_t left = 0;
  bool flip = false;
  /// The blacked-out square, in the cropped image; it may extend beyond the edge.
  int64_t cutout = 0;
  int64_t cutout_top = 0;
  int64_t cutout_left = 0;
};

/// Throws Error if pad or cutout is negative or larger than the image.
void validate(const AugmentationSpec& spec, const MapShape& shape);

/// A pure function of its arguments.
CropFlip draw_crop_flip(const AugmentationSpec& spec, const MapShape& shape, uint64_t seed,
                        uint32_t epoch, uint32_t sample_id);

/// Converts bytes [y, x, channel] to 0..1 in the same shape.
void crop_flip(const uint8_t* image, const MapShape& shape, const CropFlip& crop, float* out);
/// The same for a frame of event counts, which stay counts.
void crop_flip(const uint8_t* frame, const MapShape& shape, const CropFlip& crop, uint8_t* out);

}  // namespace bntt
