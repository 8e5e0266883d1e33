#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "bntt/network.h"
#include "bntt/optimizer.h"
#include "bntt/trainer.h"
#include "data/dataset.h"
#include "data/loader.h"
#include "learn/training_step.h"
#include "train/checkpoint.h"
#include "train/config.h"
#include "train/evaluate.h"
#include "train/run_lock.h"
#include "train/start_from.h"
#include "train/times.h"
#include "train/window_switch.h"

namespace bntt {

struct StepReport {
  int64_t epoch = 0;  ///< counted from 1
  int64_t epochs = 0;
  int64_t batch = 0;  ///< done in this epoch
  int64_t batches = 0;
  int64_t step = 0;  ///< done in the run
  int64_t steps = 0;
  double learning_rate = 0.0;
  LossSums recent;  ///< since the last logged step
  bool logged = false;
};

struct EpochReport {
  int64_t epoch = 0;  ///< counted from 1
  LossSums train;
  std::optional<WindowSwitch> windows;  ///< where steps were switched off
  std::optional<Evaluation> validation;
  bool best = false;
  std::vector<std::string> warnings;  ///< signs that nothing is learned: see epoch_warnings
};

/// Callbacks that report progress, and one that stops training; all optional.
struct TrainHooks {
  std::function<void(const StepReport&)> step;
  std::function<void(const EpochReport&)> epoch;
  std::function<void(const std::string& what, int64_t images_done, int64_t images)> evaluating;
  std::function<bool()> stop;
};

/// One run in its directory: trains, logs, validates and writes checkpoints. Everything between two
/// checkpoints can be repeated: a resumed run writes the same bytes as one that never stopped.
class RunTrainer {
 public:
  /// A new run writes run.toml; with `resume`, the run continues from its checkpoint, if it has
  /// one. It may continue with a different number of epochs: the remaining steps then have the
  /// learning rates of a run of that length, and run.toml gets the new number. This process owns
  /// the run during the trainer's lifetime; `lock` is its lock if the caller already holds it.
  /// `clock` gives the time spent in this session, for times.jsonl; empty: since this call.
  /// Throws Error if another process owns the run, if the directory holds a run and `resume` is
  /// false, and if it holds something else.
  RunTrainer(RunConfig config, const DatasetSplits& data, RunPaths paths, bool resume,
             RunLock lock = {}, TrainClock clock = {});

  const Network& network() const { return network_; }
  const TrainPosition& position() const { return position_; }
  /// What the run took from the network given by train.from; empty for a resumed run.
  const std::optional<TakenNumbers>& taken() const { return taken_; }
  int64_t steps_per_epoch() const;

  /// Runs to the last epoch or until the hook stops it; writes a checkpoint in both cases. Throws
  /// TrainingDiverged if the loss, a weight or a running statistic is no longer finite; the
  /// previous checkpoint is kept.
  TrainEnd run(const TrainHooks& hooks);

  /// Evaluates the weights that validation chose (the last ones without validation) on the test
  /// images and logs the result.
  Evaluation test(const TrainHooks& hooks);

 private:
  void begin(bool resume);
  void go_on();
  void expect_same_images(const std::string& origin) const;
  void expect_same_classes(const ModelCard& begun, const std::string& origin) const;
  void expect_epochs_left() const;
  /// A run whose numbers are not finite cannot recover, and its checkpoint would be unreadable.
  [[noreturn]] void fail_as_diverged(const NonFinite& diverged) const;
  void train_batch(const Batch& batch, const TrainHooks& hooks);
  void finish_epoch(const TrainHooks& hooks);
  bool constant_input() const;
  /// Before validation: what is measured and stored is the network with its new windows.
  std::optional<WindowSwitch> learn_windows(int64_t epoch);
  void log_step(double learning_rate);
  void save();
  EvaluateOptions evaluate_options(const char* what, int64_t images, const TrainHooks& hooks) const;

  RunConfig config_;
  const DatasetSplits& data_;
  RunPaths paths_;
  RunLock lock_;
  Split split_;
  ModelCard card_;
  Network network_;
  std::unique_ptr<Optimizer> optimizer_;
  TrainPosition position_;
  std::optional<TakenNumbers> taken_;
  std::optional<LineLog> metrics_;
  std::optional<TimesLog> times_;
  std::vector<double> densities_;  // of the last batch that was observed
};

/// Mean γ of each step (one entry if the steps share it) for a stage that has γ.
std::vector<double> mean_gain(const Network& network, std::size_t stage);

}  // namespace bntt
