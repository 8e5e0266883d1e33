#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bntt/api.h"
#include "bntt/error.h"
#include "bntt/input_spec.h"
#include "bntt/learning_rate.h"
#include "bntt/loss.h"
#include "bntt/model.h"
#include "bntt/network.h"
#include "bntt/optimizer.h"
#include "bntt/precision.h"
#include "bntt/samples.h"

namespace bntt {

/// Options of a Trainer.
struct TrainerOptions {
  int64_t epochs = 10;  ///< of the whole run
  int64_t batch = 32;   ///< samples per step; an incomplete batch at the end of an epoch is dropped
  LossOptions loss;     ///< what is minimised
  OptimizerOptions optimizer;              ///< how the parameters move
  LearningRateOptions learning_rate;       ///< how fast they move
  Precision precision = Precision::mixed;  ///< of forward and backward passes
};

/// Reported after every training step.
struct StepProgress {
  int64_t epoch = 0;           ///< counted from 1
  int64_t epochs = 0;          ///< of the whole run
  int64_t batch = 0;           ///< done in this epoch
  int64_t batches = 0;         ///< of one epoch
  int64_t step = 0;            ///< done in total
  int64_t steps = 0;           ///< of the whole run
  double learning_rate = 0.0;  ///< of this step
  LossSums sums;               ///< of this step's batch, before the step
};

/// Reported after every epoch.
struct EpochProgress {
  int64_t epoch = 0;   ///< counted from 1
  int64_t epochs = 0;  ///< of the whole run
  LossSums sums;       ///< of all batches of the epoch
};

/// Functions that a Trainer calls, on the thread that runs it; all optional. Their exceptions
/// propagate out of Trainer::run.
struct TrainerCallbacks {
  std::function<void(const StepProgress&)> step;    ///< called after every training step
  std::function<void(const EpochProgress&)> epoch;  ///< called after every epoch
  std::function<bool()> stop;  ///< called after every step; true ends Trainer::run
};

/// How Trainer::run ended.
enum class TrainEnd {
  finished,  ///< all epochs are done
  stopped,   ///< by TrainerCallbacks::stop
};

/// The loss, a weight or a running statistic is no longer finite.
class BNTT_API TrainingDiverged : public Error {
 public:
  using Error::Error;
};

/// Trains a network on the caller's samples. The order of the samples, their spikes and dropout are
/// determined by `input.seed`: the same samples and options give the same network, for any number
/// of threads. Only one thread at a time may use a trainer.
class BNTT_API Trainer {
 public:
  /// The network may be new or already trained. Throws Error for options out of range, and for an
  /// input that does not fit the network.
  Trainer(Network network, InputSpec input, TrainerOptions options);
  /// All functions of a trainer that was moved from throw Error.
  /// @{
  Trainer(Trainer&&) noexcept;
  Trainer& operator=(Trainer&&) noexcept;
  /// @}
  ~Trainer();

  /// The network so far; valid as long as the trainer.
  const Network& network() const;
  int64_t epochs_done() const;  ///< complete epochs
  int64_t steps_done() const;   ///< training steps so far

  /// Trains to the last epoch, or until a callback stops it; a second call continues from there.
  /// Throws Error for samples that do not fit the network, do not fill one batch, or differ in
  /// number from the previous call; TrainingDiverged if a number is no longer finite. After an
  /// exception from a callback or from the samples, training can be continued.
  TrainEnd run(Samples& samples, const TrainerCallbacks& callbacks = {});

  /// A copy of the network so far as a model, to predict with and to save. The card's input and
  /// number of epochs are set by the trainer; the rest is used as given.
  Model model(ModelCard card = {}) const;

 private:
  struct State;
  const State& state() const;
  State& state();

  std::unique_ptr<State> state_;
};

}  // namespace bntt
