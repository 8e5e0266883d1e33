#pragma once

#include <cstdint>
#include <span>

#include "bntt/buffer.h"

namespace bntt {

struct CrossEntropy {
  double loss = 0.0;       ///< mean over the batch
  int64_t correct = 0;     ///< images whose largest logit (the first of equals) is the label's
  Buffer<float> gradient;  ///< ∂loss/∂logits [batch, class]
};

/// Softmax cross-entropy of logits [batch, class] (the paper's Eq. 6).
CrossEntropy cross_entropy(const Buffer<float>& logits, std::span<const int64_t> labels);

}  // namespace bntt
