#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "bntt/buffer.h"

namespace bntt {

struct Loss {
  double loss = 0.0;    ///< mean over the batch
  int64_t correct = 0;  ///< images whose largest logit (the first of equals) is the label's
  Buffer<float>
      gradient;  ///< ∂loss/∂logits [batch, class], or of every step's [step, batch, class]
  bool of_steps = false;  ///< which of the two
};

/// Softmax cross-entropy of logits [batch, class] (the paper's Eq. 6): −Σ_k q_k log p_k with q_k =
/// (1 − smoothing) [k is the label] + smoothing / classes.
Loss cross_entropy(const Buffer<float>& logits, std::span<const int64_t> labels,
                   double smoothing = 0.0);

struct LossOptions {
  std::string kind = "cross-entropy";  ///< a name of loss_table()
  double smoothing = 0.0;              ///< of the labels: see cross_entropy
  double tet_share = 0.05;             ///< of tet: η, the share of the squared distance
  double tet_target = 1.0;             ///< of tet: φ, which the outputs should not leave far
};

/// What a network said of a batch.
struct Outputs {
  const Buffer<float>& logits;       // [batch, class]
  const Buffer<float>& step_logits;  // [step, batch, class]
};

struct LossEntry {
  const char* name;
  const char* meaning;
  Loss (*compute)(const LossOptions& options, const Outputs& outputs,
                  std::span<const int64_t> labels);
};
/// Every kind of loss there is.
std::span<const LossEntry> loss_table();

/// Throws Error for an unknown kind, with the nearest known one.
Loss loss_of(const LossOptions& options, const Outputs& outputs, std::span<const int64_t> labels);

}  // namespace bntt
