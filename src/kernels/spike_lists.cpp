#include <algorithm>
#include <bit>

#include "kernels/spike_convolution.h"

namespace bntt::kernels {
namespace {

int64_t words_per_pixel(const PooledMap& map) {
  return (map.source.channels + kSpikesPerWord - 1) / kSpikesPerWord;
}

/// Calls visit(channel) for every set bit of a pixel, in order.
template <typename Visit>
inline void for_each_spike(const SpikeWord* pixel, int64_t words, const Visit& visit) {
  for (int64_t w = 0; w < words; ++w) {
    for (SpikeWord bits = pixel[w]; bits != 0; bits &= bits - 1) {
      visit(static_cast<int32_t>(w * kSpikesPerWord + std::countr_zero(bits)));
    }
  }
}

/// Where the first taps of its class put an input row or column: at the output `place`, counted
/// with the border.
struct ClassPlace {
  int64_t stride;
  int64_t tap_class;
  int64_t place;

  ClassPlace(const ConvGeometry& geometry, const GradientBorder& border)
      : stride(geometry.stride),
        tap_class(geometry.padding % geometry.stride),
        place(geometry.padding / geometry.stride + border.before) {}

  void advance() {
    if (++tap_class < stride) return;
    tap_class = 0;
    ++place;
  }
};

/// Calls visit(class of y · classes + class of x, place in bordered gradients, words of a source
/// pixel), frame by frame, pooled pixel by pooled pixel, for those that outputs see.
template <typename Visit>
inline void for_each_pixel(const SpikeConvolution& convolution, const SpikePlane& plane,
                           const Visit& visit) {
  const PooledMap& map = convolution.map;
  const MapShape pooled = map.pooled();
  const int64_t words = words_per_pixel(map);
  const int64_t classes = tap_classes(convolution.geometry);
  const GradientBorder border = gradient_border(convolution);
  for (int64_t frame = 0; frame < plane.frames; ++frame) {
    const SpikeWord* frame_words = plane.words + frame * map.source.pixels() * words;
    ClassPlace at_y(convolution.geometry, border);
    for (int64_t y = 0; y < pooled.height; ++y, at_y.advance()) {
      if (at_y.tap_class >= classes) continue;
      ClassPlace at_x(convolution.geometry, border);
      for (int64_t x = 0; x < pooled.width; ++x, at_x.advance()) {
        if (at_x.tap_class >= classes) continue;
        const int64_t both = at_y.tap_class * classes + at_x.tap_class;
        const auto place =
            static_cast<int32_t>((frame * border.height + at_y.place) * border.width + at_x.place);
        for (int64_t dy = 0; dy < map.pool_height; ++dy) {
          for (int64_t dx = 0; dx < map.pool_width; ++dx) {
            const int64_t source =
                (y * map.pool_height + dy) * map.source.width + x * map.pool_width + dx;
            visit(both, place, frame_words + source * words);
          }
        }
      }
    }
  }
}

}  // namespace

void list_by_channel(const SpikeConvolution& convolution, const SpikePlane& plane,
                     const SpikeLists& lists) {
  const int64_t words = words_per_pixel(convolution.map);
  const int64_t lists_per_channel =
      tap_classes(convolution.geometry) * tap_classes(convolution.geometry);
  const int64_t count = convolution.map.source.channels * lists_per_channel;
  // Count, turn counts into starts, fill; starts are kept one place ahead while filling.
  std::fill_n(lists.starts, count + 1, 0);
  for_each_pixel(convolution, plane, [&](int64_t of_class, int32_t, const SpikeWord* pixel) {
    int32_t* counts = lists.starts + of_class + 1;
    for_each_spike(pixel, words, [&](int32_t channel) { ++counts[channel * lists_per_channel]; });
  });
  for (int64_t i = 0; i < count; ++i) lists.starts[i + 1] += lists.starts[i];
  for_each_pixel(convolution, plane, [&](int64_t of_class, int32_t place, const SpikeWord* pixel) {
    int32_t* next = lists.starts + of_class;
    for_each_spike(pixel, words, [&](int32_t channel) {
      lists.entries[next[channel * lists_per_channel]++] = place;
    });
  });
  for (int64_t i = count; i > 0; --i) lists.starts[i] = lists.starts[i - 1];
  lists.starts[0] = 0;
}

}  // namespace bntt::kernels
