#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <ostream>
#include <span>
#include <vector>

#include "kernels/kernel_set.h"

namespace bntt::kernels {

/// How GoogleTest names a set in its messages.
inline void PrintTo(const KernelSet& set, std::ostream* out) { *out << set.name; }

}  // namespace bntt::kernels

namespace bntt::testing {

/// A buffer between two guard zones, which a kernel must leave as they are. It starts off any
/// alignment.
template <typename T>
class Guarded {
 public:
  explicit Guarded(int64_t size, T fill = T{}) : size_(size) {
    bytes_.assign(static_cast<std::size_t>(size + 2 * kGuard) * sizeof(T), kPattern);
    std::fill_n(data(), size, fill);
  }
  explicit Guarded(const std::vector<T>& values) : Guarded(static_cast<int64_t>(values.size())) {
    std::copy(values.begin(), values.end(), data());
  }

  T* data() { return reinterpret_cast<T*>(bytes_.data()) + kGuard; }
  const T* data() const { return reinterpret_cast<const T*>(bytes_.data()) + kGuard; }
  int64_t size() const { return size_; }

  bool guards_intact() const {
    const auto intact = [](uint8_t byte) { return byte == kPattern; };
    const std::size_t zone = kGuard * sizeof(T);
    return std::all_of(bytes_.begin(), bytes_.begin() + zone, intact) &&
           std::all_of(bytes_.end() - zone, bytes_.end(), intact);
  }
  bool same_bits(const Guarded& other) const {
    return size_ == other.size_ &&
           std::memcmp(data(), other.data(), static_cast<std::size_t>(size_) * sizeof(T)) == 0;
  }

 private:
  static constexpr uint8_t kPattern = 0xa5;
  static constexpr int64_t kGuard = 33;  // more than two of the widest vectors, and odd
  int64_t size_;
  std::vector<uint8_t> bytes_;
};

/// Reproducible numbers with a spread of about `scale` around zero.
class Numbers {
 public:
  explicit Numbers(uint32_t seed) : state_(seed * 2654435761U + 12345U) {}
  uint32_t bits() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 17;
    state_ ^= state_ << 5;
    return state_;
  }
  float uniform() { return static_cast<float>(bits() >> 8) * 0x1p-24F; }
  float around_zero(float scale = 1.0F) {
    return scale * (uniform() + uniform() + uniform() - 1.5F) * 2.0F;
  }
  std::vector<float> vector(int64_t size, float scale = 1.0F, float offset = 0.0F) {
    std::vector<float> values(static_cast<std::size_t>(size));
    for (float& value : values) value = offset + around_zero(scale);
    return values;
  }

 private:
  uint32_t state_;
};

/// The tests that being listed brings: one instance per kernel set of this machine.
class EverySet : public ::testing::TestWithParam<kernels::KernelSet> {
 protected:
  const kernels::KernelSet& set() const { return GetParam(); }
  const kernels::KernelSet reference_ = kernels::reference_kernels();
};

inline std::string set_name(const ::testing::TestParamInfo<kernels::KernelSet>& info) {
  return info.param.name;
}

}  // namespace bntt::testing
