#include <hwy/base.h>

#include "kernels/bf16_kernels.h"

#if HWY_ARCH_X86
#include <immintrin.h>

#include <algorithm>
#include <array>

#include "kernels/pair_products_avx512bf16.h"

HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx2,fma")
namespace bntt::kernels {
namespace {

constexpr int64_t kTile = WinogradConvolution::kTile;
constexpr int64_t kWindow = WinogradConvolution::kWindow;
constexpr int64_t kPlaces = WinogradConvolution::kPlaces;
constexpr int64_t kLanes = 16;

constexpr float kA = kBf16Points[0];
constexpr float kB = kBf16Points[1];
constexpr float kA2 = kA * kA;
constexpr float kB2 = kB * kB;

inline __m512 multiply_add(float factor, __m512 x, __m512 to) {
  return _mm512_fmadd_ps(_mm512_set1_ps(factor), x, to);
}

/// One column of Bᵀ d.
struct InputTransform {
  static constexpr int64_t kSize = kWindow;

  static inline void apply(const __m512* d, __m512* t) {
    const __m512 even_a = multiply_add(-kB2, d[2], d[4]);
    const __m512 odd_a = multiply_add(-kB2, d[1], d[3]);
    const __m512 even_b = multiply_add(-kA2, d[2], d[4]);
    const __m512 odd_b = multiply_add(-kA2, d[1], d[3]);
    t[0] = multiply_add(kA2 * kB2, d[0], multiply_add(-(kA2 + kB2), d[2], d[4]));
    t[1] = multiply_add(kA, odd_a, even_a);
    t[2] = multiply_add(-kA, odd_a, even_a);
    t[3] = multiply_add(kB, odd_b, even_b);
    t[4] = multiply_add(-kB, odd_b, even_b);
    t[5] = multiply_add(kA2 * kB2, d[1], multiply_add(-(kA2 + kB2), d[3], d[5]));
  }
};

/// One column of A y.
struct GradientTransform {
  static constexpr int64_t kSize = kTile;

  static inline void apply(const __m512* y, __m512* m) {
    const __m512 even_a = multiply_add(kA2, y[2], y[0]);
    const __m512 odd_a = multiply_add(kA2, y[3], y[1]);
    const __m512 even_b = multiply_add(kB2, y[2], y[0]);
    const __m512 odd_b = multiply_add(kB2, y[3], y[1]);
    m[0] = y[0];
    m[1] = multiply_add(kA, odd_a, even_a);
    m[2] = multiply_add(-kA, odd_a, even_a);
    m[3] = multiply_add(kB, odd_b, even_b);
    m[4] = multiply_add(-kB, odd_b, even_b);
    m[5] = y[3];
  }
};

/// One column of Aᵀ m.
inline void output_transform(const __m512* m, __m512* y) {
  const __m512 sum_a = _mm512_add_ps(m[1], m[2]);
  const __m512 difference_a = _mm512_sub_ps(m[1], m[2]);
  const __m512 sum_b = _mm512_add_ps(m[3], m[4]);
  const __m512 difference_b = _mm512_sub_ps(m[3], m[4]);
  y[0] = _mm512_add_ps(_mm512_add_ps(m[0], sum_a), sum_b);
  y[1] = multiply_add(kA, difference_a, _mm512_mul_ps(_mm512_set1_ps(kB), difference_b));
  y[2] = multiply_add(kA2, sum_a, _mm512_mul_ps(_mm512_set1_ps(kB2), sum_b));
  y[3] = multiply_add(kA * kA2, difference_a, multiply_add(kB * kB2, difference_b, m[5]));
}

/// The position of a tile.
struct Place {
  int64_t frame, y, x;

  Place(const WinogradConvolution& convolution, int64_t tile)
      : frame(tile / convolution.tiles_per_frame()),
        y(tile % convolution.tiles_per_frame() / convolution.tile_columns() * kTile),
        x(tile % convolution.tile_columns() * kTile) {}
};

/// Mask of the lanes from channel `first` on that hold an existing channel.
inline __mmask16 mask_of(int64_t first, int64_t channels) {
  const int64_t count = std::clamp<int64_t>(channels - first, 0, kLanes);
  return static_cast<__mmask16>((uint32_t{1} << count) - 1U);
}

/// The pixels of a tile's window; those outside the map are zero without a load.
template <int64_t size>
struct Window {
  std::array<const float*, size * size> pixels;
  uint64_t inside = 0;

