#include <algorithm>
#include <bit>
#include <type_traits>

#include "kernels/spike_convolution.h"

namespace bntt::kernels {
namespace {

int64_t words_per_pixel(const PooledMap& map) {
  return (map.source.channels + kSpikesPerWord - 1) / kSpikesPerWord;
}

/// The output that the first tap of its class maps an input row or column to, as an index that
/// includes the border.
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

/// Calls visit(class of y · classes + class of x, index in bordered gradients, words of a source
/// pixel), frame by frame and pooled pixel by pooled pixel, for the pixels that outputs see.
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

// The work on the words of one pixel is kept in functions of its own: inlined into the loops over
// pixels, its few values would not stay in registers. `Count` is an integer, or a compile-time
// constant if the compiler should know it.

template <typename Count>
[[gnu::noinline]] void count_spikes_by_channel(const SpikeWord* pixel, int64_t words,
                                               Count lists_per_channel, int32_t* counts) {
  for (int64_t w = 0; w < words; ++w) {
    for (SpikeWord bits = pixel[w]; bits != 0; bits &= bits - 1) {
      const int64_t list = std::countr_zero(bits) * lists_per_channel;
      ++counts[list];
    }
    counts += kSpikesPerWord * lists_per_channel;
  }
}

template <typename Count>
[[gnu::noinline]] void append_to_channels(const SpikeWord* pixel, int64_t words,
                                          Count lists_per_channel, int32_t place, int32_t* next,
                                          int32_t* entries) {
  for (int64_t w = 0; w < words; ++w) {
    for (SpikeWord bits = pixel[w]; bits != 0; bits &= bits - 1) {
      const int64_t list = std::countr_zero(bits) * lists_per_channel;
      entries[next[list]++] = place;
    }
    next += kSpikesPerWord * lists_per_channel;
  }
}

template <typename Count>
void list_by_channel_and_class(const SpikeConvolution& convolution, const SpikePlane& plane,
                               const SpikeLists& lists, Count lists_per_channel) {
  const int64_t words = words_per_pixel(convolution.map);
  const int64_t count = convolution.map.source.channels * lists_per_channel;
  // Count, turn counts into starts, fill; while filling, starts are kept one position ahead.
  std::fill_n(lists.starts, count + 1, 0);
  for_each_pixel(convolution, plane, [&](int64_t of_class, int32_t, const SpikeWord* pixel) {
    count_spikes_by_channel(pixel, words, lists_per_channel, lists.starts + of_class + 1);
  });
  for (int64_t i = 0; i < count; ++i) lists.starts[i + 1] += lists.starts[i];
  for_each_pixel(convolution, plane, [&](int64_t of_class, int32_t place, const SpikeWord* pixel) {
    append_to_channels(pixel, words, lists_per_channel, place, lists.starts + of_class,
                       lists.entries);
  });
  for (int64_t i = count; i > 0; --i) lists.starts[i] = lists.starts[i - 1];
  lists.starts[0] = 0;
}

}  // namespace

void list_by_channel(const SpikeConvolution& convolution, const SpikePlane& plane,
                     const SpikeLists& lists) {
  const int64_t classes = tap_classes(convolution.geometry);
  if (classes == 1) {
    list_by_channel_and_class(convolution, plane, lists, std::integral_constant<int64_t, 1>{});
  } else {
    list_by_channel_and_class(convolution, plane, lists, classes * classes);
  }
}

}  // namespace bntt::kernels
