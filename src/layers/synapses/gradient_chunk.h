#pragma once

#include "base/threads.h"
#include "kernels/gradient_view.h"

namespace bntt {

/// The first `count` gradients in the thread's scratch memory, as floats.
inline const float* copied_gradient(kernels::GradientView gradient, int64_t count,
                                    ScratchSlot slot) {
  float* copy = thread_scratch(slot, count);
  gradient.read(count, copy);
  return copy;
}

/// The first `count` gradients as floats: where they are, or widened in scratch memory.
inline const float* gradient_floats(kernels::GradientView gradient, int64_t count,
                                    ScratchSlot slot) {
  return gradient.halves == nullptr ? gradient.floats : copied_gradient(gradient, count, slot);
}

/// Where a thread writes `count` gradients as floats: the place itself, or scratch memory, which
/// finish() rounds into the place.
class GradientChunk {
 public:
  GradientChunk(kernels::GradientPlace place, int64_t count, ScratchSlot slot)
      : place_(place),
        count_(count),
        floats_(place.halves == nullptr ? place.floats : thread_scratch(slot, count)) {}

  float* floats() const { return floats_; }
  void finish() const {
    if (place_.halves != nullptr) place_.write(floats_, count_);
  }

 private:
  kernels::GradientPlace place_;
  int64_t count_;
  float* floats_;
};

}  // namespace bntt
