#include <algorithm>
#include <array>
#include <numbers>

#include "kernels/prefetch.h"
#include "kernels/simd_kernels.h"
#include "kernels/step_row.h"

// One source, compiled by Highway once per target; the plain reference serves the others.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/neuron_simd.cpp"
#include "kernels/simd_targets.h"
// After the targets, on which it depends.
#include "kernels/rows-inl.h"
#include "kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bntt::kernels::HWY_NAMESPACE {

/// The three forms of Dynamics::carried.
enum class Carry { hard, reset_then_leak, leak_then_reset };

Carry CarryOf(const Dynamics& dynamics) {
  if (dynamics.reset == Reset::hard) return Carry::hard;
  return dynamics.reset_before_leak ? Carry::reset_then_leak : Carry::leak_then_reset;
}

/// Dynamics for a vector of neurons: functions of the same names, with the same operations.
template <Carry kind>
struct VectorDynamics {
  Vector leak, threshold, fires_above, alpha, inverse_width, floor, trace_decay;
  bool detach_reset;

  explicit VectorDynamics(const Dynamics& dynamics)
      : leak(hn::Set(Tag(), dynamics.leak)),
        threshold(hn::Set(Tag(), dynamics.threshold)),
        fires_above(hn::Set(Tag(), dynamics.fires_above)),
        alpha(hn::Set(Tag(), dynamics.height)),
        inverse_width(hn::Set(Tag(), dynamics.inverse_width)),
        floor(hn::Set(Tag(), dynamics.floor)),
        trace_decay(hn::Set(Tag(), dynamics.trace_decay)),
        detach_reset(dynamics.detach_reset) {}

  HWY_INLINE Vector Membrane(Vector integrated) const {
    if constexpr (HWY_TARGET == HWY_NEON) {
      return hn::IfThenElse(hn::Gt(floor, integrated), floor, integrated);
    } else {
      // The order of operands matters: if they are equal or one is NaN, x86 returns the second.
      return hn::Max(floor, integrated);
    }
  }

  HWY_INLINE Mask Fires(Vector v) const { return hn::Gt(v, fires_above); }

  HWY_INLINE Vector Carried(Vector v, Mask fired) const {
    if constexpr (kind == Carry::hard) {
      return hn::IfThenZeroElse(fired, hn::Mul(leak, v));
    } else if constexpr (kind == Carry::reset_then_leak) {
      return hn::Mul(leak, hn::Sub(v, hn::IfThenElseZero(fired, threshold)));
    } else {
      return hn::Sub(hn::Mul(leak, v), hn::IfThenElseZero(fired, threshold));
    }
  }

  HWY_INLINE Vector ResetSlope(Vector v) const {
    if constexpr (kind == Carry::hard) {
      return hn::Mul(hn::Neg(leak), v);
    } else if constexpr (kind == Carry::reset_then_leak) {
      return hn::Mul(hn::Neg(leak), threshold);
    } else {
      return hn::Neg(threshold);
    }
  }

  HWY_INLINE Vector NextTrace(Vector trace, Mask fired) const {
    return hn::Mul(hn::IfThenElse(fired, alpha, trace), trace_decay);
  }

  template <SurrogateKind surrogate>
  HWY_INLINE Vector SpikeSlope(Vector v, Vector trace) const {
    if constexpr (surrogate == SurrogateKind::stdb) return trace;
    const Vector distance = hn::Mul(hn::Sub(v, threshold), inverse_width);
    const Vector one = hn::Set(Tag(), 1.0F);
    if constexpr (surrogate == SurrogateKind::triangle) {
      const Vector height = hn::Sub(one, hn::Abs(distance));
      return hn::IfThenElseZero(hn::Gt(height, hn::Zero(Tag())), hn::Mul(alpha, height));
    } else if constexpr (surrogate == SurrogateKind::arctan) {
      const Vector scaled = hn::Mul(hn::Set(Tag(), std::numbers::pi_v<float>), distance);
      return hn::Div(alpha, hn::Add(one, hn::Mul(scaled, scaled)));
    } else {
      static_assert(surrogate == SurrogateKind::rectangle || surrogate == SurrogateKind::stdb);
      return hn::IfThenElseZero(hn::Lt(hn::Abs(distance), hn::Set(Tag(), 0.5F)), alpha);
    }
  }

