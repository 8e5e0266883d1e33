#pragma once

#include <algorithm>

#include "kernels/bfloat16.h"

namespace bntt::kernels {

/// Gradients between stages: floats, or bf16 in half of the memory.
struct GradientView {
  const float* floats = nullptr;
  const BFloat16* halves = nullptr;  // instead of `floats`

  GradientView from(int64_t offset) const {
    return halves == nullptr ? GradientView{floats + offset, nullptr}
                             : GradientView{nullptr, halves + offset};
  }
  float at(int64_t i) const { return halves == nullptr ? floats[i] : widened(halves[i]); }
  /// The first `count` values as floats.
  void read(int64_t count, float* to) const {
    if (halves == nullptr) {
      std::copy_n(floats, count, to);
    } else {
      std::transform(halves, halves + count, to, widened);
    }
  }
  /// Where the first `count` values are as floats: in place, or in `scratch`.
  const float* as_floats(int64_t count, float* scratch) const {
    if (halves == nullptr) return floats;
    read(count, scratch);
    return scratch;
  }

  bool operator==(const GradientView&) const = default;
};

/// Memory for them.
struct GradientPlace {
  float* floats = nullptr;
  BFloat16* halves = nullptr;  // instead of `floats`

  GradientPlace from(int64_t offset) const {
    return halves == nullptr ? GradientPlace{floats + offset, nullptr}
                             : GradientPlace{nullptr, halves + offset};
  }
  GradientView view() const { return {floats, halves}; }
  /// Returns the value as it is stored.
  float set(int64_t i, float value) const {
    if (halves == nullptr) return floats[i] = value;
    halves[i] = rounded_to_bfloat16(value);
    return widened(halves[i]);
  }
  void write(const float* values, int64_t count) const {
    if (halves == nullptr) {
      std::copy_n(values, count, floats);
    } else {
      std::transform(values, values + count, halves, rounded_to_bfloat16);
    }
  }
  void fill_zero(int64_t count) const {
    if (halves == nullptr) {
      std::fill_n(floats, count, 0.0F);
    } else {
      std::fill_n(halves, count, BFloat16{0});
    }
  }
};

}  // namespace bntt::kernels
