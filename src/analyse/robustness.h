#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analyse/run.h"
#include "bntt/batch.h"
#include "bntt/encoder.h"
#include "bntt/network.h"

namespace bntt {

enum class AttackKind {
  noise,  ///< images: Gaussian, standard deviation = strength, not clipped; events: add_event_noise
  fgsm,   ///< one step of the gradient's sign
  pgd,    ///< many steps, projected onto the ball of radius strength
};

struct AttackPoint {
  double strength = 0.0;  ///< for pixels in 0..1; events: the share removed and added
  double accuracy = 0.0;
  double loss = 0.0;
  std::optional<std::string> right;  ///< [image]: '1' if right, otherwise '0'; see keep_right
};

struct AttackCurve {
  AttackKind kind = AttackKind::noise;
  std::vector<AttackPoint> points;  ///< by rising strength; the first, strength 0, is clean
};

struct RobustnessStudy {
  int64_t images = 0;
  bool spiking = true;
  bool events = false;                             ///< event recordings
  std::optional<std::string> no_gradient_attacks;  ///< why there are none
  int64_t draws = 1;
  int64_t pgd_steps = 10;
  double clean_accuracy = 0.0;
  std::vector<AttackCurve> curves;  ///< the requested ones
};

/// Why event recordings are disturbed by noise only.
inline constexpr const char* kNoGradientAttacks =
    "FGSM and PGD move each pixel by a small epsilon, and an event is there or it is not";

/// Why a network of int8 weights is disturbed by noise alone.
inline constexpr const char* kNoInt8Gradients =
    "FGSM and PGD follow gradients, which weights of int8 do not have";

struct RobustnessOptions {
  std::vector<double> noise;
  std::vector<double> fgsm;
  std::vector<double> pgd;
  int64_t draws = 1;  ///< draws of the input spikes over which a gradient is averaged
  int64_t pgd_steps = 10;
  bool clip_events = false;  ///< frames hold at most one event per position, as in training
  bool keep_right = false;   ///< fill AttackPoint::right, to compare two networks image by image
  std::function<bool(const std::string& what, int64_t images, int64_t of)> progress;
};

/// Does not change the network's numbers, except the gradients of parameters. Throws Error if event
/// recordings are to be attacked by gradients, or by noise of a strength above 1.
RobustnessStudy study_robustness(Network& network, const Sample& sample,
                                 const RobustnessOptions& options);

/// The epoch of the attacker's own draws of the input spikes, which training and evaluation never
/// use.
constexpr uint32_t attack_epoch(int64_t draw) {
  return kEvaluationEpoch - 1 - static_cast<uint32_t>(draw);
}

/// ∂L/∂pixel [image, y, x, channel], where L is the sum of the images' losses. For a rate-coded
/// image this is the crafted form, ∂L/∂(input spikes) summed over the steps; averaged over `draws`
/// encodings.
Buffer<float> pixel_gradient(Network& network, const Batch& batch, const EncoderSpec& encoder,
                             uint64_t seed, int64_t draws, int64_t first_draw = 0);

/// pixels + strength · N(0, 1): one draw per (seed, sample, position), the same for every strength.
void add_noise(Batch& batch, double strength, uint64_t seed);

/// Noise of an event camera: each event is removed with probability `share`, and for each event,
/// with the same probability, another one is added to its frame at a random position and polarity.
/// The number of events stays the same on average; share 1 leaves nothing but noise. Counts are
/// limited to `most`. The draws are the same for every share, so that a larger one removes and adds
/// more.
void add_event_noise(Batch& batch, double share, uint64_t seed, uint8_t most = 255);

/// "0", "0.1", "2/255". Throws an Error that begins with `origin` for anything but a number of at
/// least 0.
double parse_strength(const std::string& text, const std::string& origin);

}  // namespace bntt