  template <SurrogateKind surrogate>
  HWY_INLINE Vector MembraneGradient(Vector v, Vector spike_gradient, Vector carry_gradient,
                                     Vector trace) const {
    if (!detach_reset) {
      spike_gradient = hn::Add(spike_gradient, hn::Mul(carry_gradient, ResetSlope(v)));
    }
    const Vector leaked = hn::Mul(leak, carry_gradient);
    const Vector through_carry =
        kind == Carry::hard ? hn::IfThenZeroElse(Fires(v), leaked) : leaked;
    const Vector through_spike = hn::Mul(spike_gradient, SpikeSlope<surrogate>(v, trace));
    return hn::IfThenElseZero(hn::Gt(v, floor), hn::Add(through_carry, through_spike));
  }
};

/// A vector of channels from `c` on, for all pixels. Its norm coefficients stay in registers, and
/// everything else that the loop needs is copied to local variables, because storing a byte may
/// alias anything else.
template <Carry kind, typename Number>
void SpikingStepVector(const Dynamics& dynamics, const NeuronRow& row, int64_t c) {
  const VectorDynamics<kind> vector_dynamics(dynamics);
  const Vector scale = hn::LoadU(Tag(), row.scale + c);
  const Vector shift = hn::LoadU(Tag(), row.shift + c);
  const Number* current = Stored<Number>(row.currents) + c;
  float* carry = row.carry + c;
  uint8_t* spikes = row.spikes + c / 8;
  const int64_t pixels = row.pixels;
  const int64_t current_stride = row.current_stride;
  const int64_t carry_stride = row.carry_stride;
  const int64_t spike_stride = row.spike_stride;
  for (int64_t p = 0; p < pixels; ++p) {
    const Vector before = hn::Add(hn::LoadU(Tag(), carry), shift);
    const Vector v = vector_dynamics.Membrane(hn::MulAdd(LoadWhole(current), scale, before));
    const Mask fired = vector_dynamics.Fires(v);
    hn::StoreU(vector_dynamics.Carried(v, fired), Tag(), carry);
    StoreSpikes(fired, c, spikes);
    current += current_stride;
    carry += carry_stride;
    spikes += spike_stride;
  }
}

/// The remaining channels from `c` on, fewer than a vector.
template <Carry kind, typename Number>
void SpikingStepRest(const Dynamics& dynamics, const NeuronRow& row, int64_t c) {
  const VectorDynamics<kind> vector_dynamics(dynamics);
  const Channels lanes(c, row.channels);
  const Vector scale = lanes.Load(row.scale + c);
  const Vector shift = lanes.Load(row.shift + c);
  const int64_t shift_in_byte = c % 8;  // not zero: the vector before it shares its byte
  const int64_t bytes = (row.channels - c + shift_in_byte + 7) / 8;
  for (int64_t p = 0; p < row.pixels; ++p) {
    float* carry = row.carry + p * row.carry_stride + c;
    const Vector current = lanes.Load(Stored<Number>(row.currents) + p * row.current_stride + c);
    const Vector v =
        vector_dynamics.Membrane(hn::MulAdd(current, scale, hn::Add(lanes.Load(carry), shift)));
    const Mask fired = vector_dynamics.Fires(v);
    lanes.Store(vector_dynamics.Carried(v, fired), carry);
    uint8_t* spikes = row.spikes + p * row.spike_stride + c / 8;
    SpikeWord bits = lanes.Bits(fired) << shift_in_byte;
    if (shift_in_byte != 0) bits |= *spikes;
    std::memcpy(spikes, &bits, static_cast<size_t>(bytes));
  }
}

