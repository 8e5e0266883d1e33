// Per-target include guard: Highway compiles the files that include this once per target.
#if defined(BNTT_KERNELS_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef BNTT_KERNELS_ROWS_INL_H
#undef BNTT_KERNELS_ROWS_INL_H
#else
#define BNTT_KERNELS_ROWS_INL_H
#endif

#include "kernels/step_row.h"
#include "kernels/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace bntt::kernels::HWY_NAMESPACE {

/// The affine map of one step for a vector of channels.
struct AffineRow {
  Vector scale, shift;

  AffineRow(const StepRow& row, const Channels& channels, int64_t c)
      : scale(channels.Load(row.scale + c)), shift(channels.Load(row.shift + c)) {}

  /// base + y
  Vector AddTo(Vector base, Vector x) const { return hn::MulAdd(x, scale, hn::Add(base, shift)); }
};

/// Normalises the currents of one step, for a vector of channels.
struct UnitRow {
  Vector mean, inverse_deviation;

  UnitRow(const UnitStepRow& row, const Channels& channels, int64_t c)
      : mean(channels.Load(row.mean + c)),
        inverse_deviation(channels.Load(row.inverse_deviation + c)) {}

  Vector Unit(Vector x) const { return hn::Mul(hn::Sub(x, mean), inverse_deviation); }
};

/// Currents and gradients as they are stored: floats, or the upper halves of floats.
template <typename Number>
const Number* Stored(const Currents& currents) {
  if constexpr (sizeof(Number) == sizeof(float)) {
    return currents.data + currents.first;
  } else {
    return currents.halves + currents.first;
  }
}
template <typename Number>
const Number* Stored(const GradientView& gradient) {
  if constexpr (sizeof(Number) == sizeof(float)) {
    return gradient.floats;
  } else {
    return gradient.halves;
  }
}
template <typename Number>
Number* Stored(const GradientPlace& gradient) {
  if constexpr (sizeof(Number) == sizeof(float)) {
    return gradient.floats;
  } else {
    return gradient.halves;
  }
}

}  // namespace bntt::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
