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
  int64_t calibration_steps = 0;  ///< for spike-norm and rmp; 0: the same as `steps`
  int64_t calibration_images = 512;
  std::optional<double> percentile;  ///< default: that of the method
  double threshold_scale = 1.0;      ///< multiplies every threshold
  /// Instead of `threshold_scale`: tries these and takes the one with the best validation accuracy.
  std::vector<double> sweep;
  /// During the search for thresholds, those of earlier stages are already multiplied by
  /// `threshold_scale`.
  bool scaled_search = false;
  /// Leave the readout's weights as they are, as Rathi et al. (2020) do; otherwise they are scaled
  /// such that its mean voltages approach the ANN's logits.
  bool copy_readout = false;
  std::optional<Reset> reset;          ///< default: that of the method
  std::optional<EncoderKind> encoder;  ///< default: that of the method
  uint64_t seed = 1;
  /// Called with the task, the amount done and the total; stops if it returns true.
  std::function<bool(const std::string& what, int64_t done, int64_t of)> progress;
};

struct ConvertedStage {
  std::string name;
  float threshold = 1.0F;
  float scale = 1.0F;  ///< the activation that one spike per step represents
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
  bool stopped = false;  ///< by `progress`: the network is unusable
};

/// The images that a conversion uses: `train` for thresholds, `validation` for a sweep.
struct ConversionImages {
  const ImageSet& images;
  SampleRange train;
  SampleRange validation;
};

/// Converts an ANN to a spiking network. `encoder` is the ANN's. Throws an Error that begins with
/// `origin` for a network that is not an ANN or has a stage that no rule covers, and for unsuitable
/// options.
Conversion convert(const Network& ann, const EncoderSpec& encoder, const ConversionImages& images,
                   const ConversionOptions& options, const std::string& origin);

}  // namespace bntt
