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

struct BatchAnswers {
  std::vector<int64_t> predictions;  ///< [image]
  std::vector<int64_t> steps_taken;  ///< [image], of the run
  Buffer<float> logits;              ///< [image, class], when the image was done
  Activity activity;
  Trajectory trajectory;
  double seconds = 0.0;  ///< encoding and network, without counting
};

void add_activity(const Activity& more, Activity& sum);

/// Runs batches, each until all of its images are done. The result for an image does not depend on
/// the others.
class BatchInference {
 public:
  /// All arguments but the seed must outlive the object, and the network's numbers must not change.
  BatchInference(const Network& network, const EncoderSpec& encoder, uint64_t seed,
                 const InferenceOptions& options);

  int64_t active_steps() const { return active_steps_; }
  /// Steps that all images take before any of them may exit.
  int64_t steps_per_window() const;
  int64_t run_steps(int64_t local_steps) const;

  BatchAnswers run(const Batch& batch);
  /// The work of all batches so far, if it is counted.
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
