#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "analyse/synapse_work.h"
#include "bntt/batch.h"
#include "bntt/encoder.h"
#include "bntt/network.h"

namespace bntt {

enum class SampleExit {
  none,
  confidence,  ///< the largest softmax probability
  margin,      ///< its distance from the second largest
};

struct InferenceOptions {
  int64_t steps = 0;  ///< of the run, for every image; 0: all
  /// An image is done as soon as its measure reaches the limit, judged by the softmax of its
  /// voltage divided by the steps taken so far; it leaves the batch.
  SampleExit sample_exit = SampleExit::none;
  double limit = 1.0;
  StepWindows windows;                           ///< steps at which synapses work; empty: always
  bool count_work = false;                       ///< fill `work`; its time is not part of `seconds`
  bool keep_probabilities = false;               ///< fill `probabilities`
  bool keep_trajectory = false;                  ///< fill `trajectory`; needs one window per step
  std::function<bool(int64_t images)> progress;  ///< a true answer stops
};

/// What each image would answer if it were stopped at a step: [image, step − first].
struct Trajectory {
  int64_t first_step = 1;  ///< the first step at which the readout has seen something
  int64_t steps = 0;       ///< kept per image
  std::vector<int32_t> predictions;
  std::vector<float> confidence;
  std::vector<float> margin;
};

struct BatchAnswers {
  std::vector<int64_t> predictions;  ///< [image]
  std::vector<int64_t> steps_taken;  ///< [image], of the run
  Buffer<float> logits;              ///< [image, class], when the image was done
  Activity activity;
  Trajectory trajectory;
  double seconds = 0.0;  ///< encoding and network, without counting
};

void add_activity(const Activity& more, Activity& sum);

/// Runs batches, each until all of its images are done. What an image gets does not depend on the
/// others.
class BatchInference {
 public:
  /// All but the seed must outlive it, and the network must keep its numbers meanwhile.
  BatchInference(const Network& network, const EncoderSpec& encoder, uint64_t seed,
                 const InferenceOptions& options);

  int64_t active_steps() const { return active_steps_; }
  /// Steps that all images take before anyone is asked.
  int64_t steps_per_window() const;
  int64_t run_steps(int64_t local_steps) const;

  BatchAnswers run(const Batch& batch);
  /// Of all batches so far, if work is counted.
  SynapseWork take_work() { return counter_.take(); }

 private:
  class Group;
  bool step_by_step() const;
  int64_t images_together(int64_t images) const;
  /// Images [first, first + count) of the batch; returns the seconds that counting took.
  double run_group(const Batch& batch, int64_t first, int64_t count, Activity& activity,
                   BatchAnswers& answers);
  void finish_images(Group& group, BatchAnswers& answers) const;

  const Network& network_;
  const EncoderSpec& encoder_;
  uint64_t seed_;
  const InferenceOptions& options_;
  int64_t active_steps_;
  int64_t classes_;
  ChainState start_;  // whose prepared weights all groups share
  WorkCounter counter_;
};

}  // namespace bntt
