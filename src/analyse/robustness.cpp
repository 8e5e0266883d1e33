#include "analyse/robustness.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>

#include "base/fail.h"
#include "base/random.h"
#include "base/text.h"
#include "base/threads.h"
#include "bntt/encoder.h"
#include "data/loader.h"
#include "layers/loss.h"

namespace bntt {
namespace {

// Attacks store the currents of every stage: limits them to a quarter of a gigabyte.
int64_t images_per_attack(const Network& network) {
  constexpr int64_t kFloats = 64 << 20;
  int64_t per_image = 0;
  for (const StagePlan& plan : network.stages()) {
    per_image += plan.output.size() * plan.active_steps;
  }
  return std::clamp<int64_t>(kFloats / per_image, 1, 100);
}

struct Answers {
  double loss = 0.0;  ///< summed over the images
  std::string right;  ///< [image]: '1' if right, otherwise '0'
};

Answers classify(const Network& network, const Batch& batch, const Sample& sample) {
  ChainState state = network.start(batch.size());
  network.advance(
      encode(batch, active_steps(network.spec()), sample.encoder, sample.seed, kEvaluationEpoch),
      state);
  const Buffer<float> logits = network.logits(state);
  Answers answers{.loss =
                      cross_entropy(logits, batch.labels).loss * static_cast<double>(batch.size())};
  const int64_t classes = logits.size() / batch.size();
  for (int64_t image = 0; image < batch.size(); ++image) {
    const float* z = logits.data() + image * classes;
    answers.right += std::max_element(z, z + classes) - z == batch.labels[image] ? '1' : '0';
  }
  return answers;
}

/// Adds ∂L/∂pixel for one draw of the input.
void add_gradient(Network& network, const Batch& batch, const EncoderSpec& encoder, uint64_t seed,
                  uint32_t epoch, Buffer<float>& sum) {
  Trace trace = network.forward(encode(batch, active_steps(network.spec()), encoder, seed, epoch),
                                NormMode::running, Keep::for_backward);
  Loss loss = cross_entropy(trace.logits, batch.labels);
  for (float& gradient : loss.gradient) gradient *= static_cast<float>(batch.size());
  Buffer<float> input_gradient;
  network.backward(std::move(trace), loss.gradient, &input_gradient);
  const int64_t frames = input_gradient.size() / sum.size();
  for (int64_t step = 0; step < frames; ++step) {
    const float* of_step = input_gradient.data() + step * sum.size();
    for (int64_t i = 0; i < sum.size(); ++i) sum[i] += of_step[i];
  }
}

/// Turns the gradient of the normalised pixel, which the encoder sees, into that of the pixel
/// itself.
void through_normalisation(const EncoderSpec& encoder, int64_t channels, Buffer<float>& gradient) {
  if (encoder.kind == EncoderKind::poisson_unsigned) return;
  for (int64_t i = 0; i < gradient.size(); ++i) {
    gradient[i] /= encoder.normalisation.deviation[i % channels];
  }
}

float sign(float value) {
  if (value == 0.0F) return 0.0F;
  return value > 0.0F ? 1.0F : -1.0F;
}

/// One step along the gradient's sign, within `radius` of the clean pixel and within 0..1.
void step_along(const Buffer<float>& gradient, double size, double radius, const Batch& clean,
                Batch& attacked) {
  for (int64_t i = 0; i < gradient.size(); ++i) {
    const float pixel = clean.images[i];
    const float moved = attacked.images[i] + static_cast<float>(size) * sign(gradient[i]);
    const auto reach = static_cast<float>(radius);
    attacked.images[i] = std::clamp(std::clamp(moved, pixel - reach, pixel + reach), 0.0F, 1.0F);
  }
}

std::vector<double> with_clean_first(std::vector<double> strengths) {
  strengths.push_back(0.0);
  std::ranges::sort(strengths);
  strengths.erase(std::unique(strengths.begin(), strengths.end()), strengths.end());
  return strengths;
}

/// One call of study_robustness.
class AttackRun {
 public:
  AttackRun(Network& network, const Sample& sample, const RobustnessOptions& options)
      : network_(network), sample_(sample), options_(options) {
    study_.spiking = is_spiking(network);
    study_.events = sample.images.kind == SampleKind::events;
    if (network_.quantised()) study_.no_gradient_attacks = kNoInt8Gradients;
    if (study_.events) study_.no_gradient_attacks = kNoGradientAttacks;
    study_.draws = options.draws;
    study_.pgd_steps = options.pgd_steps;
    add_curve(AttackKind::noise, options.noise);
    add_curve(AttackKind::fgsm, options.fgsm);
    add_curve(AttackKind::pgd, options.pgd);
  }

