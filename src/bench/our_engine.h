#pragma once

#include <limits>
#include <optional>

#include "analyse/batch_inference.h"
#include "bench/job.h"
#include "bench/stage_cost.h"
#include "bench/worker.h"
#include "bench/workload.h"
#include "learn/sgd.h"

namespace bntt::bench {

/// Our training step (encoding, forward, loss, backward, SGD) or inference. The learning rate is
/// zero: the work is the same, and every unit has the same density.
class OurEngine final : public Engine {
 public:
  explicit OurEngine(const Job& job);

  void warm_up() override;
  void run_unit() override;
  Json report() const override;
  /// The fastest unit so far.
  double seconds() const { return fastest_.whole; }
  const StageSeconds& stage_seconds() const { return fastest_.stages; }

 private:
  void train();
  void infer();
  void infer(const Batch& batch, Activity* activity);
  Signal encode_timed(const Batch& batch);

  Job job_;
  Workload workload_;
  Sgd sgd_;
  ChainState state_;  // for inference: weights are packed once
  InferenceOptions rule_;
  std::optional<BatchInference> leaving_;  // of Rule::sample_exit
  double mean_steps_ = 0.0;                // of the images of a unit
  Density density_;
  Signal input_;  // of one batch

  /// How the time of a unit is divided.
  struct UnitSeconds {
    double whole = std::numeric_limits<double>::infinity();
    StageSeconds stages;
    double encode = 0.0;
    double loss = 0.0;
    double sgd = 0.0;
  };
  UnitSeconds now_;
  UnitSeconds fastest_;
};

}  // namespace bntt::bench
