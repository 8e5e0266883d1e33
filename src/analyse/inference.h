#pragma once

#include <vector>

#include "analyse/batch_inference.h"
#include "analyse/run.h"
#include "bntt/network.h"
#include "train/evaluate.h"

namespace bntt {

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
