#pragma once

#include "base/threads.h"
#include "bntt/buffer.h"
#include "kernels/gradient_view.h"

namespace bntt {

/// The memory of gradients between stages: floats, or bf16 where training is in bf16.
class GradientBuffer {
 public:
  GradientBuffer() = default;
  explicit GradientBuffer(Buffer<float> floats) : floats_(std::move(floats)) {}
  GradientBuffer(int64_t size, bool halves)
      : floats_(halves ? 0 : size), halves_(halves ? size : 0) {}

  bool in_halves() const { return !halves_.empty(); }
  bool empty() const { return size() == 0; }
  int64_t size() const { return in_halves() ? halves_.size() : floats_.size(); }

  kernels::GradientView view() const {
    return in_halves() ? kernels::GradientView{nullptr, halves_.data()}
                       : kernels::GradientView{floats_.data(), nullptr};
  }
  kernels::GradientPlace place() {
    return in_halves() ? kernels::GradientPlace{nullptr, halves_.data()}
                       : kernels::GradientPlace{floats_.data(), nullptr};
  }

  /// Takes the values out, as floats.
  Buffer<float> take_floats() {
    if (!in_halves()) return std::move(floats_);
    constexpr int64_t kBlock = 1 << 14;
    Buffer<float> floats(size());
    parallel_for((size() + kBlock - 1) / kBlock, [&](int64_t block) {
      const int64_t first = block * kBlock;
      view().from(first).read(std::min(kBlock, size() - first), floats.data() + first);
    });
    halves_ = Buffer<kernels::BFloat16>();
    return floats;
  }

 private:
  Buffer<float> floats_;
  Buffer<kernels::BFloat16> halves_;
};

}  // namespace bntt
