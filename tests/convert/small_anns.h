#pragma once

#include <algorithm>
#include <vector>

#include "base/random.h"
#include "bntt/encoder.h"
#include "bntt/network.h"
#include "bntt/zoo.h"
#include "data/dataset.h"

namespace bntt::testing {

inline const NormSpec kNoNorm{.kind = "none"};
inline const NeuronSpec kRelu{.kind = "relu"};

/// Uniform in [low, high), a number of its own for every `which` and place.
inline void fill_random(uint32_t which, float low, float high, Buffer<float>& values) {
  for (int64_t i = 0; i < values.size(); ++i) {
    const auto bits =
        draw4(7, Purpose::weights, {.sample = which, .block = static_cast<uint32_t>(i)});
    values[i] = low + (high - low) * uniform01(bits[0]);
  }
}

/// γ, β, biases and running statistics that are not those of a new network.
inline void make_unlike_new(Network& network) {
  uint32_t which = 100;
  for (Parameter& parameter : network.parameters()) {
    ++which;
    if (parameter.group == ParameterGroup::weight) continue;
    const float middle = parameter.group == ParameterGroup::gain ? 1.0F : 0.0F;
    fill_random(which, middle - 0.4F, middle + 0.4F, parameter.value);
  }
  for (Statistic& statistic : network.statistics()) {
    const bool variance = statistic.name.ends_with("var");
    fill_random(++which, variance ? 0.5F : -0.3F, variance ? 2.0F : 0.3F, statistic.value);
  }
}

/// Noise that no two images share; image i has the label i mod 4.
inline ImageSet noisy_images(int64_t images, const MapShape& shape) {
  ImageSet set;
  set.shape = shape;
  set.classes = 4;
  std::vector<uint8_t> pixels;
  for (int64_t image = 0; image < images; ++image) {
    set.labels.push_back(image % 4);
    for (int64_t i = 0; i < shape.size(); ++i) {
      const auto bits =
          draw4(3, Purpose::augmentation,
                {.sample = static_cast<uint32_t>(image), .block = static_cast<uint32_t>(i)});
      pixels.push_back(static_cast<uint8_t>(bits[0] >> 24));
    }
  }
  set.pixels = std::move(pixels);
  return set;
}

/// What a network says of images after its last step: [image, class].
inline Buffer<float> logits_of(const Network& network, const Batch& batch,
                               const EncoderSpec& encoder) {
  ChainState state = network.start(batch.size());
  network.advance(encode(batch, network.spec().steps, encoder, 1, kEvaluationEpoch), state);
  return network.logits(state);
}

inline Parameter& parameter_of(Network& network, const std::string& name) {
  return *std::ranges::find(network.parameters(), name, &Parameter::name);
}

}  // namespace bntt::testing
