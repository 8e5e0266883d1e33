#include "bntt/encoder.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/fail.h"
#include "base/random.h"
#include "base/suggest.h"
#include "base/text.h"
#include "base/threads.h"

namespace bntt {
namespace {

// Random numbers are u / 2^24 with an integer u, so both comparisons are exact in integers: a spike
// if u < limit, or if u < -limit for a spike of the negative plane.
constexpr float kGrid = 0x1p24F;

// The step number of a random draw has 32 bits.
constexpr int64_t kMostSteps = int64_t{1} << 31;

// u / 2^24 < p  <=>  u < ceil(2^24 p)
int32_t unsigned_limit(float pixel) {
  if (!(pixel > 0.0F)) return 0;
  return static_cast<int32_t>(std::ceil(std::min(pixel, 1.0F) * kGrid));
}

// 2 u / 2^24 <= |x|  <=>  u < floor(2^23 |x|) + 1
int32_t signed_limit(float x) {
  if (!(std::abs(x) > 0.0F)) return 0;
  const float half = std::min(0.5F * std::abs(x), 1.0F);
  const int32_t limit = static_cast<int32_t>(std::floor(half * kGrid)) + 1;
  return x > 0.0F ? limit : -limit;
}

struct Frame {
  const int32_t* limits;  // [y, x, channel]
  const int32_t* draws;   // [y, x, channel]
  SpikeWord* positive;    // [y, x, word]
  SpikeWord* negative;    // the same, or null
};

void pack(const Frame& frame, const MapShape& shape) {
  int64_t position = 0;
  int64_t word = 0;
  for (int64_t pixel = 0; pixel < shape.pixels(); ++pixel) {
    for (int64_t first = 0; first < shape.channels; first += kSpikesPerWord, ++word) {
      const int64_t bits = std::min(kSpikesPerWord, shape.channels - first);
      SpikeWord positive = 0;
      SpikeWord negative = 0;
      for (int64_t bit = 0; bit < bits; ++bit, ++position) {
        const int32_t limit = frame.limits[position];
        const int32_t draw = frame.draws[position];
        positive |= static_cast<SpikeWord>(draw < limit) << bit;
        negative |= static_cast<SpikeWord>(draw < -limit) << bit;
      }
      frame.positive[word] = positive;
      if (frame.negative != nullptr) frame.negative[word] = negative;
    }
  }
}

SpikeTrain spikes_below(const Buffer<int32_t>& limits, const Batch& batch,
                        std::vector<float> plane_weights, int64_t steps, uint64_t seed,
                        Place first) {
  SpikeTrain spikes(steps, batch.size(), batch.shape, std::move(plane_weights));
  const int64_t positions = batch.shape.size();
  const int64_t blocks = (positions + 3) / 4;
  parallel_for(steps * batch.size(), [&](int64_t item) {
    const int64_t step = item / batch.size();
    const int64_t image = item % batch.size();
    thread_local std::vector<int32_t> draws;
    draws.resize(static_cast<std::size_t>(4 * blocks));
    Place place = first;
    place.sample = batch.sample_ids[image];
    place.step += static_cast<uint32_t>(step);
    for (int64_t block = 0; block < blocks; ++block) {
      place.block = static_cast<uint32_t>(block);
      const auto bits = draw4(seed, Purpose::encoding, place);
      for (int64_t i = 0; i < 4; ++i) draws[4 * block + i] = static_cast<int32_t>(bits[i] >> 8);
    }
    pack({.limits = limits.data() + image * positions,
          .draws = draws.data(),
          .positive = spikes.frame(0, step, image),
          .negative = spikes.planes() > 1 ? spikes.frame(1, step, image) : nullptr},
         batch.shape);
  });
  return spikes;
}

// Count n is the sum of its binary digits: digit p is a spike of plane p, which has weight 2^p.
SpikeTrain counted_spikes(const Batch& batch, int64_t steps, int64_t first_step) {
  const int64_t size = batch.shape.size();
  const auto frame_of = [&](int64_t image, int64_t step) {
    return batch.counts.data() + (image * batch.frames + first_step + step) * size;
  };
  uint8_t digits = 1;
  for (int64_t image = 0; image < batch.size(); ++image) {
    const uint8_t* counts = frame_of(image, 0);
    for (int64_t i = 0; i < steps * size; ++i) digits |= counts[i];
  }
  std::vector<float> weights;
  for (float weight = 1.0F; digits != 0; digits >>= 1, weight *= 2.0F) weights.push_back(weight);
  SpikeTrain spikes(steps, batch.size(), batch.shape, weights);
  parallel_for(steps * batch.size(), [&](int64_t item) {
    const int64_t step = item / batch.size();
    const int64_t image = item % batch.size();
    const uint8_t* counts = frame_of(image, step);
    for (int64_t plane = 0; plane < spikes.planes(); ++plane) {
      SpikeWord* words = spikes.frame(plane, step, image);
      for (int64_t pixel = 0; pixel < batch.shape.pixels(); ++pixel) {
        for (int64_t channel = 0; channel < batch.shape.channels; ++channel) {
          const auto digit =
              static_cast<SpikeWord>(counts[pixel * batch.shape.channels + channel] >> plane & 1);
          words[pixel * spikes.words_per_pixel() + channel / kSpikesPerWord] |=
              digit << (channel % kSpikesPerWord);
        }
      }
    }
  });
  return spikes;
}

/// Throws Error unless the batch has as many pixels or counts as its shape requires.
void expect_filled(const Batch& batch, EncoderKind kind) {
  const bool events = kind == EncoderKind::events;
  const int64_t found = events ? batch.counts.size() : batch.images.size();
  int64_t expected = 1;
  bool overflow = false;
  for (const int64_t extent : {batch.size(), events ? batch.frames : int64_t{1},
                               batch.shape.channels, batch.shape.height, batch.shape.width}) {
    overflow = overflow || __builtin_mul_overflow(expected, extent, &expected);
  }
  if (overflow || found != expected) {
    fail("encoder {}: the batch has {} {}, expected {} for {} samples of {}x{}x{}",
         encoder_name(kind), found, events ? "counts" : "pixels",
         overflow ? "more than can be counted" : std::to_string(expected), batch.size(),
         batch.shape.channels, batch.shape.height, batch.shape.width);
  }
}

void expect_complete(const Batch& batch, EncoderKind kind, int64_t first_step, int64_t steps) {
  const bool events = kind == EncoderKind::events;
  (void)encoder_name(kind);  // throws for an unknown encoder
  if (batch.shape.channels < 1 || batch.shape.height < 1 || batch.shape.width < 1) {
    fail("encoder: the batch has maps of {}x{}x{}, expected at least 1x1x1", batch.shape.channels,
         batch.shape.height, batch.shape.width);
  }
  if (batch.size() < 1) fail("encoder: the batch is empty");
  if (first_step < 0 || steps < 1) {
    fail("encoder: {} steps from step {}, expected at least one step from 0 on", steps, first_step);
  }
  if (first_step > kMostSteps || steps > kMostSteps) {
    fail("encoder: {} steps from step {}, expected at most {}", steps, first_step, kMostSteps);
  }
  expect_filled(batch, kind);
  if (events && first_step + steps > batch.frames) {
    fail("encoder events: {} steps are needed, but the recordings have {} frames",
         first_step + steps, batch.frames);
  }
}

}  // namespace

std::string_view encoder_name(EncoderKind kind) {
  for (const auto& [known, name] : enum_names(kind)) {
    if (known == kind) return name;
  }
  fail("encoder: {} is not a value of EncoderKind", static_cast<int>(kind));
}

EncoderKind encoder_from_name(std::string_view name, std::string_view origin) {
  std::vector<std::string> known;
  for (const auto& [kind, its_name] : enum_names(EncoderKind{})) {
    if (name == its_name) return kind;
    known.emplace_back(its_name);
  }
  fail("{}: unknown encoder '{}', expected one of {}{}", origin, excerpt(name),
       fmt::join(known, ", "), did_you_mean(name, known));
}

Buffer<float> normalise(const Batch& batch, const ChannelStatistics& statistics) {
  const int64_t channels = batch.shape.channels;
  if (channels < 1 || batch.images.size() % channels != 0) {
    fail("encoder: {} pixels of {} channels, expected whole pixels", batch.images.size(), channels);
  }
  const auto expect_channels = [&](const char* what, const std::vector<float>& values) {
    if (std::ssize(values) == channels) return;
    fail("encoder: {} has {} numbers, expected one for each of {} channels", what, values.size(),
         channels);
  };
  expect_channels("the mean", statistics.mean);
  expect_channels("the deviation", statistics.deviation);
  Buffer<float> result(batch.images.size());
  for (int64_t first = 0; first < result.size(); first += channels) {
    for (int64_t channel = 0; channel < channels; ++channel) {
      result[first + channel] = (batch.images[first + channel] - statistics.mean[channel]) /
                                statistics.deviation[channel];
    }
  }
  return result;
}

Signal encode(const Batch& batch, int64_t steps, const EncoderSpec& spec, uint64_t seed,
              uint32_t epoch, int64_t first_step) {
  expect_complete(batch, spec.kind, first_step, steps);
  if (spec.kind == EncoderKind::events) return counted_spikes(batch, steps, first_step);
  const Place first = {.epoch = epoch, .step = static_cast<uint32_t>(first_step)};
  if (spec.kind == EncoderKind::direct) {
    return DenseTrain{.steps = steps,
                      .batch = batch.size(),
                      .shape = batch.shape,
                      .constant = true,
                      .values = normalise(batch, spec.normalisation)};
  }
  Buffer<int32_t> limits(batch.images.size());
  if (spec.kind == EncoderKind::poisson_unsigned) {
    std::ranges::transform(batch.images, limits.begin(), unsigned_limit);
    return spikes_below(limits, batch, {1.0F}, steps, seed, first);
  }
  std::ranges::transform(normalise(batch, spec.normalisation), limits.begin(), signed_limit);
  return spikes_below(limits, batch, {1.0F, -1.0F}, steps, seed, first);
}

}  // namespace bntt
