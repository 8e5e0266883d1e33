#pragma once

#include "analyse/run.h"
#include "bntt/network.h"

namespace bntt::testing {

/// A network and three images whose every number can be computed on paper: pixels are 0 or 1, so
/// that rate coding leaves nothing to chance, and all values are dyadic.
///
/// An image has one bright pixel: the centre, the upper left, or
/// the lower right corner of a 3x3 map. conv1 has two channels and only centre taps, 1 and 1/2; λ =
/// 1/2, σ² + ε = 1, μ = 0. With γ = (2, 2), (1, 1/2), (1/4, −1/4), (1/16, 1/16), the bright pixel's
/// membranes are
///   channel 0:  2, 3/2, 1/2, 5/16   it fires at the steps 1 and 2
///   channel 1:  1, 3/4, 1/4, 5/32   it never fires: 1 is not above 1
/// A 2x2 pool keeps the upper left four pixels. fc1 has two features with weights 8 and 4 from
/// channel 0, so that a spike, 1/4 after pooling, gives the currents 2 and 1; γ = 1, 1/2, 1/2, 1/8.
/// Its membranes, for the first two images, are
///   feature 0:  2, 3/2, 1/4, 1/8    it fires at the steps 1 and 2
///   feature 1:  1, 1, 1/2, 1/4      it never fires
/// The readout has two classes; class 0 gets 1 from each spike of feature 0, class 1 nothing.
class PaperNetwork {
 public:
  PaperNetwork() : network(spec(), 1) {
    for (Parameter& parameter : network.parameters()) parameter.value.fill(0.0F);
    // [tap, in, out]: tap 4 is the centre.
    set("conv1.weight", {{8, 1.0F}, {9, 0.5F}});
    set("conv1.norm.weight", {{0, 2.0F},
                              {1, 2.0F},
                              {2, 1.0F},
                              {3, 0.5F},
                              {4, 0.25F},
                              {5, -0.25F},
                              {6, 0.0625F},
                              {7, 0.0625F}});
    set("fc1.weight", {{0, 8.0F}, {1, 4.0F}});
    set("fc1.norm.weight", {{0, 1.0F},
                            {1, 1.0F},
                            {2, 0.5F},
                            {3, 0.5F},
                            {4, 0.5F},
                            {5, 0.5F},
                            {6, 0.125F},
                            {7, 0.125F}});
    set("fc2.weight", {{0, 1.0F}});
    for (Statistic& statistic : network.statistics()) {
      if (statistic.name.ends_with("running_var")) statistic.value.fill(1.0F - 1e-4F);
    }

    images.shape = {1, 3, 3};
    images.classes = 2;
    std::vector<uint8_t> pixels(27, 0);
    pixels[4] = 255;
    pixels[9] = 255;
    pixels[18 + 8] = 255;
    images.pixels = std::move(pixels);
    images.labels = {0, 1, 0};
    images.first_id = 7;
  }

  Sample sample() const { return {images, {0, 3}, encoder, 1}; }

  Network network;
  ImageSet images;
  EncoderSpec encoder{.kind = EncoderKind::poisson_unsigned};

 private:
  static NetworkSpec spec() {
    const NeuronSpec neuron{.leak = 0.5F};
    return {.input = {1, 3, 3},
            .steps = 4,
            .stages = {Conv3x3{.channels = 2, .neuron = neuron}, AvgPool{2},
                       Dense{.features = 2, .neuron = neuron}, Readout{.classes = 2}}};
  }
  void set(const std::string& name, const std::vector<std::pair<int64_t, float>>& values) {
    for (Parameter& parameter : network.parameters()) {
      if (parameter.name != name) continue;
      for (const auto& [index, value] : values) parameter.value[index] = value;
    }
  }
};

}  // namespace bntt::testing
