#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numbers>
#include <utility>

#include "kernels/kernel_set.h"
#include "kernels/step_row.h"
#include "kernels/surrogate.h"

// One source, compiled by Highway once per target; the plain reference serves machines below AVX2.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd.cpp"
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace bntt::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = HWY_FULL(float);
using Vector = hn::Vec<Tag>;
using Mask = hn::Mask<Tag>;

/// A vector's worth of channels, or the rest at the end of a row: loads give zero and stores do
/// nothing past the end.
class Channels {
 public:
  Channels(int64_t first, int64_t end)
      : whole_(end - first >= Width()),
        count_(std::min(end - first, Width())),
        mask_(hn::FirstN(Tag(), static_cast<size_t>(count_))) {}

  static int64_t Width() { return static_cast<int64_t>(hn::Lanes(Tag())); }

  Vector Load(const float* from) const {
    return HWY_LIKELY(whole_) ? hn::LoadU(Tag(), from) : hn::MaskedLoad(mask_, Tag(), from);
  }
  void Store(Vector v, float* to) const {
    if (HWY_LIKELY(whole_)) {
      hn::StoreU(v, Tag(), to);
    } else if constexpr (HWY_TARGET == HWY_AVX2) {
      // AMD's cores before Zen 4 take some twenty cycles for AVX2's masked store; this takes as
      // many as it has lanes.
      HWY_ALIGN float lanes[HWY_MAX_BYTES / sizeof(float)];
      hn::Store(v, Tag(), lanes);
      for (int64_t i = 0; i < count_; ++i) to[i] = lanes[i];
    } else {
      hn::BlendedStore(v, mask_, Tag(), to);
    }
  }
  SpikeWord Bits(Mask fired) const {
    uint8_t bytes[8] = {};
    hn::StoreMaskBits(Tag(), hn::And(fired, mask_), bytes);
    SpikeWord bits = 0;
    std::memcpy(&bits, bytes, sizeof bits);
    return bits;
  }

 private:
  bool whole_;
  int64_t count_;
  Mask mask_;
};

/// The affine map of one step for a vector of channels.
struct AffineRow {
  Vector mean, inverse_deviation, gain;

  AffineRow(const StepRow& row, const Channels& channels, int64_t c)
      : mean(channels.Load(row.mean + c)),
        inverse_deviation(channels.Load(row.inverse_deviation + c)),
        gain(channels.Load(row.gain + c)) {}

  Vector Unit(Vector x) const { return hn::Mul(hn::Sub(x, mean), inverse_deviation); }
};

struct VectorDynamics {
  Vector leak, threshold, reset_slope;
  bool hard, reset_before_leak;

  explicit VectorDynamics(const Dynamics& dynamics)
      : leak(hn::Set(Tag(), dynamics.leak)),
        threshold(hn::Set(Tag(), dynamics.threshold)),
        reset_slope(hn::Set(Tag(), dynamics.reset_before_leak ? -dynamics.leak * dynamics.threshold
                                                              : -dynamics.threshold)),
        hard(dynamics.reset == Reset::hard),
        reset_before_leak(dynamics.reset_before_leak) {}

  Mask Fired(Vector v) const { return hn::Gt(v, threshold); }

  Vector Carried(Vector v, Mask fired) const {
    if (hard) return hn::IfThenZeroElse(fired, hn::Mul(leak, v));
    const Vector drop = hn::IfThenElseZero(fired, threshold);
    if (reset_before_leak) return hn::Mul(leak, hn::Sub(v, drop));
    return hn::Sub(hn::Mul(leak, v), drop);
  }

  Vector ResetSlope(Vector v) const { return hard ? hn::Mul(hn::Neg(leak), v) : reset_slope; }
};

