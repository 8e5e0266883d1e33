#include <algorithm>
#include <array>

#include "kernels/simd_kernels.h"

// One source, compiled by Highway once per target; the plain reference serves the others.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/winograd_simd.cpp"
#include "kernels/simd_targets.h"
// After the targets, on which it depends.
#include "kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bntt::kernels::HWY_NAMESPACE {

constexpr int64_t kTile = WinogradConvolution::kTile;
constexpr int64_t kWindow = WinogradConvolution::kWindow;
constexpr int64_t kPlaces = WinogradConvolution::kPlaces;
constexpr int kPanelVectors = 2;

HWY_INLINE Vector Twice(Vector v) { return hn::Add(v, v); }
HWY_INLINE Vector FourTimes(Vector v) { return Twice(Twice(v)); }

/// One column of Bᵀ d.
HWY_INLINE void InputTransform(const Vector* HWY_RESTRICT d, Vector* HWY_RESTRICT t) {
  const Vector four_d2 = FourTimes(d[2]);
  const Vector four_d1 = FourTimes(d[1]);
  t[0] = hn::Add(hn::Sub(FourTimes(d[0]), hn::Add(four_d2, d[2])), d[4]);
  const Vector even1 = hn::Sub(d[4], four_d2);
  const Vector odd1 = hn::Sub(d[3], four_d1);
  t[1] = hn::Add(even1, odd1);
  t[2] = hn::Sub(even1, odd1);
  const Vector even2 = hn::Sub(d[4], d[2]);
  const Vector odd2 = Twice(hn::Sub(d[3], d[1]));
  t[3] = hn::Add(even2, odd2);
  t[4] = hn::Sub(even2, odd2);
  t[5] = hn::Add(hn::Sub(four_d1, hn::Add(FourTimes(d[3]), d[3])), d[5]);
}

/// One column of Aᵀ m.
HWY_INLINE void OutputTransform(const Vector* HWY_RESTRICT m, Vector* HWY_RESTRICT y) {
  const Vector sum1 = hn::Add(m[1], m[2]);
  const Vector difference1 = hn::Sub(m[1], m[2]);
  const Vector sum2 = hn::Add(m[3], m[4]);
  const Vector difference2 = Twice(hn::Sub(m[3], m[4]));
  y[0] = hn::Add(hn::Add(m[0], sum1), sum2);
  y[1] = hn::Add(difference1, difference2);
  y[2] = hn::Add(sum1, FourTimes(sum2));
  y[3] = hn::Add(hn::Add(difference1, FourTimes(difference2)), m[5]);
}

/// One column of A y, the transpose of the above.
HWY_INLINE void GradientTransform(const Vector* HWY_RESTRICT y, Vector* HWY_RESTRICT m) {
  const Vector even1 = hn::Add(y[0], y[2]);
  const Vector odd1 = hn::Add(y[1], y[3]);
  m[0] = y[0];
  m[1] = hn::Add(even1, odd1);
  m[2] = hn::Sub(even1, odd1);
  const Vector even2 = hn::Add(y[0], FourTimes(y[2]));
  const Vector odd2 = Twice(hn::Add(y[1], FourTimes(y[3])));
  m[3] = hn::Add(even2, odd2);
  m[4] = hn::Sub(even2, odd2);
  m[5] = y[3];
}

/// The position of a tile.
struct Place {
  int64_t frame, y, x;

  Place(const WinogradConvolution& convolution, int64_t tile)
      : frame(tile / convolution.tiles_per_frame()),
        y(tile % convolution.tiles_per_frame() / convolution.tile_columns() * kTile),
        x(tile % convolution.tile_columns() * kTile) {}
};

/// Pixels of a square window; those outside the map point to zeros, so loads need no bounds check.
template <int64_t size>
std::array<const float*, size * size> Window(const MapShape& map, int64_t channels,
                                             const float* frame, int64_t top, int64_t left,
                                             const float* zeros) {
  std::array<const float*, size * size> pixels;
  for (int64_t i = 0; i < size; ++i) {
    for (int64_t j = 0; j < size; ++j) {
      const bool inside =
          top + i >= 0 && top + i < map.height && left + j >= 0 && left + j < map.width;
      pixels[i * size + j] = inside ? frame + ((top + i) * map.width + left + j) * channels : zeros;
    }
  }
  return pixels;
}

