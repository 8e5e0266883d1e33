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

/// How a Trainer trains.
struct TrainerOptions {
  int64_t epochs = 10;
  int64_t batch = 32;  ///< samples per step; the rest of an epoch that fills no batch is dropped
  LossOptions loss;
  OptimizerOptions optimizer;
  LearningRateOptions learning_rate;
  Precision precision = Precision::mixed;
};

/// Reported after every training step.
struct StepProgress {
  int64_t epoch = 0;  ///< counted from 1
  int64_t epochs = 0;
  int64_t batch = 0;  ///< done in this epoch
  int64_t batches = 0;
  int64_t step = 0;  ///< done in all
  int64_t steps = 0;
  double learning_rate = 0.0;
  LossSums sums;  ///< of this step's batch, before the step
};

/// Reported after every epoch.
struct EpochProgress {
  int64_t epoch = 0;  ///< counted from 1
  int64_t epochs = 0;
  LossSums sums;  ///< of all batches of the epoch
};

/// Functions that a Trainer calls, in the thread that runs it; all optional. What they throw leaves
/// Trainer::run.
struct TrainerCallbacks {
  std::function<void(const StepProgress&)> step;
  std::function<void(const EpochProgress&)> epoch;
  std::function<bool()> stop;  ///< called after every step; true ends Trainer::run
};

/// How Trainer::run ended.
enum class TrainEnd { finished, stopped };

/// The loss, a weight or a running statistic is no longer finite.
class BNTT_API TrainingDiverged : public Error {
 public:
  using Error::Error;
};

/// Trains a network on samples of the caller's. The order of the samples, their spikes and dropout
/// follow from `input.seed`: the same samples and options give the same network, for any number of
/// threads. One thread at a time may use a trainer.
class BNTT_API Trainer {
 public:
  /// The network may be a new or a trained one. Throws Error for options out of range, and for an
  /// input that does not fit the network.
  Trainer(Network network, InputSpec input, TrainerOptions options);
  Trainer(Trainer&&) noexcept;
  Trainer& operator=(Trainer&&) noexcept;
  ~Trainer();

  const Network& network() const;
  int64_t epochs_done() const;
  int64_t steps_done() const;

  /// Trains to the last epoch, or until a callback says stop; a second call continues from there.
  /// Throws Error for samples that do not fit the network, do not fill one batch, or are not as
  /// many as in the call before; TrainingDiverged when a number is no longer finite. After an
  /// exception from a callback or from the samples training can be continued.
  TrainEnd run(Samples& samples, const TrainerCallbacks& callbacks = {});

  /// A copy of the network so far as a model, to predict with and to save. The card's input is the
  /// trainer's, and so is the number of epochs; the rest is taken as it is given.
  Model model(ModelCard card = {}) const;

 private:
  struct State;
  const State& state() const;
  State& state();

  std::unique_ptr<State> state_;
};

}  // namespace bntt
