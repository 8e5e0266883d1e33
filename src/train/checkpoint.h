#pragma once

#include <filesystem>
#include <optional>

#include "base/safetensors.h"
#include "bntt/loss.h"
#include "bntt/model.h"
#include "bntt/optimizer.h"
#include "model/model_file.h"
#include "model/run_paths.h"

namespace bntt {

/// Where training stands: the next batch to be taken.
struct TrainPosition {
  int64_t epoch = 0;
  int64_t batch = 0;  ///< of the epoch
  int64_t step = 0;   ///< of the whole run
  uint64_t metrics_bytes = 0;
  LossSums since_log;
  LossSums since_epoch;
  double best_accuracy = -1.0;
  int64_t best_epoch = 0;  ///< counted from 1; 0: none yet
  int64_t images = 0;      ///< of the training set, those for validation too; 0: not known
  std::string settings;    ///< see lasting_settings; empty: not known
};

/// A model file with the state of training. `optimizer` and `position` are left out of a file for
/// inference.
TensorFile pack_checkpoint(const Network& network, const ModelCard& card,
                           const Optimizer* optimizer, const TrainPosition* position);

/// Fills the optimiser; returns the position. Throws Error, beginning with `origin`, unless the
/// file holds the training state of exactly this network.
TrainPosition unpack_training(const TensorFile& file, const std::string& origin,
                              const Network& network, Optimizer& optimizer);

/// Whether a run directory has files of this name, half-written ones included.
bool is_run_file(std::string_view name);

/// Writes checkpoint.safetensors; the one before it becomes previous.safetensors. At any moment
/// there is a whole one.
void save_checkpoint(const RunPaths& paths, const TensorFile& file);

enum class RunWeights { best, last };
/// The network of a run: best.safetensors if there is one and it is wanted, otherwise the
/// checkpoint.
Network load_run_network(const RunPaths& paths, RunWeights weights = RunWeights::best);
/// The same with its card, which files of version 0.1 do not have.
struct RunModel {
  Network network;
  std::optional<ModelCard> card;
};
RunModel load_run_model(const RunPaths& paths, RunWeights weights = RunWeights::best);

/// Reads a file of ours, checksum and all. For a damaged checkpoint the message tells of an intact
/// previous one.
TensorFile load_checkpoint(const RunPaths& paths, const std::filesystem::path& file);

}  // namespace bntt
