#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "bntt/batch.h"
#include "bntt/encoder.h"
#include "bntt/loss.h"
#include "bntt/network.h"
#include "bntt/optimizer.h"

namespace bntt {

struct TrainingStep {
  const EncoderSpec& encoder;
  const LossOptions& loss;
  uint64_t seed = 1;  ///< of spikes and dropout
  uint32_t epoch = 0;
  double learning_rate = 0.0;
  std::function<void(const Trace&)> observe;  ///< called after the forward pass; may be empty
};

/// An infinite or NaN value: training cannot recover from it.
struct NonFinite {
  std::string what;
  double value = 0.0;
};

struct StepResult {
  LossSums sums;
  std::optional<NonFinite> diverged;
};

/// Encoding, forward, loss, backward and the optimiser's step on one batch: the training step of
/// all trainers. Stops before the backward pass if the loss is not finite.
StepResult train_step(const Batch& batch, const TrainingStep& step, Network& network,
                      Optimizer& optimizer);

/// "training has diverged: the loss is nan in epoch 3, step 120". Both are counted from 1.
std::string divergence_text(const NonFinite& diverged, int64_t epoch, int64_t step);

}  // namespace bntt