/// transformed [place, tile, padded channel] of `size` x `size` windows of the tiles.
template <int64_t size, typename Transform>
HWY_INLINE void TransformTiles(const WinogradConvolution& convolution, int64_t channels,
                               int64_t padded, int64_t border, const float* const* frames,
                               WinogradTiles tiles, int64_t rows, const Transform& transform,
                               float* zeros, float* transformed) {
  const int64_t lanes = Channels::Width();
  std::fill_n(zeros, padded, 0.0F);
  for (int64_t row = 0; row < tiles.count; ++row) {
    const Place place(convolution, tiles.first + row);
    const auto pixels = Window<size>(convolution.map, channels, frames[place.frame],
                                     place.y - border, place.x - border, zeros);
    for (int64_t c = 0; c < padded; c += lanes) {
      Vector columns[kWindow][size];
      for (int64_t j = 0; j < size; ++j) {
        Vector column[size];
        if (HWY_LIKELY(c + lanes <= channels)) {
          for (int64_t i = 0; i < size; ++i) {
            column[i] = hn::LoadU(Tag(), pixels[i * size + j] + c);
          }
        } else {
          const Channels rest(c, channels);
          for (int64_t i = 0; i < size; ++i) column[i] = rest.Load(pixels[i * size + j] + c);
        }
        Vector result[kWindow];
        transform(column, result);
        for (int64_t i = 0; i < kWindow; ++i) columns[i][j] = result[i];
      }
      for (int64_t i = 0; i < kWindow; ++i) {
        Vector result[kWindow];
        transform(columns[i], result);
        for (int64_t j = 0; j < kWindow; ++j) {
          hn::StoreU(result[j], Tag(), transformed + ((i * kWindow + j) * rows + row) * padded + c);
        }
      }
    }
  }
  for (int64_t e = 0; e < kPlaces; ++e) {
    std::fill(transformed + (e * rows + tiles.count) * padded,
              transformed + (e + 1) * rows * padded, 0.0F);
  }
}

/// A matrix read as a[row · row_stride + k · inner_stride].
struct Factor {
  const float* data;
  int64_t row_stride;
  int64_t inner_stride;
};

/// kRows x kPanelVectors sums in registers: c [row, panel] (+)= Σ_k a[row, k] b[k, panel], k in
/// order, by fused multiply-adds.
template <int rows, bool accumulate>
HWY_INLINE void MultiplyTile(int64_t inner, const Factor& a, const float* HWY_RESTRICT b,
                             int64_t b_stride, float* HWY_RESTRICT c, int64_t c_stride) {
  const int64_t lanes = Channels::Width();
  Vector sums[rows][kPanelVectors];
  for (int r = 0; r < rows; ++r) {
    for (int v = 0; v < kPanelVectors; ++v) {
      sums[r][v] = accumulate ? hn::LoadU(Tag(), c + r * c_stride + v * lanes) : hn::Zero(Tag());
    }
  }
  for (int64_t k = 0; k < inner; ++k) {
    Vector factors[kPanelVectors];
    for (int v = 0; v < kPanelVectors; ++v) {
      factors[v] = hn::LoadU(Tag(), b + k * b_stride + v * lanes);
    }
    for (int r = 0; r < rows; ++r) {
      const Vector value = hn::Set(Tag(), a.data[r * a.row_stride + k * a.inner_stride]);
      for (int v = 0; v < kPanelVectors; ++v) {
        sums[r][v] = hn::MulAdd(value, factors[v], sums[r][v]);
      }
    }
  }
  for (int r = 0; r < rows; ++r) {
    for (int v = 0; v < kPanelVectors; ++v) {
      hn::StoreU(sums[r][v], Tag(), c + r * c_stride + v * lanes);
    }
  }
}

// As many sums as the registers hold: sixteen registers of AVX2, thirty-two of AVX-512 and NEON.
constexpr int kTileRows = HWY_TARGET == HWY_AVX2 ? 6 : 12;

