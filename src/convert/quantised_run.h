#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "convert/least_error_scales.h"
#include "data/dataset.h"
#include "data/split.h"
#include "train/checkpoint.h"
#include "train/config.h"

namespace bntt {

enum class ScaleRule {
  max,    ///< 127 scales are the largest |weight| of an output channel
  error,  ///< the least squared error of the currents on training images
};
constexpr auto enum_names(ScaleRule) {
  return std::array{std::pair{ScaleRule::max, "max"}, std::pair{ScaleRule::error, "error"}};
}

struct QuantiseOptions {
  ScaleRule scales = ScaleRule::error;
  int64_t calibration_images = 128;
  uint64_t seed = 1;
  /// What is done, how far, of how much; a true answer stops.
  std::function<bool(const std::string& what, int64_t done, int64_t of)> progress;
};

struct QuantisedBranch {
  std::string name;
  int64_t weights = 0;
  bool int8 = false;     ///< false: it reads real values, and keeps fp32
  CurrentErrors errors;  ///< of ScaleRule::error
};

struct Quantisation {
  Network network;
  std::vector<QuantisedBranch> branches;  ///< those with weights
  bool stopped = false;                   ///< by `progress`: the network is of no use
};

/// The network with int8 weights wherever spikes meet them. `train` are the samples of `images`
/// that scales may be chosen by; ScaleRule::max looks at none. Throws Error, beginning with
/// `origin`, for a network that cannot be quantised.
Quantisation quantise(const Network& network, const EncoderSpec& encoder, const ImageSet& images,
                      SampleRange train, const QuantiseOptions& options, const std::string& origin);

/// The settings of a quantised run: those of the run that it was made of, and how that was done.
RunConfig quantised_settings(RunConfig config, const QuantiseOptions& options,
                             const std::string& origin);

/// Makes a run of it: run.toml, and one checkpoint. `card` is that of the fp32 run. Throws Error
/// where no run can begin.
void write_quantised_run(const RunPaths& paths, const RunConfig& config,
                         const Quantisation& quantisation, ModelCard card);

}  // namespace bntt