void SpikingForwardSimd(const NeuronShape& shape, const Dynamics& dynamics, const Affine& affine,
                        const Currents& currents, const PixelBlock& block, float* carry,
                        SpikeWord* spikes) {
  const VectorDynamics vector_dynamics(dynamics);
  const int64_t channels = shape.channels;
  const int64_t words = shape.words_per_pixel();
  const int64_t pixels = block.end - block.begin;
  const int64_t width = Channels::Width();
  float* block_carry = carry + block.image * shape.frame() + block.begin * channels;
  for (int64_t step = 0; step < shape.steps; ++step) {
    const StepRow row(shape, affine, currents, block, step);
    SpikeWord* block_spikes =
        spikes + ((step * shape.batch + block.image) * shape.pixels + block.begin) * words;
    // A vector of channels for all pixels of the block: its norm stays in registers. The first one
    // of a word sets it.
    for (int64_t c = 0; c < channels; c += width) {
      const Channels lanes(c, channels);
      const AffineRow norm(row, lanes, c);
      SpikeWord* word = block_spikes + c / kSpikesPerWord;
      const int64_t shift = c % kSpikesPerWord;
      for (int64_t p = 0; p < pixels; ++p) {
        float* kept = block_carry + p * channels + c;
        const Vector unit = norm.Unit(lanes.Load(row.current + p * channels + c));
        const Vector v = hn::Add(lanes.Load(kept), hn::Mul(norm.gain, unit));
        const Mask fired = vector_dynamics.Fired(v);
        lanes.Store(vector_dynamics.Carried(v, fired), kept);
        const SpikeWord bits = lanes.Bits(fired) << shift;
        word[p * words] = shift == 0 ? bits : word[p * words] | bits;
      }
    }
  }
}

template <SurrogateKind kind>
Vector Slope(Vector v, Vector threshold, Vector alpha) {
  const Vector distance = hn::Div(hn::Sub(v, threshold), threshold);
  const Vector one = hn::Set(Tag(), 1.0F);
  if constexpr (kind == SurrogateKind::triangle) {
    const Vector height = hn::Sub(one, hn::Abs(distance));
    return hn::IfThenElseZero(hn::Gt(height, hn::Zero(Tag())), hn::Mul(alpha, height));
  } else if constexpr (kind == SurrogateKind::arctan) {
    const Vector scaled = hn::Mul(hn::Set(Tag(), std::numbers::pi_v<float>), distance);
    return hn::Div(alpha, hn::Add(one, hn::Mul(scaled, scaled)));
  } else {
    return hn::IfThenElseZero(hn::Lt(hn::Abs(distance), hn::Set(Tag(), 0.5F)), alpha);
  }
}

