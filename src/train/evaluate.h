#pragma once

#include <functional>

#include "bntt/network.h"
#include "data/dataset.h"
#include "data/encoder.h"
#include "data/split.h"
#include "train/checkpoint.h"

namespace bntt {

struct EvaluateOptions {
  EncoderSpec encoder;
  uint64_t seed = 1;
  int64_t steps = 0;  ///< of the run; 0: all of the spec's
  /// Called after every batch with the images done; a true answer stops.
  std::function<bool(int64_t)> progress;
};

/// Hidden neurons' spikes, not the encoder's.
double spikes_per_image(const Activity& activity);

struct Evaluation {
  LossSums sums;
  int64_t steps = 0;         ///< of the run
  int64_t active_steps = 0;  ///< of each stage
  Activity activity;

  double accuracy() const { return sums.accuracy(); }
  double spikes_per_image() const { return bntt::spikes_per_image(activity); }
  /// Spikes per neuron and active step of each hidden stage.
  std::vector<double> density(const Network& network) const;
};

/// Steps of each stage in a run that is stopped after `steps` steps; 0 stands for all of them.
/// Throws Error unless the readout sees something by then and the spec has so many.
int64_t active_steps_until(const NetworkSpec& spec, int64_t steps);

/// What the logits of a run that was stopped after `steps` steps must be multiplied with: the spec
/// divides by all steps, a shorter run by its own.
float stopped_logit_scale(const NetworkSpec& spec, int64_t steps);

/// As many as keep the currents of the largest stage, over `steps` steps, within a quarter of a
/// gigabyte.
int64_t images_per_batch(const Network& network, int64_t steps);

/// Throws Error, beginning with `run` and with what each of the two has, unless the network takes
/// images of this size in so many classes.
void expect_fitting_data(const NetworkSpec& spec, const ImageSet& images, const std::string& run,
                         const std::string& dataset);

/// Throws Error when event recordings have fewer frames than the network has active steps.
void expect_frames(const ImageSet& images, int64_t steps);

/// Every image of the range, in evaluation form. What an image gets does not depend on the batch it
/// is in.
Evaluation evaluate(const Network& network, const ImageSet& images, SampleRange range,
                    const EvaluateOptions& options);

}  // namespace bntt
