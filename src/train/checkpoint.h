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

/// The position of training: the next batch to process.
struct TrainPosition {
  int64_t epoch = 0;
  int64_t batch = 0;  ///< of the epoch
  int64_t step = 0;   ///< of the whole run
  uint64_t metrics_bytes = 0;
  LossSums since_log;
  LossSums since_epoch;
  double best_accuracy = -1.0;
  int64_t best_epoch = 0;  ///< counted from 1; 0: none yet
  int64_t images = 0;      ///< in the training set, including those for validation; 0: unknown
  std::string settings;    ///< see lasting_settings; empty: unknown
};

/// A model file with the state of training. A file for inference has no `optimizer` and `position`.
TensorFile pack_checkpoint(const Network& network, const ModelCard& card,
                           const Optimizer* optimizer, const TrainPosition* position);

/// Fills the optimiser and returns the position. Throws an Error that begins with `origin` unless
/// the file holds the training state of exactly this network.
TrainPosition unpack_training(const TensorFile& file, const std::string& origin,
                              const Network& network, Optimizer& optimizer);

/// Whether this is the name of a file of a run directory, including partly written files.
bool is_run_file(std::string_view name);

/// Writes checkpoint.safetensors; the previous one becomes previous.safetensors. At any moment
/// there is a complete checkpoint.
void save_checkpoint(const RunPaths& paths, const TensorFile& file);

enum class RunWeights { best, last };
/// The network of a run: best.safetensors if it exists and is wanted, otherwise the checkpoint.
Network load_run_network(const RunPaths& paths, RunWeights weights = RunWeights::best);
/// The same with its card, which files of version 0.1 do not have.
struct RunModel {
  Network network;
  std::optional<ModelCard> card;
};
RunModel load_run_model(const RunPaths& paths, RunWeights weights = RunWeights::best);

/// Reads one of our files and verifies its checksum. For a damaged checkpoint the message mentions
/// an intact previous one.
TensorFile load_checkpoint(const RunPaths& paths, const std::filesystem::path& file);

}  // namespace bntt