template <Carry kind, typename Number>
void SpikingStepAs(const Dynamics& dynamics, const NeuronRow& row) {
  const int64_t width = Channels::Width();
  int64_t c = 0;
  for (; c + width <= row.channels; c += width) SpikingStepVector<kind, Number>(dynamics, row, c);
  if (c < row.channels) SpikingStepRest<kind, Number>(dynamics, row, c);
}

void SpikingStepSimd(const Dynamics& dynamics, const NeuronRow& row) {
  constexpr SpikingStep* kVariants[3][2] = {
      {SpikingStepAs<Carry::hard, float>, SpikingStepAs<Carry::hard, BFloat16>},
      {SpikingStepAs<Carry::reset_then_leak, float>,
       SpikingStepAs<Carry::reset_then_leak, BFloat16>},
      {SpikingStepAs<Carry::leak_then_reset, float>,
       SpikingStepAs<Carry::leak_then_reset, BFloat16>}};
  kVariants[static_cast<int>(CarryOf(dynamics))][row.currents.halves != nullptr](dynamics, row);
}

/// `Number` is the type of the currents, `Gradient` that of the gradients: floats or halves.
template <SurrogateKind surrogate, Carry kind, typename Number, typename Gradient>
void SpikingBackwardAs(const NeuronShape& shape, const Dynamics& dynamics, const Affine& affine,
                       const Currents& currents, const SpikeGradient& arriving,
                       const PixelBlock& block, float* scratch, GradientPlace norm_gradient,
                       const GradientSums& sums) {
  const VectorDynamics<kind> vector_dynamics(dynamics);
  const int64_t channels = shape.channels;
  const int64_t pixels = block.end - block.begin;
  const int64_t size = pixels * channels;
  const int64_t width = Channels::Width();
  float* carried_gradient = scratch;  // ∂L/∂c_t = ∂L/∂v_{t+1}
  float* membranes = scratch + size;  // [step, pixel, channel]
  constexpr bool kTraced = surrogate == SurrogateKind::stdb;
  float* traces = membranes + shape.steps * size;  // [step, pixel, channel], if needed

  std::fill_n(carried_gradient, size, 0.0F);  // holds the carry during the forward steps
  if constexpr (kTraced) std::fill_n(traces, size, dynamics.first_trace());
  for (int64_t step = 0; step < shape.steps; ++step) {
    const StepRow row(shape, affine, currents, block, step);
    const auto* current = Stored<Number>(row.current);
    float* membrane = membranes + step * size;
    if (step + 1 < shape.steps) {
      prefetch_row(current + (currents.at_step(step + 1) - currents.at_step(step)), size);
    }
    for (int64_t c = 0; c < channels; c += width) {
      const Channels lanes(c, channels);
      const AffineRow norm(row, lanes, c);
      for (int64_t i = c; i < size; i += channels) {
        const Vector v = vector_dynamics.Membrane(
            norm.AddTo(lanes.Load(carried_gradient + i), lanes.Load(current + i)));
        const Mask fired = vector_dynamics.Fires(v);
        lanes.Store(v, membrane + i);
        lanes.Store(vector_dynamics.Carried(v, fired), carried_gradient + i);
        if constexpr (kTraced) {
          if (step + 1 == shape.steps) continue;
          float* trace = traces + step * size + i;
          lanes.Store(vector_dynamics.NextTrace(lanes.Load(trace), fired), trace + size);
        }
      }
    }
  }

  std::array<int64_t, PixelBlock::kMaxPixels> pooled;
  for (int64_t p = 0; p < pixels; ++p) pooled[p] = arriving.pooled_pixel(block.begin + p);
  const Vector pool_scale = hn::Set(Tag(), arriving.pool.scale());
  const int64_t pool_area = arriving.pool.pool_height * arriving.pool.pool_width;
  const bool in_place = arriving.values == norm_gradient.view();
  std::fill_n(carried_gradient, size, 0.0F);
  for (int64_t step = shape.steps - 1; step >= 0; --step) {
    const UnitStepRow row(shape, affine, currents, block, step);
    const auto* current = Stored<Number>(row.current);
    const float* membrane = membranes + step * size;
    const int64_t frame = step * shape.batch + block.image;
    Gradient* out =
        Stored<Gradient>(norm_gradient) + (frame * shape.pixels + block.begin) * channels;
    const int64_t arriving_size = arriving.pool.pooled().size();
    const Gradient* arriving_frame = Stored<Gradient>(arriving.values) + frame * arriving_size;
    if (step > 0) {
      prefetch_row(current - (currents.at_step(step) - currents.at_step(step - 1)), size);
      prefetch_row(out - shape.batch * shape.frame(), size);
      if (!in_place) {
        const int64_t first = std::max<int64_t>(0, pooled[0]) * channels;
        prefetch_row(arriving_frame - shape.batch * arriving_size + first, size / pool_area);
      }
    }
    for (int64_t c = 0; c < channels; c += width) {
      const Channels lanes(c, channels);
      const UnitRow norm(row, lanes, c);
      Vector sum = hn::Zero(Tag());
      Vector sum_unit = hn::Zero(Tag());
      for (int64_t p = 0; p < pixels; ++p) {
        const int64_t i = p * channels + c;
        const Vector v = lanes.Load(membrane + i);
        const Vector carry_gradient = lanes.Load(carried_gradient + i);
        const Vector spike_gradient =
            pooled[p] < 0
                ? hn::Zero(Tag())
                : hn::Mul(lanes.Load(arriving_frame + pooled[p] * channels + c), pool_scale);
        const Vector trace = kTraced ? lanes.Load(traces + step * size + i) : hn::Zero(Tag());
        const Vector gradient = vector_dynamics.template MembraneGradient<surrogate>(
            v, spike_gradient, carry_gradient, trace);
        const Vector stored = lanes.StoreRounded(gradient, out + i);
        lanes.Store(gradient, carried_gradient + i);
        sum = hn::Add(sum, stored);
        sum_unit = hn::Add(sum_unit, hn::Mul(stored, norm.Unit(lanes.Load(current + i))));
      }
      float* row_sum = sums.gradient + step * channels + c;
      float* row_sum_unit = sums.gradient_times_unit + step * channels + c;
      lanes.Store(hn::Add(lanes.Load(row_sum), sum), row_sum);
      lanes.Store(hn::Add(lanes.Load(row_sum_unit), sum_unit), row_sum_unit);
    }
  }
}

