#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bntt/encoder.h"
#include "bntt/network.h"
#include "convert/method.h"
#include "data/dataset.h"
#include "data/split.h"

namespace bntt {

struct ConversionOptions {
  std::string method = "rmp";     ///< a name of conversion_methods()
  int64_t steps = 100;            ///< of the converted network
  int64_t calibration_steps = 0;  ///< of spike-norm and rmp; 0: as many as `steps`
  int64_t calibration_images = 512;
  std::optional<double> percentile;  ///< otherwise the method's own
  double threshold_scale = 1.0;      ///< multiplies every threshold
  /// Instead of `threshold_scale`: the one of these with the best accuracy on validation images.
  std::vector<double> sweep;
  /// While thresholds are searched, earlier stages have theirs times `threshold_scale` already.
  bool scaled_search = false;
  std::optional<Reset> reset;          ///< otherwise the method's own
  std::optional<EncoderKind> encoder;  ///< otherwise the method's own
  uint64_t seed = 1;
  /// What is done, how far, of how much; a true answer stops.
  std::function<bool(const std::string& what, int64_t done, int64_t of)> progress;
};

struct ConvertedStage {
  std::string name;
  float threshold = 1.0F;
  float scale = 1.0F;  ///< the activation that one spike per step stands for
};

struct ScaleTrial {
  double threshold_scale = 1.0;
  double accuracy = 0.0;  ///< on validation images
};

struct Conversion {
  Network network;
  EncoderSpec encoder;
  std::vector<ConvertedStage> stages;  ///< the hidden ones
  double threshold_scale = 1.0;
  std::vector<ScaleTrial> sweep;
  bool stopped = false;  ///< by `progress`: the network is of no use
};

/// The images that a conversion looks at: `train` for thresholds, `validation` for a sweep.
struct ConversionImages {
  const ImageSet& images;
  SampleRange train;
  SampleRange validation;
};

/// An ANN as a spiking network. `encoder` is the ANN's. Throws Error, beginning with `origin`, for
/// a network that is not an ANN or has a stage that no rule covers, and for options that do not
/// fit.
Conversion convert(const Network& ann, const EncoderSpec& encoder, const ConversionImages& images,
                   const ConversionOptions& options, const std::string& origin);

}  // namespace bntt