template <SurrogateKind kind>
void SpikingBackwardAs(const NeuronShape& shape, const Dynamics& dynamics, const Affine& affine,
                       const Currents& currents, const SpikeGradient& arriving,
                       const PixelBlock& block, float* scratch, float* norm_gradient,
                       const GradientSums& sums) {
  const VectorDynamics vector_dynamics(dynamics);
  const int64_t channels = shape.channels;
  const int64_t pixels = block.end - block.begin;
  const int64_t size = pixels * channels;
  const int64_t width = Channels::Width();
  float* carried_gradient = scratch;  // ∂L/∂c_t = ∂L/∂v_{t+1}
  float* membranes = scratch + size;  // [step, pixel, channel]

  std::fill_n(carried_gradient, size, 0.0F);  // for now the carry itself
  for (int64_t step = 0; step < shape.steps; ++step) {
    const StepRow row(shape, affine, currents, block, step);
    float* membrane = membranes + step * size;
    for (int64_t c = 0; c < channels; c += width) {
      const Channels lanes(c, channels);
      const AffineRow norm(row, lanes, c);
      for (int64_t i = c; i < size; i += channels) {
        const Vector unit = norm.Unit(lanes.Load(row.current + i));
        const Vector v = hn::Add(lanes.Load(carried_gradient + i), hn::Mul(norm.gain, unit));
        lanes.Store(v, membrane + i);
        lanes.Store(vector_dynamics.Carried(v, vector_dynamics.Fired(v)), carried_gradient + i);
      }
    }
  }

  std::array<int64_t, PixelBlock::kMaxPixels> pooled;
  for (int64_t p = 0; p < pixels; ++p) pooled[p] = arriving.pooled_pixel(block.begin + p);
  const Vector pool_scale = hn::Set(Tag(), arriving.pool.scale());
  const Vector alpha = hn::Set(Tag(), dynamics.surrogate.alpha);
  std::fill_n(carried_gradient, size, 0.0F);
  for (int64_t step = shape.steps - 1; step >= 0; --step) {
    const StepRow row(shape, affine, currents, block, step);
    const float* membrane = membranes + step * size;
    const int64_t frame = step * shape.batch + block.image;
    float* out = norm_gradient + (frame * shape.pixels + block.begin) * channels;
    const float* arriving_frame = arriving.data + frame * arriving.pool.pooled().size();
    for (int64_t c = 0; c < channels; c += width) {
      const Channels lanes(c, channels);
      const AffineRow norm(row, lanes, c);
      Vector sum = hn::Zero(Tag());
      Vector sum_unit = hn::Zero(Tag());
      for (int64_t p = 0; p < pixels; ++p) {
        const int64_t i = p * channels + c;
        const Vector v = lanes.Load(membrane + i);
        const Vector carry_gradient = lanes.Load(carried_gradient + i);
        Vector spike_gradient =
            pooled[p] < 0
                ? hn::Zero(Tag())
                : hn::Mul(lanes.Load(arriving_frame + pooled[p] * channels + c), pool_scale);
        if (!dynamics.detach_reset) {
          spike_gradient =
              hn::Add(spike_gradient, hn::Mul(carry_gradient, vector_dynamics.ResetSlope(v)));
        }
        Vector through_carry = hn::Mul(vector_dynamics.leak, carry_gradient);
        if (vector_dynamics.hard) {
          through_carry = hn::IfThenZeroElse(vector_dynamics.Fired(v), through_carry);
        }
        const Vector gradient =
            hn::Add(through_carry,
                    hn::Mul(spike_gradient, Slope<kind>(v, vector_dynamics.threshold, alpha)));
        lanes.Store(gradient, out + i);
        lanes.Store(gradient, carried_gradient + i);
        sum = hn::Add(sum, gradient);
        sum_unit = hn::Add(sum_unit, hn::Mul(gradient, norm.Unit(lanes.Load(row.current + i))));
      }
      float* row_sum = sums.gradient + step * channels + c;
      float* row_sum_unit = sums.gradient_times_unit + step * channels + c;
      lanes.Store(hn::Add(lanes.Load(row_sum), sum), row_sum);
      lanes.Store(hn::Add(lanes.Load(row_sum_unit), sum_unit), row_sum_unit);
    }
  }
}

void SpikingBackwardSimd(const NeuronShape& shape, const Dynamics& dynamics, const Affine& affine,
                         const Currents& currents, const SpikeGradient& arriving,
                         const PixelBlock& block, float* scratch, float* norm_gradient,
                         const GradientSums& sums) {
  SpikingBackward* variant = nullptr;
  switch (dynamics.surrogate.kind) {
    case SurrogateKind::triangle:
      variant = SpikingBackwardAs<SurrogateKind::triangle>;
      break;
    case SurrogateKind::arctan:
      variant = SpikingBackwardAs<SurrogateKind::arctan>;
      break;
    case SurrogateKind::rectangle:
      variant = SpikingBackwardAs<SurrogateKind::rectangle>;
      break;
    // Its exponential is the C library's: no vector form gives the same bits.
    case SurrogateKind::sigmoid:
      variant = reference_kernels().spiking_backward;
      break;
  }
  variant(shape, dynamics, affine, currents, arriving, block, scratch, norm_gradient, sums);
}

void NormBackwardSimd(const NeuronShape& shape, const Affine& affine, const NormGradientRows& rows,
                      const Currents& currents, const PixelBlock& block, float* gradient) {
  const int64_t channels = shape.channels;
  const int64_t size = (block.end - block.begin) * channels;
  const bool constant = currents.step_stride == 0;
  float* block_gradient = gradient + block.image * shape.frame() + block.begin * channels;
  for (int64_t step = 0; step < shape.steps; ++step) {
    const StepRow row(shape, affine, currents, block, step);
    const int64_t r = affine.row(step, block.image) * channels;
    float* at_step = block_gradient + step * shape.batch * shape.frame();
    for (int64_t c = 0; c < channels; c += Channels::Width()) {
      const Channels lanes(c, channels);
      const AffineRow norm(row, lanes, c);
      const Vector scale = lanes.Load(rows.scale + r + c);
      const Vector slope = lanes.Load(rows.slope + r + c);
      const Vector offset = lanes.Load(rows.offset + r + c);
      for (int64_t i = c; i < size; i += channels) {
        const Vector unit = norm.Unit(lanes.Load(row.current + i));
        const Vector scaled = hn::Mul(scale, lanes.Load(at_step + i));
        const Vector x_gradient = hn::Sub(hn::Sub(scaled, hn::Mul(slope, unit)), offset);
        if (constant && step > 0) {
          lanes.Store(hn::Add(lanes.Load(block_gradient + i), x_gradient), block_gradient + i);
        } else {
          lanes.Store(x_gradient, at_step + i);
        }
      }
    }
  }
}

