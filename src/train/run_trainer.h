#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

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
};

/// Functions that report progress, and one that ends training; all optional.
struct TrainHooks {
  std::function<void(const StepReport&)> step;
  std::function<void(const EpochReport&)> epoch;
  std::function<void(const std::string& what, int64_t images_done, int64_t images)> evaluating;
  std::function<bool()> stop;
};

/// One run in its directory: trains, logs, validates and checkpoints. Whatever happens between two
/// checkpoints can be repeated: a resumed run writes the same bytes as one that never stopped.
class RunTrainer {
 public:
  /// A new run writes run.toml; with `resume`, the run continues from its checkpoint, if it has
  /// one. It may go on with another number of epochs: the learning rate of each step that is left
  /// is then the one of a run of that many, and run.toml gets the new number. The run belongs to
  /// this process until the trainer's end; `lock` is its lock where the caller has it already.
  /// Throws Error if another process has it, if the directory holds a run and `resume` is false,
  /// and if it holds something else.
  RunTrainer(RunConfig config, const DatasetSplits& data, RunPaths paths, bool resume,
             RunLock lock = {});

  const Network& network() const { return network_; }
  const TrainPosition& position() const { return position_; }
  /// What the run took from the network that train.from names; nothing for a resumed run.
  const std::optional<TakenNumbers>& taken() const { return taken_; }
  int64_t steps_per_epoch() const;

  /// Runs to the last epoch or until the hook says stop; either way leaves a checkpoint. Throws
  /// TrainingDiverged when the loss, a weight or a running statistic is no longer finite; the
  /// checkpoint of before stays.
  TrainEnd run(const TrainHooks& hooks);

  /// The weights that validation chose (the last ones without validation), on the test images;
  /// logged.
  Evaluation test(const TrainHooks& hooks);

 private:
  void begin(bool resume);
  void go_on();
  void expect_same_images(const std::string& origin) const;
  void expect_same_classes(const ModelCard& begun, const std::string& origin) const;
  void expect_epochs_left() const;
  /// A run whose numbers are not finite cannot recover, and its checkpoint could not
  /// be read.
  [[noreturn]] void fail_as_diverged(const NonFinite& diverged) const;
  void train_batch(const Batch& batch, const TrainHooks& hooks);
  void finish_epoch(const TrainHooks& hooks);
  bool constant_input() const;
  /// Before validation: what is measured and stored is the network with its new windows.
  std::optional<WindowSwitch> learn_windows(int64_t epoch);
  void log_step(double learning_rate, const std::vector<double>& densities);
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
};

/// Mean γ of each step (one entry where the steps share it), of a stage that has γ.
std::vector<double> mean_gain(const Network& network, std::size_t stage);

}  // namespace bntt
