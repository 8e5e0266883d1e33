#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bntt/api.h"
#include "bntt/buffer.h"
#include "bntt/kind_info.h"

namespace bntt {

/// The loss of a batch and its gradient.
struct Loss {
  double loss = 0.0;    ///< mean over the batch, or as the kind defines
  int64_t correct = 0;  ///< images whose largest logit (the first of equals) is that of the label
  Buffer<float>
      gradient;  ///< ∂loss/∂logits [batch, class], or of every step's [step, batch, class]
  bool of_steps = false;  ///< which of the two
};

/// Losses of several batches, summed.
struct LossSums {
  double loss = 0.0;    ///< of images, summed
  int64_t correct = 0;  ///< images whose largest logit is that of the label
  int64_t images = 0;   ///< the number of images

  double mean_loss() const {
    return images > 0 ? loss / static_cast<double>(images) : 0.0;
  }  ///< per image; 0 without images
  /// In per cent.
  double accuracy() const {
    return images > 0 ? 100.0 * static_cast<double>(correct) / static_cast<double>(images) : 0.0;
  }
  /// Adds the sums of other batches.
  LossSums& operator+=(const LossSums& other) {
    loss += other.loss;
    correct += other.correct;
    images += other.images;
    return *this;
  }
};

/// The kind of loss, and its parameters.
struct LossOptions {
  std::string kind = "cross-entropy";  ///< a name of loss_kinds()
  double smoothing = 0.0;              ///< of the labels: see cross_entropy
  double tet_share = 0.05;             ///< of tet: η, the share of the squared distance
  double tet_target = 1.0;             ///< of tet: φ, the value that outputs are pulled towards
};

/// The outputs of a network for a batch. Both buffers must outlive it.
struct Outputs {
  const Buffer<float>& logits;       ///< [batch, class]
  const Buffer<float>& step_logits;  ///< [step, batch, class]; only tet reads it
};

/// The kinds of loss. May be called from any thread, as may the functions below.
BNTT_API std::vector<KindInfo> loss_kinds();

/// Throws Error for an unknown kind, for options out of range, and unless there is one label for
/// every row of logits, each below the number of classes.
BNTT_API Loss loss_of(const LossOptions& options, const Outputs& outputs,
                      std::span<const int64_t> labels);

/// Softmax cross-entropy of logits [batch, class] (the paper's Eq. 6): −Σ_k q_k log p_k with q_k =
/// (1 − smoothing) [k is the label] + smoothing / classes. Throws Error like loss_of.
BNTT_API Loss cross_entropy(const Buffer<float>& logits, std::span<const int64_t> labels,
                            double smoothing = 0.0);

}  // namespace bntt
