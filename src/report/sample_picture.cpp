#include "report/sample_picture.h"

#include <algorithm>
#include <span>
#include <vector>

#include "report/pictures.h"
#include "report/png.h"

namespace bntt {
namespace {

/// counts: [frame, y, x, polarity]
std::vector<uint8_t> added_up(std::span<const uint8_t> counts, int64_t size, int64_t frames) {
  std::vector<uint8_t> sums(static_cast<std::size_t>(size));
  for (int64_t i = 0; i < frames * size; ++i) {
    uint8_t& sum = sums[i % size];
    sum = static_cast<uint8_t>(std::min(255, sum + counts[i]));
  }
  return sums;
}

// Close to the largest count: a few constantly active pixels would hide all others.
uint8_t peak_of(std::vector<uint8_t> counts) {
  std::erase(counts, 0);
  if (counts.empty()) return 1;
  const auto nearly_last = static_cast<std::ptrdiff_t>((counts.size() - 1) * 99 / 100);
  std::ranges::nth_element(counts, counts.begin() + nearly_last);
  return counts[nearly_last];
}

}  // namespace

std::string sample_picture(const ImageSet& set, int64_t sample, int64_t frames) {
  std::vector<uint8_t> scratch;
  const std::span<const uint8_t> bytes = set.sample(sample, scratch);
  if (set.kind == SampleKind::image) return png_data_uri(bytes, set.shape);
  const int64_t size = set.shape.size();
  const Picture picture = event_picture(added_up(bytes, size, frames), set.shape,
                                        peak_of(added_up(bytes, size, set.frames)));
  return png_data_uri(picture.pixels,
                      {.channels = 3, .height = picture.height, .width = picture.width});
}

}  // namespace bntt
