#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include "bntt/network_spec.h"

namespace bntt::kernels {

/// base + y with y = scale · x + shift. The product is always fused with the addition: one
/// rounding, the same in every kernel.
inline float add_affine(float base, float x, float scale, float shift) {
  return std::fma(x, scale, base + shift);
}

/// One step of a neuron, and its derivatives:
///
///   v_t = max(c_{t-1} + y_t, floor);  o_t = [v_t > θ], or [v_t ≥ θ];  then the carry:
///   instant, soft  c_t = λ (v_t − θ o_t)        delayed, soft  c_t = λ v_t − θ o_t
///   hard           c_t = λ v_t (1 − o_t)
///
/// With delayed propagation the next stage sees o_t one step later; that is a matter of labelling
/// steps, see StagePlan.
///
/// Everything that computes spikes uses these functions. The only other implementation is in the
/// vector kernels (neuron_simd.cpp), which give the same bits.
struct Dynamics {
  float leak;
  float threshold;
  float fires_above;  // v ≥ θ means v > the next float below θ: one comparison serves both
  Fire fire;
  Reset reset;
  bool reset_before_leak;  // true for instant propagation, false for delayed
  bool detach_reset;
  SurrogateSpec surrogate;
  float inverse_width;  // of the surrogate, 1/V
  float height;         // of the surrogate at the threshold: α, or α/θ
  float floor;          // of v, in volts; −∞ where there is none
  float trace_decay;    // of surrogate stdb: e^−β

  /// The same neuron with another threshold.
  Dynamics with_threshold(float other) const {
    Dynamics result = *this;
    result.set_threshold(other);
    return result;
  }

  /// v, from c + y
  float membrane(float integrated) const { return floor > integrated ? floor : integrated; }

  /// o
  bool fires(float v) const { return v > fires_above; }

  /// c
  float carried(float v, bool fired) const {
    if (reset == Reset::hard) return fired ? 0.0F : leak * v;
    const float drop = fired ? threshold : 0.0F;
    return reset_before_leak ? leak * (v - drop) : leak * v - drop;
  }

  /// The part of v that the leak applies to. The carry c is leak times this, except for the soft
  /// reset of delayed propagation, which is subtracted afterwards.
  float left_to_leak(float v, bool fired) const {
    if (reset == Reset::hard) return fired ? 0.0F : v;
    return reset_before_leak && fired ? v - threshold : v;
  }

  /// ∂c/∂o, which a detached reset leaves out.
  float reset_slope(float v) const {
    if (reset == Reset::hard) return -leak * v;
    return reset_before_leak ? -leak * threshold : -threshold;
  }

  /// Surrogate stdb: α e^(−βΔt), where Δt is the number of steps since the neuron's last spike
  /// before this step. It is stored as a trace that decays from step to step. Before the first
  /// spike, Δt is counted from an imagined spike kStepsBeforeFirst steps before the first step,
  /// which makes the slope almost zero.
  static constexpr int64_t kStepsBeforeFirst = 1000;
  float first_trace() const {
    return height * std::exp(-surrogate.decay * static_cast<float>(kStepsBeforeFirst));
  }
  float next_trace(float trace, bool fired) const { return (fired ? height : trace) * trace_decay; }

  /// ∂o/∂v; SurrogateKind defines the shapes. `trace` is that of surrogate stdb.
  float spike_slope(float v, float trace = 0.0F) const {
    const float distance = (v - threshold) * inverse_width;
    switch (surrogate.kind) {
      case SurrogateKind::triangle: {
        const float part = 1.0F - std::fabs(distance);
        return part > 0.0F ? height * part : 0.0F;
      }
      case SurrogateKind::sigmoid: {
        const float s = 1.0F / (1.0F + std::exp(-4.0F * distance));
        return height * 4.0F * s * (1.0F - s);
      }
      case SurrogateKind::arctan: {
        const float scaled = std::numbers::pi_v<float> * distance;
        return height / (1.0F + scaled * scaled);
      }
      case SurrogateKind::stdb:
        return trace;
      case SurrogateKind::rectangle:
        break;
    }
    return std::fabs(distance) < 0.5F ? height : 0.0F;
  }

  /// ∂L/∂y from ∂L/∂o and ∂L/∂c. It equals ∂L/∂v above the floor.
  float membrane_gradient(float v, float spike_gradient, float carry_gradient,
                          float trace = 0.0F) const {
    if (!(v > floor)) return 0.0F;
    if (!detach_reset) spike_gradient += carry_gradient * reset_slope(v);
    const bool cleared = reset == Reset::hard && fires(v);
    const float through_carry = cleared ? 0.0F : leak * carry_gradient;
    return through_carry + spike_gradient * spike_slope(v, trace);
  }

 private:
  // Some fields are derived from others; only dynamics_of creates Dynamics, so that they agree.
  Dynamics() = default;
  friend Dynamics dynamics_of(const NeuronSpec& neuron, Propagation propagation);

  void set_threshold(float value) {
    threshold = value;
    fires_above = fire == Fire::gt
                      ? threshold
                      : std::nextafter(threshold, -std::numeric_limits<float>::infinity());
    inverse_width = 1.0F / (surrogate.width > 0.0F ? surrogate.width : threshold);
    height = surrogate.per_threshold ? surrogate.alpha / threshold : surrogate.alpha;
  }
};

inline Dynamics dynamics_of(const NeuronSpec& neuron, Propagation propagation) {
  Dynamics result;
  result.leak = neuron.leak;
  result.fire = neuron.fire;
  result.reset = neuron.reset;
  result.reset_before_leak = propagation == Propagation::instant;
  result.detach_reset = neuron.detach_reset;
  result.surrogate = neuron.surrogate;
  result.floor = neuron.floor.value_or(-std::numeric_limits<float>::infinity());
  result.trace_decay = std::exp(-neuron.surrogate.decay);
  result.set_threshold(neuron.threshold);
  return result;
}

}  // namespace bntt::kernels
