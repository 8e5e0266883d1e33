#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include "bntt/network_spec.h"

namespace bntt::kernels {

/// base + y with y = scale · x + shift. The product is always fused into the sum it goes to: one
/// rounding, the same in every kernel.
inline float add_affine(float base, float x, float scale, float shift) {
  return std::fma(x, scale, base + shift);
}

/// One step of a neuron, and the slopes of it:
///
///   v_t = c_{t-1} + y_t, at least the floor;  o_t = [v_t > θ], or [v_t ≥ θ];  then what is
///   carried on:
///   instant, soft  c_t = λ (v_t − θ o_t)        delayed, soft  c_t = λ v_t − θ o_t
///   hard           c_t = λ v_t (1 − o_t)
///
/// With delayed propagation the stage after this one sees o_t one step later; that is a matter of
/// labelling steps, see StagePlan.
///
/// Everything that computes spikes uses these functions. The only other form is that of the vector
/// kernels (neuron_simd.cpp), which gives the same bits.
struct Dynamics {
  float leak;
  float threshold;
  float fires_above;  // v ≥ θ is v > the number below θ: one comparison serves both
  Fire fire;
  Reset reset;
  bool reset_before_leak;  // instant; false: delayed
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

  /// What of v is left to leak: c is that times the leak, but for the soft reset of delayed
  /// propagation, which comes after it.
  float left_to_leak(float v, bool fired) const {
    if (reset == Reset::hard) return fired ? 0.0F : v;
    return reset_before_leak && fired ? v - threshold : v;
  }

  /// ∂c/∂o, which a detached reset leaves out.
  float reset_slope(float v) const {
    if (reset == Reset::hard) return -leak * v;
    return reset_before_leak ? -leak * threshold : -threshold;
  }

  /// Surrogate stdb: α e^(−βΔt), Δt the steps since the neuron's last spike before this step. It is
  /// kept as a trace that decays from step to step. Before the first spike, Δt counts as if there
  /// had been one kStepsBeforeFirst steps before the first step, which leaves next to nothing.
  static constexpr int64_t kStepsBeforeFirst = 1000;
  float first_trace() const {
    return height * std::exp(-surrogate.decay * static_cast<float>(kStepsBeforeFirst));
  }
  float next_trace(float trace, bool fired) const { return (fired ? height : trace) * trace_decay; }

  /// ∂o/∂v; the shapes are defined at SurrogateKind. `trace` is that of surrogate stdb.
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

  /// ∂L/∂y, which is ∂L/∂v above the floor, from ∂L/∂o and ∂L/∂c.
  float membrane_gradient(float v, float spike_gradient, float carry_gradient,
                          float trace = 0.0F) const {
    if (!(v > floor)) return 0.0F;
    if (!detach_reset) spike_gradient += carry_gradient * reset_slope(v);
    const bool cleared = reset == Reset::hard && fires(v);
    const float through_carry = cleared ? 0.0F : leak * carry_gradient;
    return through_carry + spike_gradient * spike_slope(v, trace);
  }

 private:
  // What follows from other fields is set in one place: only dynamics_of makes Dynamics.
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
