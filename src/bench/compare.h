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
  bool scaling = false;  ///< also with one thread, twice the steps, twice the batch
  /// Of inference, also with windows of this share of the steps, and with images that leave after
  /// it on average; 0: without them.
  double rules_share = 0.0;
  std::filesystem::path own_program;  ///< runs OurEngine for the arguments "bench worker JOB"
  std::filesystem::path
      torch_program;  ///< runs LibTorch for the argument JOB; empty: no comparison
  std::function<void(const std::string&)> note = [](const std::string&) {};
};

/// One engine at one job.
struct Timing {
  std::string variant;          ///< of LibTorch
  std::vector<double> seconds;  ///< of each repeat
  int64_t images = 0;           ///< of each repeat
  int64_t peak_memory_bytes = 0;

  double best_seconds() const;
  double best_rate() const;  ///< images per second
  double median_rate() const;
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
  double wanted_density = 0.0;
  double density = 0.0;
  int64_t batch = 0;
  int64_t steps = 0;
  int64_t threads = 0;
  Timing ours;
  std::optional<Timing> torch_fp32;
  std::optional<Timing> torch_bf16;
  std::string no_bf16;  ///< why there is none
  /// Of the fastest repeat, with what lies outside the stages: together ours.best_seconds().
  std::vector<StageCost> stages;
  std::vector<RuleResult> rules;
};

struct Report {
  Machine machine;
  std::string images_from;
  std::string break_even_from;
  std::vector<double> break_even;  ///< forward and weight gradient of every synapse
  std::string dense_above;         ///< the same for the reader
  std::vector<Result> results;
  std::vector<Result> scaling;  ///< the first result's job, then with one thread (if it had more),
                                ///< twice the steps, twice the batch
};

Report compare(const Options& options);

}  // namespace bntt::bench
