#include "input/whole_images.h"

#include "base/fail.h"

namespace bntt {

void expect_whole(const Images& images, const char* what) {
  if (images.count < 1 || images.height < 1 || images.width < 1 || images.channels < 1) {
    fail(
        "{}: {} images of {}x{} pixels and {} channels, expected at least one of at least 1x1 with "
        "at least 1 channel",
        what, images.count, images.height, images.width, images.channels);
  }
  int64_t size = images.count;
  bool overflow = false;
  for (const int64_t extent : {images.height, images.width, images.channels}) {
    overflow = overflow || __builtin_mul_overflow(size, extent, &size);
  }
  if (overflow || std::ssize(images.pixels) != size) {
    fail("{}: {} bytes for {} images of {}x{} pixels and {} channels", what, images.pixels.size(),
         images.count, images.height, images.width, images.channels);
  }
}

}  // namespace bntt
