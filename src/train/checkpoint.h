#pragma once

#include <filesystem>

#include "base/safetensors.h"
#include "bntt/network.h"
#include "train/optimizer.h"

namespace bntt {

/// Sums that a report will average: all that must survive a stop besides the numbers of network and
/// optimiser.
struct LossSums {
  double loss = 0.0;  ///< of images, summed
  int64_t correct = 0;
  int64_t images = 0;

  double mean_loss() const { return images > 0 ? loss / static_cast<double>(images) : 0.0; }
  double accuracy() const {
    return images > 0 ? 100.0 * static_cast<double>(correct) / static_cast<double>(images) : 0.0;
  }
};

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
};

/// All parameters and running statistics in PyTorch's axis order, under their declared names.
TensorFile to_state_dict(const Network& network);

/// Tensors in PyTorch's axis order under state-dict names, the network's description in the
/// metadata. Equal states give equal bytes: no time stamps, no thread counts. `optimizer` and
/// `position` are left out of a file for inference.
TensorFile pack_checkpoint(const Network& network, const Optimizer* optimizer,
                           const TrainPosition* position);

/// The network that a checkpoint was made with. Throws Error for files that are not ours.
NetworkSpec checkpoint_network(const TensorFile& file, const std::string& origin);

/// Fills network (and optimiser); returns the position. Throws Error, beginning with `origin`,
/// unless the file holds exactly this network.
void unpack_network(const TensorFile& file, const std::string& origin, Network& network);
TrainPosition unpack_training(const TensorFile& file, const std::string& origin,
                              const Network& network, Optimizer& optimizer);

/// The files of a run: see "A run on disk" in docs/runs.md.
struct RunPaths {
  std::filesystem::path directory;
  std::filesystem::path settings() const { return directory / "run.toml"; }
  std::filesystem::path metrics() const { return directory / "metrics.jsonl"; }
  std::filesystem::path checkpoint() const { return directory / "checkpoint.safetensors"; }
  std::filesystem::path previous() const { return directory / "previous.safetensors"; }
  std::filesystem::path best() const { return directory / "best.safetensors"; }
};

/// Writes checkpoint.safetensors; the one before it becomes previous.safetensors. At any moment
/// there is a whole one.
void save_checkpoint(const RunPaths& paths, const TensorFile& file);

enum class RunWeights { best, last };
/// The network of a run: best.safetensors if there is one and it is wanted, otherwise the
/// checkpoint.
Network load_run_network(const RunPaths& paths, RunWeights weights = RunWeights::best);

/// Reads a file of ours, checksum and all. For a damaged checkpoint the message tells of an intact
/// previous one.
TensorFile load_checkpoint(const RunPaths& paths, const std::filesystem::path& file);

}  // namespace bntt