template <SurrogateKind surrogate, Carry kind>
SpikingBackward* SpikingBackwardOf(bool half_currents, bool half_gradients) {
  constexpr SpikingBackward* kVariants[2][2] = {
      {SpikingBackwardAs<surrogate, kind, float, float>,
       SpikingBackwardAs<surrogate, kind, float, BFloat16>},
      {SpikingBackwardAs<surrogate, kind, BFloat16, float>,
       SpikingBackwardAs<surrogate, kind, BFloat16, BFloat16>}};
  return kVariants[half_currents][half_gradients];
}

template <SurrogateKind surrogate>
SpikingBackward* SpikingBackwardOf(Carry kind, bool half_currents, bool half_gradients) {
  switch (kind) {
    case Carry::hard:
      return SpikingBackwardOf<surrogate, Carry::hard>(half_currents, half_gradients);
    case Carry::reset_then_leak:
      return SpikingBackwardOf<surrogate, Carry::reset_then_leak>(half_currents, half_gradients);
    case Carry::leak_then_reset:
      return SpikingBackwardOf<surrogate, Carry::leak_then_reset>(half_currents, half_gradients);
  }
  return nullptr;
}

void SpikingBackwardSimd(const NeuronShape& shape, const Dynamics& dynamics, const Affine& affine,
                         const Currents& currents, const SpikeGradient& arriving,
                         const PixelBlock& block, float* scratch, GradientPlace norm_gradient,
                         const GradientSums& sums) {
  const Carry kind = CarryOf(dynamics);
  const bool halves = currents.halves != nullptr;
  const bool half_gradients = norm_gradient.halves != nullptr;
  SpikingBackward* variant = nullptr;
  switch (dynamics.surrogate.kind) {
    case SurrogateKind::triangle:
      variant = SpikingBackwardOf<SurrogateKind::triangle>(kind, halves, half_gradients);
      break;
    case SurrogateKind::arctan:
      variant = SpikingBackwardOf<SurrogateKind::arctan>(kind, halves, half_gradients);
      break;
    case SurrogateKind::rectangle:
      variant = SpikingBackwardOf<SurrogateKind::rectangle>(kind, halves, half_gradients);
      break;
    case SurrogateKind::stdb:
      variant = SpikingBackwardOf<SurrogateKind::stdb>(kind, halves, half_gradients);
      break;
    // Uses the C library's exponential: no vector form gives the same bits.
    case SurrogateKind::sigmoid:
      variant = reference_kernels().spiking_backward;
      break;
  }
  variant(shape, dynamics, affine, currents, arriving, block, scratch, norm_gradient, sums);
}

