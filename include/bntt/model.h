#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
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

/// How a model was trained and how good it was: information for its users.
struct TrainingRecord {
  std::string data;                           ///< name of the data set
  std::string settings;                       ///< all settings of the run, as TOML
  int64_t epochs = 0;                         ///< completed when the weights were saved
  std::optional<double> validation_accuracy;  ///< of these weights, in per cent
  int64_t validation_images = 0;              ///< number of images behind validation_accuracy
  bool operator==(const TrainingRecord&) const = default;
};

/// What a model needs besides its network, and information for its users.
struct ModelCard {
  InputSpec input;                       ///< how a sample becomes the network's input
  std::vector<std::string> class_names;  ///< [class]; empty: unknown
  TrainingRecord training;               ///< information only
  bool operator==(const ModelCard&) const = default;
};

/// How many steps a prediction runs, and its random draws.
struct PredictOptions {
  int64_t steps = 0;  ///< stop after this many; 0: all
  /// The index of the first sample for the encoder's random draws: image i of the test set gets the
  /// spikes that it gets in `bntt eval`.
  /// Has no effect in predict(Batch), where Batch::sample_ids has the indices.
  uint32_t first_sample = 0;
  /// A sample stops as soon as the largest softmax probability of its voltage, divided by the steps
  /// so far, reaches this value. Samples then run one by one.
  std::optional<double> exit_confidence;
  bool count_spikes = false;  ///< fill Prediction::spikes; samples then run one by one
  /// Called from time to time, on the thread that called predict, with the number of samples done.
  /// If it returns true, the call stops and returns the predictions so far.
  std::function<bool(int64_t samples)> progress;
};

/// The answer of a model for one sample.
struct Prediction {
  int64_t label = 0;                 ///< the class with the largest logit, the first of equals
  std::vector<float> logits;         ///< [class]
  std::vector<float> probabilities;  ///< [class], their softmax
  int64_t steps = 0;                 ///< of the run that it took
  int64_t spikes = 0;                ///< of hidden neurons; counted on request
};

/// A trained network with everything that inference needs. It is immutable: any number of threads
/// may use one model, and copies share its memory.
class BNTT_API Model {
 public:
  /// Loads a run's directory (its best weights, otherwise its last) or one of our files. Throws
  /// Error for damaged or foreign files. Files of version 0.1 do not contain the preprocessing: it
  /// is taken from the run.toml beside them.
  static Model load(const std::filesystem::path& path);

  /// Throws Error unless the card fits the network and could be stored in a file: see InputSpec;
  /// the training's numbers are not negative, and its accuracy is 0 to 100.
  Model(Network network, ModelCard card);
  /// Copies share all memory, so moving is copying: a model is never empty.
  /// @{
  Model(const Model&) = default;
  Model& operator=(const Model&) = default;
  /// @}
  ~Model() = default;

  /// Writes one .safetensors file that load() and `bntt inspect` read. An existing file is replaced
  /// once the new one is complete. Throws Error if it cannot be written.
  void save(const std::filesystem::path& file) const;

  const Network& network() const;  ///< valid as long as the model or a copy of it
  const ModelCard& card() const;   ///< valid as long as the model or a copy of it
  int64_t classes() const;         ///< the number of classes
  /// The name of a class, or its number if no names are known. Throws Error for a label out of
  /// range.
  std::string class_name(int64_t label) const;

  /// Gives the logits of `bntt eval`, bit for bit. Images of a different size are resized as the
  /// card says; grey images become colour and colour images grey, as the network requires.
  std::vector<Prediction> predict(const Images& images, const PredictOptions& options = {}) const;
  /// The same for samples in the network's own shape, images or event counts.
  std::vector<Prediction> predict(const Batch& batch, const PredictOptions& options = {}) const;

  /// Images in the form that encode() and predict() take.
  Batch prepare(const Images& images, uint32_t first_sample = 0) const;
  /// The network's input in steps [first_step, first_step + steps).
  Signal encode(const Batch& batch, int64_t first_step, int64_t steps) const;

 private:
  friend class Session;
  struct Contents;

  ChainState start(int64_t batch) const;
  void advance_until(const Batch& batch, int64_t steps, const AdvanceOptions& options,
                     ChainState& state) const;
  Prediction predict_one(const Batch& sample, int64_t steps, const PredictOptions& options,
                         ChainState& state) const;
  std::vector<Prediction> predictions_of(const ChainState& state) const;

  std::shared_ptr<const Contents> contents_;
};

/// Softmax of logits [class]; empty for none. May be called from several threads.
BNTT_API std::vector<float> probabilities_of(std::span<const float> logits);

}  // namespace bntt
