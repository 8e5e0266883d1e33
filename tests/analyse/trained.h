#pragma once

#include "analyse/run.h"
#include "base/random.h"
#include "bntt/encoder.h"
#include "data/loader.h"
#include "layers/loss.h"
#include "learn/sgd.h"

namespace bntt::testing {

/// Four classes of 8x8 images: one quadrant is a little brighter than the others, all are noisy.
inline ImageSet quadrants(int64_t images, uint32_t first_id) {
  ImageSet set;
  set.shape = {1, 8, 8};
  set.classes = 4;
  set.first_id = first_id;
  std::vector<uint8_t> pixels;
  for (int64_t image = 0; image < images; ++image) {
    const int64_t label = image % 4;
    set.labels.push_back(label);
    for (int64_t pixel = 0; pixel < 64; ++pixel) {
      const auto bits = draw4(99, Purpose::augmentation,
                              {.sample = first_id + static_cast<uint32_t>(image),
                               .block = static_cast<uint32_t>(pixel)});
      const bool bright = pixel / 32 == label / 2 && pixel % 8 / 4 == label % 2;
      const float value = 0.6F * uniform01(bits[0]) + (bright ? 0.35F : 0.15F);
      pixels.push_back(static_cast<uint8_t>(255.0F * value));
    }
  }
  set.pixels = std::move(pixels);
  return set;
}

struct TrainedOptions {
  std::string neuron = "lif";
  std::string norm = "bntt";
  Propagation propagation = Propagation::instant;
  EncoderKind encoder = EncoderKind::poisson_signed;
  int64_t steps = 6;
  int64_t epochs = 6;
};

/// A small network that has learned something, in a second.
struct Trained {
  explicit Trained(const TrainedOptions& options)
      : train(quadrants(240, 0)),
        test(quadrants(200, kFirstTestId)),
        encoder{options.encoder, {{0.5F}, {0.2F}}},
        network(spec(options), 1) {
    Sgd sgd(network, {});
    const EvalLoader loader(train, 40);
    for (int64_t epoch = 0; epoch < options.epochs; ++epoch) {
      for (int64_t i = 0; i < loader.batches(); ++i) {
        const Batch batch = loader.batch(i);
        const Trace trace = network.forward(
            encode(batch, active_steps(network.spec()), encoder, 1, static_cast<uint32_t>(epoch)),
            NormMode::batch);
        network.backward(trace, cross_entropy(trace.logits, batch.labels).gradient);
        sgd.step(network, 0.1);
      }
    }
  }

  Sample sample() const { return {test, {0, test.size()}, encoder, 1}; }
  Sample validation() const { return {train, {200, 240}, encoder, 1}; }

  ImageSet train;
  ImageSet test;
  EncoderSpec encoder;
  Network network;

 private:
  static NetworkSpec spec(const TrainedOptions& options) {
    const NormSpec norm{.kind = options.norm};
    const NeuronSpec neuron{.kind = options.neuron};
    return {.input = {1, 8, 8},
            .steps = options.steps,
            .propagation = options.propagation,
            .stages = {Conv3x3{6, norm, neuron}, AvgPool{2}, Dense{12, norm, neuron},
                       Readout{.classes = 4}}};
  }
};

}  // namespace bntt::testing