template <typename Number, typename Gradient>
void NormBackwardAs(const NeuronShape& shape, const Affine& affine, const NormGradientRows& rows,
                    const Currents& currents, const PixelBlock& block, GradientPlace gradient,
                    float* step_sum) {
  const int64_t channels = shape.channels;
  const int64_t size = (block.end - block.begin) * channels;
  const bool constant = currents.step_stride == 0;
  const int64_t first = block.image * shape.frame() + block.begin * channels;
  float* block_sum = constant ? step_sum + first : nullptr;
  for (int64_t step = 0; step < shape.steps; ++step) {
    const UnitStepRow row(shape, affine, currents, block, step);
    const auto* current = Stored<Number>(row.current);
    const int64_t r = affine.row(step, block.image) * channels;
    Gradient* at_step = Stored<Gradient>(gradient) + first + step * shape.batch * shape.frame();
    if (step + 1 < shape.steps) {
      prefetch_row(current + (currents.at_step(step + 1) - currents.at_step(step)), size);
      prefetch_row(at_step + shape.batch * shape.frame(), size);
    }
    for (int64_t c = 0; c < channels; c += Channels::Width()) {
      const Channels lanes(c, channels);
      const UnitRow norm(row, lanes, c);
      const Vector scale = lanes.Load(rows.scale + r + c);
      const Vector slope = lanes.Load(rows.slope + r + c);
      const Vector offset = lanes.Load(rows.offset + r + c);
      for (int64_t i = c; i < size; i += channels) {
        const Vector unit = norm.Unit(lanes.Load(current + i));
        const Vector scaled = hn::Mul(scale, lanes.Load(at_step + i));
        const Vector x_gradient = hn::Sub(hn::Sub(scaled, hn::Mul(slope, unit)), offset);
        if (constant) {
          lanes.Store(hn::Add(lanes.Load(block_sum + i), x_gradient), block_sum + i);
        } else {
          lanes.StoreRounded(x_gradient, at_step + i);
        }
      }
    }
  }
}

void NormBackwardSimd(const NeuronShape& shape, const Affine& affine, const NormGradientRows& rows,
                      const Currents& currents, const PixelBlock& block, GradientPlace gradient,
                      float* step_sum) {
  constexpr NormBackward* kVariants[2][2] = {
      {NormBackwardAs<float, float>, NormBackwardAs<float, BFloat16>},
      {NormBackwardAs<BFloat16, float>, NormBackwardAs<BFloat16, BFloat16>}};
  kVariants[currents.halves != nullptr][gradient.halves != nullptr](shape, affine, rows, currents,
                                                                    block, gradient, step_sum);
}

