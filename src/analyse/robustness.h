#pragma once

#include <functional>
#include <string>
#include <vector>

#include "analyse/run.h"
#include "bntt/network.h"
#include "data/batch.h"
#include "data/encoder.h"

namespace bntt {

enum class AttackKind {
  noise,  ///< Gaussian, standard deviation = strength, not clipped
  fgsm,   ///< one step of the gradient's sign
  pgd,    ///< many, projected onto the ball of radius strength
};

struct AttackPoint {
  double strength = 0.0;  ///< in units of 0..1 pixels
  double accuracy = 0.0;
  double loss = 0.0;
};

struct AttackCurve {
  AttackKind kind = AttackKind::noise;
  std::vector<AttackPoint> points;  ///< by rising strength; the first is strength 0: clean
};

struct RobustnessStudy {
  int64_t images = 0;
  bool spiking = true;
  int64_t draws = 1;
  int64_t pgd_steps = 10;
  double clean_accuracy = 0.0;
  std::vector<AttackCurve> curves;  ///< those that were asked for
};

struct RobustnessOptions {
  std::vector<double> noise;
  std::vector<double> fgsm;
  std::vector<double> pgd;
  int64_t draws = 1;  ///< of the input spikes, over which a gradient is averaged
  int64_t pgd_steps = 10;
  std::function<bool(const std::string& what, int64_t images, int64_t of)> progress;
};

/// The network's numbers do not change (gradients of parameters do).
RobustnessStudy study_robustness(Network& network, const Sample& sample,
                                 const RobustnessOptions& options);

/// The epoch of the attacker's own draws of the input spikes: none that training or evaluation
/// makes.
constexpr uint32_t attack_epoch(int64_t draw) {
  return kEvaluationEpoch - 1 - static_cast<uint32_t>(draw);
}

/// ∂L/∂pixel [image, y, x, channel], L the sum of the images' losses. Of a rate-coded image: the
/// crafted form, ∂L/∂(input spikes) summed over the steps; averaged over `draws` encodings.
Buffer<float> pixel_gradient(Network& network, const Batch& batch, const EncoderSpec& encoder,
                             uint64_t seed, int64_t draws, int64_t first_draw = 0);

/// pixels + strength · N(0, 1): one draw per (seed, sample, position), the same for every strength.
void add_noise(Batch& batch, double strength, uint64_t seed);

/// "0", "0.1", "2/255". Throws Error, beginning with `origin`, for anything but a number of at
/// least 0.
double parse_strength(const std::string& text, const std::string& origin);

}  // namespace bntt
