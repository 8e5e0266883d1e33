#pragma once

#include <bit>
#include <cstdint>
#include <variant>

#include "base/random.h"
#include "bntt/buffer.h"
#include "bntt/network_spec.h"
#include "bntt/signal.h"

namespace bntt::testing {

/// One number that stands for every bit of what was added.
class Checksum {
 public:
  void add(const Buffer<float>& values) {
    for (const float value : values) add(std::bit_cast<uint32_t>(value));
  }
  void add(const Buffer<SpikeWord>& words) {
    for (const SpikeWord word : words) add(word);
  }
  void add(const Signal& signal) {
    if (const auto* spikes = std::get_if<SpikeTrain>(&signal)) {
      add(spikes->words());
    } else {
      add(std::get<DenseTrain>(signal).values);
    }
  }
  uint64_t value() const { return state_; }

 private:
  void add(uint64_t bits) { state_ = (state_ ^ bits) * 0x100000001b3U; }

  uint64_t state_ = 0xcbf29ce484222325U;
};

inline float drawn_uniform(uint32_t sample, int64_t position) {
  const auto bits =
      draw4(7, Purpose::encoding, {.sample = sample, .block = static_cast<uint32_t>(position)});
  return uniform01(bits[0]);
}

/// Signed spikes at about three of ten places, or the same real values at every step.
inline Signal drawn_input(const NetworkSpec& spec, int64_t batch, bool direct, uint32_t seed) {
  const MapShape& shape = spec.input;
  const int64_t steps = active_steps(spec);
  if (direct) {
    DenseTrain values{.steps = steps,
                      .batch = batch,
                      .shape = shape,
                      .constant = true,
                      .values = Buffer<float>(batch * shape.size())};
    for (int64_t i = 0; i < values.values.size(); ++i) {
      values.values[i] = 2.0F * drawn_uniform(seed, i) - 1.0F;
    }
    return values;
  }
  SpikeTrain spikes(steps, batch, shape, {1.0F, -1.0F});
  int64_t position = 0;
  for (int64_t step = 0; step < steps; ++step) {
    for (int64_t image = 0; image < batch; ++image) {
      for (int64_t i = 0; i < shape.size(); ++i) {
        const float draw = drawn_uniform(seed, position++);
        if (draw > 0.3F) continue;
        const int64_t pixel = i / shape.channels;
        spikes.set(draw < 0.15F ? 0 : 1, step, image, pixel / shape.width, pixel % shape.width,
                   i % shape.channels);
      }
    }
  }
  return spikes;
}

}  // namespace bntt::testing