void ChannelMomentsSimd(const float* values, int64_t samples, int64_t channels, float* mean,
                        float* squared_deviations) {
  const int64_t width = Channels::Width();
  HWY_ALIGN float run_sums[HWY_MAX_BYTES / sizeof(float)];
  HWY_ALIGN float run_squares[HWY_MAX_BYTES / sizeof(float)];
  for (int64_t first = 0; first < channels; first += width) {
    const Channels lanes(first, channels);
    const Vector shift = lanes.Load(values + first);
    double sums[HWY_MAX_BYTES / sizeof(float)] = {};
    double squares[HWY_MAX_BYTES / sizeof(float)] = {};
    const int64_t count = std::min(width, channels - first);
    for (int64_t run = 0; run < samples; run += kMomentRun) {
      Vector sum = hn::Zero(Tag());
      Vector square = hn::Zero(Tag());
      for (int64_t s = run; s < std::min(samples, run + kMomentRun); ++s) {
        const Vector deviation = hn::Sub(lanes.Load(values + s * channels + first), shift);
        sum = hn::Add(sum, deviation);
        square = hn::Add(square, hn::Mul(deviation, deviation));
      }
      hn::Store(sum, Tag(), run_sums);
      hn::Store(square, Tag(), run_squares);
      for (int64_t k = 0; k < count; ++k) {
        sums[k] += run_sums[k];
        squares[k] += run_squares[k];
      }
    }
    const auto all = static_cast<double>(samples);
    for (int64_t k = 0; k < count; ++k) {
      mean[first + k] = static_cast<float>(values[first + k] + sums[k] / all);
      squared_deviations[first + k] =
          static_cast<float>(std::max(0.0, squares[k] - sums[k] * sums[k] / all));
    }
  }
}

void AddSpikesSimd(const PooledMap& map, const SpikeWord* words, float weight, float* dense) {
  const MapShape pooled = map.pooled();
  const int64_t channels = map.source.channels;
  const int64_t words_per_pixel = (channels + kSpikesPerWord - 1) / kSpikesPerWord;
  const Vector value = hn::Set(Tag(), weight * map.scale());
  for (int64_t y = 0; y < pooled.height * map.pool_height; ++y) {
    for (int64_t x = 0; x < pooled.width * map.pool_width; ++x) {
      const SpikeWord* pixel = words + (y * map.source.width + x) * words_per_pixel;
      float* out = dense + (y / map.pool_height * pooled.width + x / map.pool_width) * channels;
      for (int64_t c = 0; c < channels; c += Channels::Width()) {
        uint8_t bytes[8] = {};
        const SpikeWord bits = pixel[c / kSpikesPerWord] >> (c % kSpikesPerWord);
        std::memcpy(bytes, &bits, sizeof bits);
        const Channels lanes(c, channels);
        const Mask set = hn::LoadMaskBits(Tag(), bytes);
        lanes.Store(hn::Add(lanes.Load(out + c), hn::IfThenElseZero(set, value)), out + c);
      }
    }
  }
}

/// Sums of `pixels` neighbouring outputs, `vectors` registers each. A spike adds to up to three of
/// them, which keeps as many additions under way as the hardware can; each output still adds its
/// rows in the order of taps, then of the list.
template <int vectors, int pixels>
struct OutputTile {
  Vector sums[pixels][vectors];

  void Clear() {
    for (auto& pixel : sums) {
      for (Vector& sum : pixel) sum = hn::Zero(Tag());
    }
  }

