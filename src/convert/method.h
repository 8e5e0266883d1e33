#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "bntt/network_spec.h"

namespace bntt {

/// Where the thresholds of a converted network come from.
enum class ThresholdRule {
  copied,          ///< 1 everywhere: weights are copied as they are
  activations,     ///< what the ANN's neurons give on calibration images
  weighted_inputs  ///< what arrives at the spiking neurons, stage after stage
};

/// A published way from an ANN to a spiking network.
struct ConversionMethod {
  const char* name;
  const char* meaning;
  const char* source;  ///< the publication
  ThresholdRule rule;
  Reset reset;
  std::optional<float> floor;
  double percentile;  ///< of activations or weighted inputs, which stands for the largest
  bool direct_input;  ///< the image itself at every step; otherwise Poisson spikes
  bool pools_fire;    ///< average pools are stages of neurons with weights 1/n
};
std::span<const ConversionMethod> conversion_methods();

/// Throws Error for an unknown name, with the nearest known one.
const ConversionMethod& conversion_method(std::string_view name);

}  // namespace bntt
