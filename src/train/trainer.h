#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/files.h"
#include "bntt/network.h"
#include "data/dataset.h"
#include "data/loader.h"
#include "train/checkpoint.h"
#include "train/config.h"
#include "train/evaluate.h"
#include "train/optimizer.h"

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
  std::optional<Evaluation> validation;
  bool best = false;
};

/// What the caller wants to hear, and its wish to stop; all optional.
struct TrainHooks {
  std::function<void(const StepReport&)> step;
  std::function<void(const EpochReport&)> epoch;
  std::function<void(const std::string& what, int64_t images_done, int64_t images)> evaluating;
  std::function<bool()> stop;
};

enum class TrainEnd { finished, stopped };

/// One run in its directory: trains, logs, validates and checkpoints. Whatever happens between two
/// checkpoints can be repeated: a resumed run writes the same bytes as one that never stopped.
class Trainer {
 public:
  /// A new run writes run.toml; with `resume`, the run goes on from its checkpoint, if it has one.
  /// Throws Error if the directory holds a run and `resume` is false.
  Trainer(RunConfig config, const DatasetSplits& data, RunPaths paths, bool resume);

  const Network& network() const { return network_; }
  const TrainPosition& position() const { return position_; }
  int64_t steps_per_epoch() const;

  /// Runs to the last epoch or until the hook says stop; either way leaves a checkpoint. Throws
  /// Error when the loss, a weight or a running statistic is no longer finite; the checkpoint of
  /// before stays.
  TrainEnd run(const TrainHooks& hooks);

  /// The weights that validation chose (the last ones without validation), on the test images;
  /// logged.
  Evaluation test(const TrainHooks& hooks);

 private:
  void expect_same_images(const std::string& origin) const;
  /// Throws Error: a run whose numbers are not finite cannot recover, and its checkpoint could not
  /// be read.
  [[noreturn]] void fail_as_diverged(const std::string& what, double value) const;
  void expect_finite_numbers() const;
  void train_batch(const Batch& batch, const TrainHooks& hooks);
  void finish_epoch(const TrainHooks& hooks);
  void log_step(double learning_rate, const std::vector<double>& densities);
  void save();
  EvaluateOptions evaluate_options(const char* what, int64_t images, const TrainHooks& hooks) const;

  RunConfig config_;
  const DatasetSplits& data_;
  RunPaths paths_;
  Split split_;
  EncoderSpec encoder_;
  Network network_;
  std::unique_ptr<Optimizer> optimizer_;
  TrainPosition position_;
  std::optional<LineLog> metrics_;
};

/// The encoder of a run for a data set.
EncoderSpec encoder_for(const RunConfig& config, const DatasetSplits& data);

/// Mean γ of each step (one entry where the steps share it), of a stage that has γ.
std::vector<double> mean_gain(const Network& network, std::size_t stage);

}  // namespace bntt