  /// The spikes of the source pixel at `position` (0 lies left of the tile): output o sees it
  /// through tap column position - o of this row of taps.
  template <int position>
  HWY_INLINE void Walk(const int32_t* begin, const int32_t* end, const float* row_weights,
                       int64_t tap_stride, int64_t width) {
    constexpr int kFirst = position < 2 ? 0 : position - 2;
    constexpr int kLast = position < pixels ? position : pixels - 1;
    const int64_t lanes = Channels::Width();
    for (const int32_t* e = begin; e < end; ++e) {
      const float* row = row_weights + *e * width;
      for (int o = kFirst; o <= kLast; ++o) {
        const float* tap_row = row + (position - o) * tap_stride;
        for (int v = 0; v < vectors; ++v) {
          sums[o][v] = hn::Add(sums[o][v], hn::LoadU(Tag(), tap_row + v * lanes));
        }
      }
    }
  }
};

template <int vectors, int pixels>
void SpikeConvForwardAs(const SpikeConvolution& convolution, const SpikePlane& plane,
                        const SpikeLists& by_pixel, const float* packed_weights, bool accumulate,
                        float* output) {
  const MapShape map = convolution.map.pooled();
  const int64_t lanes = Channels::Width();
  const int64_t width = vectors * lanes;
  const int64_t tap_stride = map.channels * width;
  const Vector factor = hn::Set(Tag(), plane.weight * convolution.map.scale());
  for (int64_t block = 0; block < convolution.blocks(); ++block) {
    const float* weights = packed_weights + block * convolution.block_weights();
    for (int64_t row = 0; row < plane.frames * map.height; ++row) {
      const int64_t y = row % map.height;
      for (int64_t x = 0; x < map.width; x += pixels) {
        OutputTile<vectors, pixels> tile;
        tile.Clear();
        for (int64_t ky = y == 0 ? 1 : 0; ky < (y == map.height - 1 ? 2 : 3); ++ky) {
          const float* row_weights = weights + ky * 3 * tap_stride;
          const int64_t first = (row + ky - 1) * map.width + x - 1;
          const auto walk = [&]<int position>(std::integral_constant<int, position>) HWY_ATTR {
            const int64_t from_x = x - 1 + position;
            if (from_x < 0 || from_x >= map.width) return;
            const int32_t* starts = by_pixel.starts + first + position;
            tile.template Walk<position>(by_pixel.entries + starts[0], by_pixel.entries + starts[1],
                                         row_weights, tap_stride, width);
          };
          [&]<int... position>(std::integer_sequence<int, position...>) HWY_ATTR {
            (walk(std::integral_constant<int, position>{}), ...);
          }
          (std::make_integer_sequence<int, pixels + 2>{});
        }
        for (int o = 0; o < pixels && x + o < map.width; ++o) {
          float* out = output + (row * map.width + x + o) * convolution.output_channels;
          for (int v = 0; v < vectors; ++v) {
            const int64_t channel = block * width + v * lanes;
            if (channel >= convolution.output_channels) break;
            const Channels channels(channel, convolution.output_channels);
            Vector result = hn::Mul(factor, tile.sums[o][v]);
            if (accumulate) result = hn::Add(channels.Load(out + channel), result);
            channels.Store(result, out + channel);
          }
        }
      }
    }
  }
}

/// Sums of three neighbouring taps at once: their gradients are neighbours too.
template <int vectors>
void WeightGradientRows(const int32_t* begin, const int32_t* end, const float* bordered,
                        int64_t width, Vector factor, int64_t tap_stride, float* rows) {
  const int64_t lanes = Channels::Width();
  Vector sums[3][vectors];
  for (auto& tap : sums) {
    for (Vector& sum : tap) sum = hn::Zero(Tag());
  }
  for (const int32_t* e = begin; e < end; ++e) {
    const float* right =
        bordered + (*e + 1) * width;  // tap 0 of a row looks one pixel to the right
    for (int tap = 0; tap < 3; ++tap) {
      for (int v = 0; v < vectors; ++v) {
        sums[tap][v] = hn::Add(sums[tap][v], hn::LoadU(Tag(), right - tap * width + v * lanes));
      }
    }
  }
  for (int tap = 0; tap < 3; ++tap) {
    for (int v = 0; v < vectors; ++v) {
      float* row = rows + tap * tap_stride + v * lanes;
      hn::StoreU(hn::Add(hn::LoadU(Tag(), row), hn::Mul(factor, sums[tap][v])), Tag(), row);
    }
  }
}

