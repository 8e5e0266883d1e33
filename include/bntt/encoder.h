#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "bntt/api.h"
#include "bntt/batch.h"
#include "bntt/enum_table.h"
#include "bntt/signal.h"

namespace bntt {

/// The rule by which values become the input of each step.
enum class EncoderKind {
  poisson_unsigned,  ///< a spike if random < pixel
  poisson_signed,    ///< sign(x) if 2 random <= |x|, with x the normalised pixel
  direct,            ///< x itself, at every step
  events,            ///< the counted events of each interval; nothing is random
};

/// All encoders, with their names in settings and files.
inline constexpr auto kEncoders = std::to_array<EnumEntry<EncoderKind>>({
    {EncoderKind::poisson_unsigned, "poisson-unsigned",
     "a spike where a random number is below the pixel"},
    {EncoderKind::poisson_signed, "poisson-signed",
     "spikes of +1 and -1 from the normalised image"},
    {EncoderKind::direct, "direct", "the normalised image itself at every step"},
    {EncoderKind::events, "events", "the event counts of each frame"},
});
/// Their names alone.
constexpr auto enum_names(EncoderKind) { return value_names(kEncoders); }
/// Throws Error for a value that is not one of the kinds. Thread-safe, as all functions here are.
BNTT_API std::string_view encoder_name(EncoderKind kind);
/// Throws Error for an unknown name. `origin` starts its sentence: the key or option that the name
/// comes from.
BNTT_API EncoderKind encoder_from_name(std::string_view name, std::string_view origin);

/// Per channel, for pixels in 0..1.
struct ChannelStatistics {
  std::vector<float> mean;       ///< [channel]
  std::vector<float> deviation;  ///< [channel], above 0
  bool operator==(const ChannelStatistics&) const = default;
};

/// How pixels are turned into the input of each step.
struct EncoderSpec {
  EncoderKind kind = EncoderKind::poisson_unsigned;  ///< the rule
  ChannelStatistics normalisation;                   ///< not used by poisson_unsigned and events
  bool operator==(const EncoderSpec&) const = default;
};

/// The epoch of every evaluation, so that its spikes do not depend on the length of the training.
inline constexpr uint32_t kEvaluationEpoch = 0xffffffffU;

/// Test samples are numbered from here, so that no draw for them equals one for a training sample.
inline constexpr uint32_t kFirstTestId = 0x80000000U;

/// Steps [first_step, first_step + steps) of the batch. Each spike is a pure function of (seed,
/// epoch, sample id, step, position): windows of any length, batches of any composition and any
/// number of threads give the same spikes. Event counts become planes of weight 1, 2, 4, ....
/// Throws Error unless the batch has the kind, the channels and the frames that the encoder needs.
BNTT_API Signal encode(const Batch& batch, int64_t steps, const EncoderSpec& spec, uint64_t seed,
                       uint32_t epoch, int64_t first_step = 0);

/// (pixel - mean) / deviation: [image, y, x, channel]. Throws Error unless there is a mean and a
/// deviation for each channel, and as many pixels as the shape requires.
BNTT_API Buffer<float> normalise(const Batch& batch, const ChannelStatistics& statistics);

}  // namespace bntt