template <typename Number>
void AddNormalisedAs(const NormalisedRow& row) {
  for (int64_t c = 0; c < row.channels; c += Channels::Width()) {
    const Channels lanes(c, row.channels);
    const Vector scale = lanes.Load(row.scale + c);
    const Vector shift = lanes.Load(row.shift + c);
    const Number* current = Stored<Number>(row.currents) + c;
    for (int64_t p = 0; p < row.pixels; ++p) {
      float* out = row.out + p * row.out_stride + c;
      const Vector base = row.accumulate ? lanes.Load(out) : hn::Zero(Tag());
      const Vector x = lanes.Load(current + p * row.current_stride);
      lanes.Store(hn::MulAdd(x, scale, hn::Add(base, shift)), out);
    }
  }
}

void AddNormalisedSimd(const NormalisedRow& row) {
  AddNormalised* variant =
      row.currents.halves == nullptr ? AddNormalisedAs<float> : AddNormalisedAs<BFloat16>;
  variant(row);
}

template <typename Number, typename Gradient>
void GradientSumsAs(const NeuronShape& shape, const Affine& affine, const Currents& currents,
                    GradientView gradient, const PixelBlock& block, const GradientSums& sums) {
  const int64_t channels = shape.channels;
  const int64_t size = (block.end - block.begin) * channels;
  for (int64_t step = 0; step < shape.steps; ++step) {
    const UnitStepRow row(shape, affine, currents, block, step);
    const auto* current = Stored<Number>(row.current);
    const Gradient* of_step =
        Stored<Gradient>(gradient) +
        ((step * shape.batch + block.image) * shape.pixels + block.begin) * channels;
    if (step + 1 < shape.steps) {
      prefetch_row(current + (currents.at_step(step + 1) - currents.at_step(step)), size);
      prefetch_row(of_step + shape.batch * shape.frame(), size);
    }
    for (int64_t c = 0; c < channels; c += Channels::Width()) {
      const Channels lanes(c, channels);
      const UnitRow norm(row, lanes, c);
      Vector sum = hn::Zero(Tag());
      Vector sum_unit = hn::Zero(Tag());
      for (int64_t i = c; i < size; i += channels) {
        const Vector at = lanes.Load(of_step + i);
        sum = hn::Add(sum, at);
        sum_unit = hn::Add(sum_unit, hn::Mul(at, norm.Unit(lanes.Load(current + i))));
      }
      float* row_sum = sums.gradient + step * channels + c;
      float* row_sum_unit = sums.gradient_times_unit + step * channels + c;
      lanes.Store(hn::Add(lanes.Load(row_sum), sum), row_sum);
      lanes.Store(hn::Add(lanes.Load(row_sum_unit), sum_unit), row_sum_unit);
    }
  }
}

void GradientSumsSimd(const NeuronShape& shape, const Affine& affine, const Currents& currents,
                      GradientView gradient, const PixelBlock& block, const GradientSums& sums) {
  constexpr AddGradientSums* kVariants[2][2] = {
      {GradientSumsAs<float, float>, GradientSumsAs<float, BFloat16>},
      {GradientSumsAs<BFloat16, float>, GradientSumsAs<BFloat16, BFloat16>}};
  kVariants[currents.halves != nullptr][gradient.halves != nullptr](shape, affine, currents,
                                                                    gradient, block, sums);
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

void SetNeuronKernels(KernelSet& set) {
  set.spiking_step = SpikingStepSimd;
  set.spiking_backward = SpikingBackwardSimd;
  set.norm_backward = NormBackwardSimd;
  set.add_normalised = AddNormalisedSimd;
  set.gradient_sums = GradientSumsSimd;
  set.channel_moments = ChannelMomentsSimd;
  set.vector_floats = Channels::Width();
}

}  // namespace bntt::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bntt::kernels {

HWY_EXPORT(SetNeuronKernels);

void set_neuron_kernels(KernelSet& set) { HWY_DYNAMIC_DISPATCH(SetNeuronKernels)(set); }

}  // namespace bntt::kernels
#endif