  RobustnessStudy run() {
    const EvalLoader loader(sample_.images, sample_.range, images_per_attack(network_));
    int64_t correct = 0;
    for (int64_t i = 0; i < loader.batches(); ++i) {
      const Batch batch = loader.batch(i);
      const Answers clean = classify(network_, batch, sample_);
      correct += std::ranges::count(clean.right, '1');
      for (AttackCurve& curve : study_.curves) run_batch(curve, batch, clean);
      study_.images += batch.size();
      if (options_.progress && options_.progress("attack", study_.images, sample_.range.size())) {
        break;
      }
    }
    study_.clean_accuracy = percent(static_cast<double>(correct));
    for (AttackCurve& curve : study_.curves) {
      for (AttackPoint& point : curve.points) {
        point.accuracy = percent(point.accuracy);
        point.loss /= static_cast<double>(std::max<int64_t>(1, study_.images));
      }
    }
    return std::move(study_);
  }

 private:
  void add_curve(AttackKind kind, const std::vector<double>& strengths) {
    if (strengths.empty()) return;
    AttackCurve& curve = study_.curves.emplace_back(AttackCurve{.kind = kind});
    for (const double strength : with_clean_first(strengths)) {
      curve.points.push_back({.strength = strength});
    }
  }
  double percent(double images) const {
    return 100.0 * images / static_cast<double>(std::max<int64_t>(1, study_.images));
  }

  /// Until the end, `accuracy` and `loss` of a point hold sums over images.
  void run_batch(AttackCurve& curve, const Batch& batch, const Answers& clean) {
    Buffer<float> gradient;
    if (curve.kind == AttackKind::fgsm) {
      gradient = pixel_gradient(network_, batch, sample_.encoder, sample_.seed, options_.draws);
    }
    for (AttackPoint& point : curve.points) {
      Batch attacked = batch;
      if (point.strength > 0.0) {
        if (curve.kind == AttackKind::noise) disturb(attacked, point.strength);
        if (curve.kind == AttackKind::fgsm) {
          step_along(gradient, point.strength, point.strength, batch, attacked);
        }
        if (curve.kind == AttackKind::pgd) ascend(point.strength, batch, attacked);
      }
      const Answers result = point.strength > 0.0 ? classify(network_, attacked, sample_) : clean;
      point.accuracy += static_cast<double>(std::ranges::count(result.right, '1'));
      point.loss += result.loss;
      if (options_.keep_right) point.right = point.right.value_or("") + result.right;
    }
  }

  void disturb(Batch& batch, double strength) const {
    if (study_.events) {
      add_event_noise(batch, strength, sample_.seed, options_.clip_events ? 1 : 255);
    } else {
      add_noise(batch, strength, sample_.seed);
    }
  }

  // The steps add up to 2.5 times the radius, so that the edge can be reached and left again.
  void ascend(double radius, const Batch& clean, Batch& attacked) const {
    const double size = 2.5 * radius / static_cast<double>(options_.pgd_steps);
    for (int64_t k = 0; k < options_.pgd_steps; ++k) {
      step_along(pixel_gradient(network_, attacked, sample_.encoder, sample_.seed, options_.draws,
                                k * options_.draws),
                 size, radius, clean, attacked);
    }
  }

  Network& network_;
  const Sample& sample_;
  const RobustnessOptions& options_;
  RobustnessStudy study_;
};

double parse_number(std::string_view text, std::string_view whole, const std::string& origin) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    fail("{}: '{}' is not a strength, expected a number such as 0.1 or 2/255", origin,
         excerpt(whole));
  }
  return value;
}

}  // namespace