  Window(const MapShape& map, int64_t channels, const float* frame, int64_t top, int64_t left) {
    for (int64_t i = 0; i < size; ++i) {
      for (int64_t j = 0; j < size; ++j) {
        const bool there =
            top + i >= 0 && top + i < map.height && left + j >= 0 && left + j < map.width;
        pixels[i * size + j] =
            there ? frame + ((top + i) * map.width + left + j) * channels : frame;
        inside |= static_cast<uint64_t>(there) << (i * size + j);
      }
    }
  }
  inline __m512 load(int64_t pixel, int64_t channel, __mmask16 mask) const {
    const auto there = static_cast<__mmask16>(-static_cast<int32_t>(inside >> pixel & 1U));
    return _mm512_maskz_loadu_ps(static_cast<__mmask16>(mask & there), pixels[pixel] + channel);
  }
};

/// The first half of a transform: columns[place row][column of the window].
template <typename Transform>
inline void transform_columns(const Window<Transform::kSize>& window, int64_t channel,
                              __mmask16 mask, __m512 (&columns)[kWindow][Transform::kSize]) {
  constexpr int64_t size = Transform::kSize;
  for (int64_t j = 0; j < size; ++j) {
    __m512 column[size];
    for (int64_t i = 0; i < size; ++i) column[i] = window.load(i * size + j, channel, mask);
    __m512 result[kWindow];
    Transform::apply(column, result);
    for (int64_t i = 0; i < kWindow; ++i) columns[i][j] = result[i];
  }
}

/// How two vectors of values become pairs: adjacent channels of the first vector followed by those
/// of the second, or the same channel of two tiles.
enum class Pairs { of_channels, of_tiles };

template <Pairs kind>
inline __m512 paired(__m512 first, __m512 second) {
  const auto halves = (__m512i)_mm512_cvtne2ps_pbh(second, first);
  if constexpr (kind == Pairs::of_channels) return _mm512_castsi512_ps(halves);
  const __m512i order = _mm512_or_si512(
      _mm512_cvtepu8_epi32(_mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)),
      _mm512_slli_epi32(_mm512_cvtepu8_epi32(_mm_setr_epi8(16, 17, 18, 19, 20, 21, 22, 23, 24, 25,
                                                           26, 27, 28, 29, 30, 31)),
                        16));
  return _mm512_castsi512_ps(_mm512_permutexvar_epi16(order, halves));
}

/// Writes 36 vectors of pairs, `stride` floats apart, from two windows, or from one window at two
/// vectors of channels. A null second window stands for zeros.
template <typename Transform, Pairs kind>
inline void transform_pair(const Window<Transform::kSize>& first_window, int64_t first_channel,
                           const Window<Transform::kSize>* second_window, int64_t second_channel,
                           int64_t channels, int64_t stride, float* to) {
  constexpr int64_t size = Transform::kSize;
  alignas(64) float first[kPlaces * kLanes];
  __m512 columns[kWindow][size];
  transform_columns<Transform>(first_window, first_channel, mask_of(first_channel, channels),
                               columns);
  for (int64_t i = 0; i < kWindow; ++i) {
    __m512 result[kWindow];
    Transform::apply(columns[i], result);
    for (int64_t j = 0; j < kWindow; ++j) {
      _mm512_store_ps(first + (i * kWindow + j) * kLanes, result[j]);
    }
  }
  if (second_window == nullptr) {
    for (int64_t e = 0; e < kPlaces; ++e) {
      _mm512_storeu_ps(to + e * stride,
                       paired<kind>(_mm512_load_ps(first + e * kLanes), _mm512_setzero_ps()));
    }
    return;
  }
  transform_columns<Transform>(*second_window, second_channel, mask_of(second_channel, channels),
                               columns);
  for (int64_t i = 0; i < kWindow; ++i) {
    __m512 result[kWindow];
    Transform::apply(columns[i], result);
    for (int64_t j = 0; j < kWindow; ++j) {
      const int64_t e = i * kWindow + j;
      _mm512_storeu_ps(to + e * stride,
                       paired<kind>(_mm512_load_ps(first + e * kLanes), result[j]));
    }
  }
}

/// Aᵀ m A of one tile and one vector of channels, to the frame's pixels.
inline void write_tile(const WinogradConvolution& convolution, const Place& place,
                       const float* products, int64_t place_stride, int64_t channel, float* frame) {
  __m512 columns[kTile][kWindow];
  for (int64_t j = 0; j < kWindow; ++j) {
    __m512 column[kWindow];
    for (int64_t i = 0; i < kWindow; ++i) {
      column[i] = _mm512_loadu_ps(products + (i * kWindow + j) * place_stride);
    }
    __m512 result[kTile];
    output_transform(column, result);
    for (int64_t i = 0; i < kTile; ++i) columns[i][j] = result[i];
  }
  const int64_t channels = convolution.output_channels;
  const __mmask16 mask = mask_of(channel, channels);
  const int64_t height = std::min(kTile, convolution.map.height - place.y);
  const int64_t width = std::min(kTile, convolution.map.width - place.x);
  for (int64_t i = 0; i < kTile; ++i) {
    if (i >= height) return;
    __m512 result[kTile];
    output_transform(columns[i], result);
    float* to = frame + ((place.y + i) * convolution.map.width + place.x) * channels + channel;
    for (int64_t j = 0; j < kTile; ++j) {
      if (j < width) _mm512_mask_storeu_ps(to + j * channels, mask, result[j]);
    }
  }
}

void winograd_forward(const WinogradConvolution& convolution, const float* packed_weights,
                      const float* const* inputs, WinogradTiles tiles, float* scratch,
                      float* const* outputs) {
  const int64_t channels = convolution.map.channels;
  const int64_t pairs = input_pairs(convolution);
  const int64_t padded = convolution.padded_inputs() / 2;  // pairs, whole vectors
  const int64_t width = convolution.panel_channels;
  const int64_t rows = tiles.count;
  float* transformed = scratch;                             // [place, tile, pair of in]
  float* products = transformed + kPlaces * rows * padded;  // [place, tile, channel of panel]
  for (int64_t row = 0; row < rows; ++row) {
    const Place place(convolution, tiles.first + row);
    const Window<kWindow> window(convolution.map, channels, inputs[place.frame], place.y - 1,
                                 place.x - 1);
    for (int64_t c = 0; c < channels; c += 2 * kLanes) {
      transform_pair<InputTransform, Pairs::of_channels>(window, c, &window, c + kLanes, channels,
                                                         rows * padded,
                                                         transformed + row * padded + c / 2);
    }
  }
  for (int64_t panel = 0; panel < convolution.panels(); ++panel) {
    for (int64_t e = 0; e < kPlaces; ++e) {
      avx512_multiply_pairs({.rows = rows,
                             .pairs = pairs,
                             .a = transformed + e * rows * padded,
                             .a_row_stride = padded,
                             .a_pair_stride = 1,
                             .b = packed_weights + (panel * kPlaces + e) * pairs * width,
                             .b_stride = width,
                             .c = products + e * rows * width,
                             .c_stride = width});
    }
    for (int64_t row = 0; row < rows; ++row) {
      const Place place(convolution, tiles.first + row);
      for (int64_t v = 0; v < width; v += kLanes) {
        const int64_t channel = panel * width + v;
        if (channel >= convolution.output_channels) break;
        write_tile(convolution, place, products + row * width + v, rows * width, channel,
                   outputs[place.frame]);
      }
    }
  }
}

/// transformed [place, pair of tiles, padded channel].
template <typename Transform>
inline void transform_tile_pairs(const WinogradConvolution& convolution, int64_t channels,
                                 int64_t padded, int64_t border, const float* const* frames,
                                 WinogradTiles tiles, float* transformed) {
  const int64_t pairs = (tiles.count + 1) / 2;
  for (int64_t pair = 0; pair < pairs; ++pair) {
    const int64_t tile = tiles.first + 2 * pair;
    const bool two = 2 * pair + 1 < tiles.count;
    const Place here(convolution, tile);
    const Place there(convolution, two ? tile + 1 : tile);
    const Window<Transform::kSize> first(convolution.map, channels, frames[here.frame],
                                         here.y - border, here.x - border);
    const Window<Transform::kSize> second(convolution.map, channels, frames[there.frame],
                                          there.y - border, there.x - border);
    for (int64_t c = 0; c < padded; c += kLanes) {
      transform_pair<Transform, Pairs::of_tiles>(first, c, two ? &second : nullptr, c, channels,
                                                 pairs * padded, transformed + pair * padded + c);
    }
  }
}

void winograd_weight_gradient(const WinogradConvolution& convolution, const float* const* inputs,
                              const float* const* gradients, WinogradTiles tiles, float* scratch,
                              float* transformed_gradient) {
  const int64_t padded_in = convolution.padded_inputs();
  const int64_t padded_out = convolution.padded_outputs();
  const int64_t pairs = (tiles.count + 1) / 2;
  float* input = scratch;                                 // [place, pair of tiles, padded in]
  float* gradient = input + kPlaces * pairs * padded_in;  // [place, pair of tiles, padded out]
  transform_tile_pairs<InputTransform>(convolution, convolution.map.channels, padded_in, 1, inputs,
                                       tiles, input);
  transform_tile_pairs<GradientTransform>(convolution, convolution.output_channels, padded_out, 0,
                                          gradients, tiles, gradient);
  for (int64_t e = 0; e < kPlaces; ++e) {
    for (int64_t out = 0; out < padded_out; out += convolution.panel_channels) {
      avx512_multiply_pairs({.rows = convolution.map.channels,
                             .pairs = pairs,
                             .a = input + e * pairs * padded_in,
                             .a_row_stride = 1,
                             .a_pair_stride = padded_in,
                             .b = gradient + e * pairs * padded_out + out,
                             .b_stride = padded_out,
                             .c = transformed_gradient + e * padded_in * padded_out + out,
                             .c_stride = padded_out,
                             .accumulate = true});
    }
  }
}

}  // namespace
}  // namespace bntt::kernels
HWY_POP_ATTRIBUTES

namespace bntt::kernels {

Bf16Kernels avx512_bf16_kernels() {
  return {.multiply_pairs = avx512_multiply_pairs,
          .winograd_forward = winograd_forward,
          .winograd_weight_gradient = winograd_weight_gradient,
          .panel = kAvx512PairColumns,
          .native = true};
}

bool has_bf16_instruction() {
  return __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512f");
}

}  // namespace bntt::kernels
#else
namespace bntt::kernels {

Bf16Kernels avx512_bf16_kernels() { return reference_bf16_kernels(); }
bool has_bf16_instruction() { return false; }

}  // namespace bntt::kernels
#endif
