#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bntt/api.h"
#include "bntt/batch.h"
#include "bntt/images.h"
#include "bntt/input_spec.h"
#include "bntt/network.h"

namespace bntt {

/// How a model came to be and how good it was: for its users to read.
struct TrainingRecord {
  std::string data;                           ///< name of the data set
  std::string settings;                       ///< all settings of the run, as TOML
  int64_t epochs = 0;                         ///< that the weights have seen
  std::optional<double> validation_accuracy;  ///< of these weights, in per cent
  int64_t validation_images = 0;
  bool operator==(const TrainingRecord&) const = default;
};

/// What a model needs besides its network, and what its users want to know.
struct ModelCard {
  InputSpec input;
  std::vector<std::string> class_names;  ///< [class]; empty: not known
  TrainingRecord training;
  bool operator==(const ModelCard&) const = default;
};

/// How far a prediction runs, and with which draws.
struct PredictOptions {
  int64_t steps = 0;  ///< stop after so many; 0: all
  /// The place of the first sample among those for which the encoder draws spikes: image i of the
  /// test set gets the spikes that it gets in `bntt eval`.
  uint32_t first_sample = 0;
};

/// What a model says of one sample.
struct Prediction {
  int64_t label = 0;                 ///< the class with the largest logit, the first of equals
  std::vector<float> logits;         ///< [class]
  std::vector<float> probabilities;  ///< [class], their softmax
};

/// A trained network with all that inference needs. Nothing in it changes: any number of threads
/// may use one model, and copies share its memory.
class BNTT_API Model {
 public:
  /// A run's directory (its best weights, else its last) or one file of ours. Throws Error for
  /// files that are damaged or foreign. Files of version 0.1 know no preprocessing: it is taken
  /// from the run.toml beside them.
  static Model load(const std::filesystem::path& path);

  /// Throws Error unless the card fits the network.
  Model(Network network, ModelCard card);

  const Network& network() const;
  const ModelCard& card() const;
  int64_t classes() const;
  /// Its name, or its number where no names are known. Throws Error for a label out of range.
  std::string class_name(int64_t label) const;

  /// The logits of `bntt eval`, bit for bit. Images of another size are scaled as the card says,
  /// grey ones become coloured and coloured ones grey as the network requires.
  std::vector<Prediction> predict(const Images& images, const PredictOptions& options = {}) const;
  /// Samples in the network's own form, images or event counts.
  std::vector<Prediction> predict(const Batch& batch, const PredictOptions& options = {}) const;

  /// Images in the form that encode() and predict() take.
  Batch prepare(const Images& images, uint32_t first_sample = 0) const;
  /// What the network reads in steps [first_step, first_step + steps).
  Signal encode(const Batch& batch, int64_t first_step, int64_t steps) const;

 private:
  friend class Session;
  struct Contents;

  ChainState start(int64_t batch) const;

  std::shared_ptr<const Contents> contents_;
};

/// Softmax of logits [class].
BNTT_API std::vector<float> probabilities_of(std::span<const float> logits);

}  // namespace bntt
