#pragma once

#include <functional>
#include <vector>

#include "analyse/run.h"
#include "analyse/synapse_work.h"
#include "bntt/network.h"
#include "train/evaluate.h"

namespace bntt {

enum class SampleExit {
  none,
  confidence,  ///< the largest softmax probability
  margin,      ///< the difference between the largest and the second largest
};

struct InferenceOptions {
  int64_t steps = 0;  ///< of the run, for every image; 0: all
  /// An image is done and leaves the batch as soon as its measure reaches the limit. The measure is
  /// taken from the softmax of its voltage divided by the steps so far.
  SampleExit sample_exit = SampleExit::none;
  double limit = 1.0;
  StepWindows windows;              ///< steps at which synapses are active; empty: always
  bool count_work = false;          ///< fill `work`; its time is not part of `seconds`
  bool keep_probabilities = false;  ///< fill `probabilities`
  bool keep_trajectory = false;     ///< fill `trajectory`; requires one window per step
  std::function<bool(int64_t images)> progress;  ///< stops if it returns true
};

/// The answer of each image if it were stopped at a step: [image, step − first].
struct Trajectory {
  int64_t first_step = 1;  ///< the first step at which anything has reached the readout
  int64_t steps = 0;       ///< stored per image
  std::vector<int32_t> predictions;
  std::vector<float> confidence;
  std::vector<float> margin;
};

struct Inference {
  LossSums sums;
  int64_t steps = 0;                 ///< of the run; the largest number that an image took
  std::vector<int64_t> predictions;  ///< [image]
  std::vector<int64_t> steps_taken;  ///< [image], of the run
  std::vector<float> probabilities;  ///< [image, class]: the softmax when the image was done
  Activity activity;
  SynapseWork work;
  Trajectory trajectory;
  double seconds = 0.0;  ///< encoding and network, without loading and counting

  double accuracy() const { return sums.accuracy(); }
  double mean_steps() const;
  double spikes_per_image() const { return bntt::spikes_per_image(activity); }
  double ms_per_image() const;
};

/// Runs images until each is done. Without sample exit and windows the answer equals that of
/// evaluate, bit for bit.
Inference infer(const Network& network, const Sample& sample, const InferenceOptions& options);

}  // namespace bntt