void WinogradForwardSimd(const WinogradConvolution& convolution, const float* packed_weights,
                         const float* const* inputs, WinogradTiles tiles, float* scratch,
                         float* const* outputs) {
  const int64_t lanes = Channels::Width();
  const int64_t channels = convolution.map.channels;
  const int64_t padded = convolution.padded_inputs();
  const int64_t width = convolution.panel_channels;
  const int64_t rows = (tiles.count + WinogradConvolution::kRowsTogether - 1) /
                       WinogradConvolution::kRowsTogether * WinogradConvolution::kRowsTogether;
  float* transformed = scratch;                             // [place, tile, padded in]
  float* products = transformed + kPlaces * rows * padded;  // [place, tile, channel of panel]
  float* zeros = products + kPlaces * rows * width;
  TransformTiles<kWindow>(convolution, channels, padded, 1, inputs, tiles, rows, InputTransform,
                          zeros, transformed);
  for (int64_t panel = 0; panel < convolution.panels(); ++panel) {
    for (int64_t e = 0; e < kPlaces; ++e) {
      const float* b = packed_weights + (panel * kPlaces + e) * channels * width;
      for (int64_t row = 0; row < rows; row += kTileRows) {
        MultiplyTile<kTileRows, false>(channels,
                                       {transformed + (e * rows + row) * padded, padded, 1}, b,
                                       width, products + (e * rows + row) * width, width);
      }
    }
    for (int64_t row = 0; row < tiles.count; ++row) {
      const Place place(convolution, tiles.first + row);
      for (int64_t v = 0; v < width; v += lanes) {
        const int64_t channel = panel * width + v;
        if (channel >= convolution.output_channels) break;
        const Channels out(channel, convolution.output_channels);
        Vector columns[kTile][kWindow];
        for (int64_t j = 0; j < kWindow; ++j) {
          Vector column[kWindow];
          for (int64_t i = 0; i < kWindow; ++i) {
            column[i] = hn::LoadU(Tag(), products + ((i * kWindow + j) * rows + row) * width + v);
          }
          Vector result[kTile];
          OutputTransform(column, result);
          for (int64_t i = 0; i < kTile; ++i) columns[i][j] = result[i];
        }
        for (int64_t i = 0; i < std::min(kTile, convolution.map.height - place.y); ++i) {
          Vector result[kTile];
          OutputTransform(columns[i], result);
          float* to =
              outputs[place.frame] +
              ((place.y + i) * convolution.map.width + place.x) * convolution.output_channels +
              channel;
          for (int64_t j = 0; j < std::min(kTile, convolution.map.width - place.x); ++j) {
            out.Store(result[j], to + j * convolution.output_channels);
          }
        }
      }
    }
  }
}

void WinogradWeightGradientSimd(const WinogradConvolution& convolution, const float* const* inputs,
                                const float* const* gradients, WinogradTiles tiles, float* scratch,
                                float* transformed_gradient) {
  const int64_t width = kPanelVectors * Channels::Width();
  const int64_t padded_in = convolution.padded_inputs();
  const int64_t padded_out = convolution.padded_outputs();
  const int64_t rows = tiles.count;
  float* input = scratch;                                // [place, tile, padded in]
  float* gradient = input + kPlaces * rows * padded_in;  // [place, tile, padded out]
  float* zeros = gradient + kPlaces * rows * padded_out;
  TransformTiles<kWindow>(convolution, convolution.map.channels, padded_in, 1, inputs, tiles, rows,
                          InputTransform, zeros, input);
  TransformTiles<kTile>(convolution, convolution.output_channels, padded_out, 0, gradients, tiles,
                        rows, GradientTransform, zeros, gradient);
  for (int64_t e = 0; e < kPlaces; ++e) {
    for (int64_t out = 0; out < padded_out; out += width) {
      const float* b = gradient + e * rows * padded_out + out;
      float* c = transformed_gradient + e * padded_in * padded_out + out;
      int64_t in = 0;
      for (; in + kTileRows <= convolution.map.channels; in += kTileRows) {
        MultiplyTile<kTileRows, true>(rows, {input + e * rows * padded_in + in, 1, padded_in}, b,
                                      padded_out, c + in * padded_out, padded_out);
      }
      for (; in < convolution.map.channels; ++in) {
        MultiplyTile<1, true>(rows, {input + e * rows * padded_in + in, 1, padded_in}, b,
                              padded_out, c + in * padded_out, padded_out);
      }
    }
  }
}

void SetWinogradKernels(KernelSet& set) {
  set.winograd_forward = WinogradForwardSimd;
  set.winograd_weight_gradient = WinogradWeightGradientSimd;
  set.winograd_panel = kPanelVectors * Channels::Width();
}

}  // namespace bntt::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bntt::kernels {

HWY_EXPORT(SetWinogradKernels);

void set_winograd_kernels(KernelSet& set) { HWY_DYNAMIC_DISPATCH(SetWinogradKernels)(set); }

}  // namespace bntt::kernels
#endif
