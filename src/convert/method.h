#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "bntt/network_spec.h"

namespace bntt {

/// The source of a converted network's thresholds.
enum class ThresholdRule {
  copied,          ///< 1 everywhere: weights are copied unchanged
  activations,     ///< from the activations of the ANN's neurons on calibration images
  weighted_inputs  ///< from the inputs of the spiking neurons, stage after stage
};

/// A published method to convert an ANN to a spiking network.
struct ConversionMethod {
  const char* name;
  const char* meaning;
  const char* source;  ///< the publication
  ThresholdRule rule;
  Reset reset;
  std::optional<float> floor;
  double percentile;  ///< of activations or weighted inputs, used as the largest
  bool direct_input;  ///< feed the image itself at every step; otherwise Poisson spikes
  bool pools_fire;    ///< average pools become stages of neurons with weights 1/n
  bool output_fires;  ///< the class with the most output spikes wins, not that of the highest
                      ///< voltage
};
std::span<const ConversionMethod> conversion_methods();

/// Throws Error for an unknown name and suggests the nearest known one.
const ConversionMethod& conversion_method(std::string_view name);

}  // namespace bntt
