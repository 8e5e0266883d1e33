#pragma once

#include <functional>
#include <vector>

#include "bntt/encoder.h"
#include "bntt/network.h"
#include "data/dataset.h"
#include "data/split.h"
#include "model/stopping.h"
#include "train/checkpoint.h"

namespace bntt {

struct EvaluateOptions {
  EncoderSpec encoder;
  uint64_t seed = 1;
  int64_t steps = 0;  ///< of the run; 0: all of the spec's
  /// Steps of the run after which the images are evaluated as well, in any order.
  std::vector<int64_t> at_steps;
  /// Called after every batch with the number of images done; stops if it returns true.
  std::function<bool(int64_t)> progress;
};

/// Spikes of hidden neurons, not of the encoder.
double spikes_per_image(const Activity& activity);

/// The result if the images are stopped after some steps.
struct StoppedEvaluation {
  int64_t steps = 0;  ///< of the run
  LossSums sums;
  double spikes_per_image = 0.0;
};

struct Evaluation {
  LossSums sums;
  int64_t steps = 0;         ///< of the run
  int64_t active_steps = 0;  ///< of each stage
  Activity activity;
  std::vector<StoppedEvaluation> stopped;  ///< after EvaluateOptions::at_steps, ascending

  double accuracy() const { return sums.accuracy(); }
  double spikes_per_image() const { return bntt::spikes_per_image(activity); }
  /// Spikes per neuron and active step of each stage that spikes.
  std::vector<double> density(const Network& network) const;
};

/// Throws an Error that begins with `run` and gives the values of both sides unless the network
/// takes images of this size with this number of classes. `class_names` are those of the run, to
/// tell which classes differ; may be empty.
void expect_fitting_data(const NetworkSpec& spec, const ImageSet& images,
                         std::span<const std::string> class_names, const std::string& run,
                         const std::string& dataset);

/// Throws Error if event recordings have fewer frames than the network has active steps.
void expect_frames(const ImageSet& images, int64_t steps);

/// Evaluates every image of the range. The result for an image does not depend on its batch.
/// Processes the steps in windows of kStepsPerWindow.
Evaluation evaluate(const Network& network, const ImageSet& images, SampleRange range,
                    const EvaluateOptions& options);

}  // namespace bntt