void SpikeConvWeightGradientSimd(const SpikeConvolution& convolution, const SpikePlane& plane,
                                 const SpikeLists& by_channel, const float* bordered,
                                 float* block_gradient) {
  const int64_t channels = convolution.map.source.channels;
  const int64_t lanes = Channels::Width();
  const int64_t width = convolution.block_channels;
  const int64_t row = convolution.map.pooled().width + 2;
  const Vector factor = hn::Set(Tag(), plane.weight * convolution.map.scale());
  constexpr int64_t kGroup = 4;  // 3 taps x 4 vectors fit the registers of AVX2
  for (int64_t in = 0; in < channels; ++in) {
    const int32_t* begin = by_channel.entries + by_channel.starts[in];
    const int32_t* end = by_channel.entries + by_channel.starts[in + 1];
    if (begin == end) continue;
    for (int64_t ky = 0; ky < 3; ++ky) {
      for (int64_t v = 0; v < width / lanes; v += kGroup) {
        const float* from = bordered + (1 - ky) * row * width + v * lanes;
        float* rows = block_gradient + (ky * 3 * channels + in) * width + v * lanes;
        const int64_t stride = channels * width;
        switch (std::min(kGroup, width / lanes - v)) {
          case 1:
            WeightGradientRows<1>(begin, end, from, width, factor, stride, rows);
            break;
          case 2:
            WeightGradientRows<2>(begin, end, from, width, factor, stride, rows);
            break;
          case 3:
            WeightGradientRows<3>(begin, end, from, width, factor, stride, rows);
            break;
          default:
            WeightGradientRows<4>(begin, end, from, width, factor, stride, rows);
            break;
        }
      }
    }
  }
}

void SpikeConvForwardSimd(const SpikeConvolution& convolution, const SpikePlane& plane,
                          const SpikeLists& by_pixel, const float* packed_weights, bool accumulate,
                          float* output) {
  static_assert(kMaxBlockVectors == 8);
  // Tiles of about a dozen sums: what fits the sixteen registers of AVX2.
  constexpr SpikeConvForward* kBySize[] = {SpikeConvForwardAs<1, 8>, SpikeConvForwardAs<2, 6>,
                                           SpikeConvForwardAs<3, 4>, SpikeConvForwardAs<4, 3>,
                                           SpikeConvForwardAs<5, 2>, SpikeConvForwardAs<6, 2>,
                                           SpikeConvForwardAs<7, 1>, SpikeConvForwardAs<8, 1>};
  kBySize[convolution.block_channels / Channels::Width() - 1](convolution, plane, by_pixel,
                                                              packed_weights, accumulate, output);
}

KernelSet MakeKernelSet() {
  return {.name = "",
          .spiking_forward = SpikingForwardSimd,
          .spiking_backward = SpikingBackwardSimd,
          .norm_backward = NormBackwardSimd,
          .channel_moments = ChannelMomentsSimd,
          .add_spikes = AddSpikesSimd,
          .spike_conv_forward = SpikeConvForwardSimd,
          .spike_conv_weight_gradient = SpikeConvWeightGradientSimd,
          .vector_floats = Channels::Width()};
}

}  // namespace bntt::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bntt::kernels {

HWY_EXPORT(MakeKernelSet);

std::vector<KernelSet> simd_kernels() {
  struct Named {
    int64_t target;
    const char* name;
  };
  std::vector<KernelSet> sets;
  const int64_t supported = hwy::SupportedTargets();
  for (const Named named : {Named{HWY_AVX3, "avx512"}, Named{HWY_AVX2, "avx2"}}) {
    if ((supported & HWY_TARGETS & named.target) == 0) continue;
    hwy::GetChosenTarget().Update(named.target);
    sets.push_back(HWY_DYNAMIC_DISPATCH(MakeKernelSet)());
    sets.back().name = named.name;
  }
  hwy::GetChosenTarget().DeInit();
  return sets;
}

}  // namespace bntt::kernels
#endif