void add_noise(Batch& batch, double strength, uint64_t seed) {
  const int64_t size = batch.shape.size();
  parallel_for(batch.size(), [&](int64_t image) {
    float* pixels = batch.images.data() + image * size;
    for (int64_t i = 0; i < size; ++i) {
      // Box-Muller: each block of four random numbers gives four normally distributed ones.
      const auto bits =
          draw4(seed, Purpose::attack,
                {.sample = batch.sample_ids[image], .block = static_cast<uint32_t>(i / 4)});
      const int64_t pair = i % 4 / 2 * 2;
      const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform01(bits[pair])));
      const double angle = 2.0 * std::numbers::pi * uniform01(bits[pair + 1]);
      const double normal = radius * (i % 2 == 0 ? std::cos(angle) : std::sin(angle));
      pixels[i] += static_cast<float>(strength * normal);
    }
  });
}

void add_event_noise(Batch& batch, double share, uint64_t seed, uint8_t most) {
  const int64_t size = batch.shape.size();
  parallel_for(batch.size() * batch.frames, [&](int64_t item) {
    uint8_t* counts = batch.counts.data() + item * size;
    std::vector<int> disturbed(counts, counts + size);
    Place place{.sample = batch.sample_ids[item / batch.frames],
                .step = static_cast<uint32_t>(item % batch.frames)};
    // One draw for each event of the frame: `place.block` counts them.
    for (int64_t i = 0; i < size; ++i) {
      for (int event = 0; event < counts[i]; ++event, ++place.block) {
        const auto bits = draw4(seed, Purpose::attack, place);
        if (uniform01(bits[0]) < share) --disturbed[i];
        if (uniform01(bits[1]) < share) {
          ++disturbed[uniform_below(bits[2], static_cast<uint32_t>(size))];
        }
      }
    }
    for (int64_t i = 0; i < size; ++i) {
      counts[i] = static_cast<uint8_t>(std::min<int>(disturbed[i], most));
    }
  });
}

Buffer<float> pixel_gradient(Network& network, const Batch& batch, const EncoderSpec& encoder,
                             uint64_t seed, int64_t draws, int64_t first_draw) {
  Buffer<float> gradient = Buffer<float>::zeros(batch.images.size());
  // Every draw of a direct-encoded image is the same.
  const int64_t needed = encoder.kind == EncoderKind::direct ? 1 : draws;
  for (int64_t draw = 0; draw < needed; ++draw) {
    add_gradient(network, batch, encoder, seed, attack_epoch(first_draw + draw), gradient);
  }
  for (float& value : gradient) value /= static_cast<float>(needed);
  through_normalisation(encoder, batch.shape.channels, gradient);
  return gradient;
}

double parse_strength(const std::string& text, const std::string& origin) {
  const std::size_t slash = text.find('/');
  double value = parse_number(std::string_view(text).substr(0, slash), text, origin);
  if (slash != std::string::npos) {
    value /= parse_number(std::string_view(text).substr(slash + 1), text, origin);
  }
  if (!(value >= 0.0) || !std::isfinite(value)) {
    fail("{}: {} is out of range, expected at least 0", origin, excerpt(text));
  }
  return value;
}

RobustnessStudy study_robustness(Network& network, const Sample& sample,
                                 const RobustnessOptions& options) {
  if (sample.images.kind == SampleKind::events) {
    if (!options.fgsm.empty() || !options.pgd.empty()) {
      fail("attack: the samples are event recordings, expected --noise alone: {}",
           kNoGradientAttacks);
    }
    for (const double share : options.noise) {
      if (share > 1.0) {
        fail("--noise: {} is out of range, expected at most 1, the share of events", share);
      }
    }
  }
  if (network.quantised() && (!options.fgsm.empty() || !options.pgd.empty())) {
    fail("attack: expected --noise alone: {}", kNoInt8Gradients);
  }
  return AttackRun(network, sample, options).run();
}

}  // namespace bntt
