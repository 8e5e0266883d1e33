#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/job.h"
#include "bench/machine.h"
#include "bench/stage_cost.h"
#include "bench/workload.h"

namespace bntt::bench {

struct Options {
  Kind kind = Kind::train;
  WorkloadOptions workload;
  std::vector<int64_t> batches = {32};
  std::vector<double> densities = {0.25, 0.10, 0.05, 0.02};
  int64_t threads = 1;
  Precision precision = Precision::fp32;  ///< of our training
  int64_t repeats = 3;
  bool int8 = false;     ///< inference with int8 weights too, in turn with fp32
  bool scaling = false;  ///< also time one thread, twice the steps, twice the batch
  /// For inference, also time windows of this share of the steps, and images that exit after it on
  /// average; 0: do not.
  double rules_share = 0.0;
  std::filesystem::path own_program;  ///< runs OurEngine for the arguments "bench worker JOB"
  std::filesystem::path
      torch_program;  ///< runs LibTorch for the argument JOB; empty: no comparison
  std::filesystem::path previous_program;  ///< another bntt to time in turn; empty: none
  std::function<void(const std::string&)> note = [](const std::string&) {};
};

/// One engine running one job.
struct Timing {
  std::string variant;                    ///< of LibTorch
  std::vector<double> seconds;            ///< of each repeat
  std::vector<double> processor_seconds;  ///< the same, of all threads together
  int64_t images = 0;                     ///< of each repeat
  int64_t peak_memory_bytes = 0;

  double best_seconds() const;
  double best_processor_seconds() const;
  double best_rate() const;  ///< images per second
  double median_rate() const;
  /// The least of the repeats: on a busy machine steadier than the rate, if waiting threads sleep.
  double processor_seconds_per_image() const;
};

/// Inference that leaves steps out, measured in turn with the whole.
struct RuleResult {
  Rule rule = Rule::windows;
  double work = 1.0;  ///< share of the steps at which synapses work, or that images take
  Timing ours;
  /// Neurons, encoder and the share of the synapses' time that is left, stage by stage; where
  /// images leave, the share of all of it.
  double expected_seconds = 0.0;
};

struct Result {
  Kind kind = Kind::train;
  std::optional<double> wanted_density;  ///< empty: the network's own, which has no γ to scale
  double density = 0.0;
  int64_t batch = 0;
  int64_t steps = 0;
  int64_t threads = 0;
  Timing ours;
  std::optional<Timing> previous;  ///< of Options::previous_program
  std::optional<Timing> int8;      ///< ours with int8 weights
  std::optional<Timing> torch_fp32;
  std::optional<Timing> torch_bf16;
  std::string no_bf16;  ///< why there is no bf16 timing
  /// The fastest repeat, including time outside the stages: adds up to ours.best_seconds().
  std::vector<StageCost> stages;
  std::vector<RuleResult> rules;
};

struct Report {
  Machine machine;
  std::string images_from;
  std::string break_even_from;
  std::vector<double> break_even;  ///< forward and weight gradient of every synapse
  std::string dense_above;         ///< the same as text
  std::vector<Result> results;
  std::vector<Result> scaling;  ///< the first result's job, then with one thread (if it had more),
                                ///< twice the steps, twice the batch
};

Report compare(const Options& options);

}  // namespace bntt::bench
