#include <algorithm>
#include <array>

#include "kernels/prefetch.h"
#include "kernels/simd_kernels.h"

// One source, compiled by Highway once per target; the plain reference serves the others.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/lee_simd.cpp"
#include "kernels/simd_targets.h"
// After the targets, on which it depends.
#include "kernels/rows-inl.h"
#include "kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bntt::kernels::HWY_NAMESPACE {

/// LeeRule::slope with the same operations in the same order.
HWY_INLINE Vector LeeSlope(const LeeRule& rule, Vector trace, Vector spikes) {
  const Vector one = hn::Set(Tag(), 1.0F);
  const Vector fired = hn::IfThenElseZero(hn::Gt(trace, hn::Set(Tag(), LeeRule::kLeastTrace)), one);
  const Vector damped = hn::Div(hn::Mul(hn::Set(Tag(), rule.log_leak), trace), spikes);
  const Vector slope = hn::Mul(hn::Add(fired, damped), hn::Set(Tag(), rule.height));
  return hn::IfThenElseZero(hn::Ne(spikes, hn::Zero(Tag())), slope);
}

/// Computes the membranes of all steps, then the slopes from the traces and the spike counts.
template <typename Number>
void LeeForwardAgain(const NeuronShape& shape, const Dynamics& dynamics, const LeeRule& rule,
                     const Affine& affine, const Currents& currents, const PixelBlock& block,
                     float* counts, float* slopes, float* membranes) {
  const Vector leak = hn::Set(Tag(), dynamics.leak);
  const Vector fires_above = hn::Set(Tag(), dynamics.fires_above);
  const Vector one = hn::Set(Tag(), 1.0F);
  const int64_t channels = shape.channels;
  const int64_t size = (block.end - block.begin) * channels;
  for (int64_t step = 0; step < shape.steps; ++step) {
    const StepRow row(shape, affine, currents, block, step);
    const auto* current = Stored<Number>(row.current);
    float* membrane = membranes + step * size;
    if (step + 1 < shape.steps) {
      prefetch_row(current + (currents.at_step(step + 1) - currents.at_step(step)), size);
    }
    for (int64_t c = 0; c < channels; c += Channels::Width()) {
      const Channels lanes(c, channels);
      const AffineRow norm(row, lanes, c);
      for (int64_t i = c; i < size; i += channels) {
        Vector carry = hn::Zero(Tag());
        if (step > 0) {
          const Vector before = lanes.Load(membrane - size + i);
          carry = hn::IfThenZeroElse(hn::Gt(before, fires_above), hn::Mul(leak, before));
        }
        const Vector v = norm.AddTo(carry, lanes.Load(current + i));
        const Vector spike = hn::IfThenElseZero(hn::Gt(v, fires_above), one);
        lanes.Store(v, membrane + i);
        lanes.Store(hn::Add(hn::Mul(leak, lanes.Load(slopes + i)), spike), slopes + i);
        lanes.Store(hn::Add(lanes.Load(counts + i), spike), counts + i);
      }
    }
  }
  for (int64_t i = 0; i < size; i += Channels::Width()) {
    const Channels lanes(i, size);
    lanes.Store(LeeSlope(rule, lanes.Load(slopes + i), lanes.Load(counts + i)), slopes + i);
  }
}

template <typename Number>
void LeeBackwardAs(const NeuronShape& shape, const Dynamics& dynamics, const LeeRule& rule,
                   const Affine& affine, const Currents& currents, const SpikeGradient& arriving,
                   const PixelBlock& block, float* scratch, float* norm_gradient,
                   const GradientSums& sums) {
  const int64_t channels = shape.channels;
  const int64_t pixels = block.end - block.begin;
  const int64_t size = pixels * channels;
  float* of_next = scratch;        // first the spike counts, then the gradients of the next spike
  float* slopes = scratch + size;  // first the traces f
  float* membranes = scratch + 2 * size;  // [step, pixel, channel]
  std::fill_n(scratch, 2 * size, 0.0F);
  LeeForwardAgain<Number>(shape, dynamics, rule, affine, currents, block, of_next, slopes,
                          membranes);

  std::array<int64_t, PixelBlock::kMaxPixels> pooled;
  for (int64_t p = 0; p < pixels; ++p) pooled[p] = arriving.pooled_pixel(block.begin + p);
  const Vector pool_scale = hn::Set(Tag(), arriving.pool.scale());
  const Vector fires_above = hn::Set(Tag(), dynamics.fires_above);
  std::fill_n(of_next, size, 0.0F);
  for (int64_t step = shape.steps - 1; step >= 0; --step) {
    const UnitStepRow row(shape, affine, currents, block, step);
    const auto* current = Stored<Number>(row.current);
    const float* membrane = membranes + step * size;
    const int64_t frame = step * shape.batch + block.image;
    float* out = norm_gradient + (frame * shape.pixels + block.begin) * channels;
    const float* arriving_frame = arriving.values.floats + frame * arriving.pool.pooled().size();
    if (step > 0) {
      prefetch_row(current - (currents.at_step(step) - currents.at_step(step - 1)), size);
      prefetch_row(out - shape.batch * shape.frame(), size);
    }
    for (int64_t c = 0; c < channels; c += Channels::Width()) {
      const Channels lanes(c, channels);
      const UnitRow norm(row, lanes, c);
      Vector sum = hn::Zero(Tag());
      Vector sum_unit = hn::Zero(Tag());
      for (int64_t p = 0; p < pixels; ++p) {
        const int64_t i = p * channels + c;
        const Vector spike_gradient =
            pooled[p] < 0
                ? hn::Zero(Tag())
                : hn::Mul(lanes.Load(arriving_frame + pooled[p] * channels + c), pool_scale);
        const Mask fired = hn::Gt(lanes.Load(membrane + i), fires_above);
        const Vector of_spike = hn::Mul(lanes.Load(slopes + i), spike_gradient);
        const Vector gradient = hn::IfThenElse(fired, of_spike, lanes.Load(of_next + i));
        lanes.Store(gradient, out + i);
        lanes.Store(gradient, of_next + i);
        sum = hn::Add(sum, gradient);
        sum_unit = hn::Add(sum_unit, hn::Mul(gradient, norm.Unit(lanes.Load(current + i))));
      }
      float* row_sum = sums.gradient + step * channels + c;
      float* row_sum_unit = sums.gradient_times_unit + step * channels + c;
      lanes.Store(hn::Add(lanes.Load(row_sum), sum), row_sum);
      lanes.Store(hn::Add(lanes.Load(row_sum_unit), sum_unit), row_sum_unit);
    }
  }
}

void LeeBackwardSimd(const NeuronShape& shape, const Dynamics& dynamics, const LeeRule& rule,
                     const Affine& affine, const Currents& currents, const SpikeGradient& arriving,
                     const PixelBlock& block, float* scratch, float* norm_gradient,
                     const GradientSums& sums) {
  LeeBackward* variant =
      currents.halves == nullptr ? LeeBackwardAs<float> : LeeBackwardAs<BFloat16>;
  variant(shape, dynamics, rule, affine, currents, arriving, block, scratch, norm_gradient, sums);
}

void SetLeeKernels(KernelSet& set) { set.lee_backward = LeeBackwardSimd; }

}  // namespace bntt::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bntt::kernels {

HWY_EXPORT(SetLeeKernels);

void set_lee_kernels(KernelSet& set) { HWY_DYNAMIC_DISPATCH(SetLeeKernels)(set); }

}  // namespace bntt::kernels
#endif
