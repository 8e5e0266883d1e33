#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "analyse/json.h"
#include "analyse/robustness.h"
#include "bntt/error.h"
#include "train/evaluate.h"
#include "trained.h"

namespace bntt {
namespace {

using ::testing::HasSubstr;
using testing::Trained;

Batch first_images(const Trained& trained, int64_t count) {
  return EvalLoader(trained.test, {0, count}, count).batch(0);
}

TEST(Strength, IsANumberOrAFraction) {
  EXPECT_EQ(parse_strength("0", "--fgsm"), 0.0);
  EXPECT_EQ(parse_strength("0.25", "--fgsm"), 0.25);
  EXPECT_EQ(parse_strength("2/255", "--fgsm"), 2.0 / 255.0);
  for (const char* wrong : {"", "a", "1/", "/2", "1/0", "-1", "1/2/3", "nan", "inf", "1 2"}) {
    try {
      parse_strength(wrong, "--fgsm");
      ADD_FAILURE() << "accepted '" << wrong << "'";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), ::testing::StartsWith("--fgsm: "));
    }
  }
}

TEST(Noise, IsNormalAndTheSameForEveryStrengthAndBatch) {
  const Trained trained({.epochs = 0});
  const Batch clean = first_images(trained, 100);
  Batch weak = clean;
  Batch strong = clean;
  add_noise(weak, 0.25, 5);
  add_noise(strong, 0.5, 5);
  double sum = 0.0;
  double squares = 0.0;
  bool outside = false;
  for (int64_t i = 0; i < clean.images.size(); ++i) {
    const double noise = strong.images[i] - clean.images[i];
    EXPECT_NEAR(noise, 2.0 * (weak.images[i] - clean.images[i]), 1e-6);
    sum += noise;
    squares += noise * noise;
    outside = outside || strong.images[i] < 0.0F;
  }
  const auto count = static_cast<double>(clean.images.size());
  EXPECT_NEAR(sum / count, 0.0, 0.02);
  EXPECT_NEAR(std::sqrt(squares / count), 0.5, 0.02);
  EXPECT_TRUE(outside) << "noise is not clipped";

  Batch alone = EvalLoader(trained.test, {40, 41}, 1).batch(0);
  add_noise(alone, 0.5, 5);
  EXPECT_TRUE(std::equal(alone.images.begin(), alone.images.end(), strong.images.data() + 40 * 64));
}

/// Softmax regression: ∂L/∂pixel = Σ_k (p_k − [k = label]) w_k, divided by the deviation.
TEST(PixelGradient, OfALinearReadoutIsThatOnPaper) {
  Network network({.input = {1, 8, 8}, .steps = 3, .stages = {Readout{.classes = 4}}}, 2);
  const Trained images({.epochs = 0});
  Batch batch = first_images(images, 5);
  for (float& pixel : batch.images) pixel = pixel > 0.45F ? 1.0F : 0.0F;  // spikes without chance
  const Buffer<float>& weights = network.parameters()[0].value;           // [pixel, class]
  const auto expected = [&](int64_t image, int64_t pixel, const EncoderSpec& encoder) {
    const bool direct = encoder.kind == EncoderKind::direct;
    const double mean = direct ? encoder.normalisation.mean[0] : 0.0;
    const double deviation = direct ? encoder.normalisation.deviation[0] : 1.0;
    double logits[4] = {};
    for (int64_t i = 0; i < 64; ++i) {
      for (int64_t k = 0; k < 4; ++k) {
        logits[k] += weights[i * 4 + k] * (batch.images[image * 64 + i] - mean) / deviation;
      }
    }
    double sum = 0.0;
    for (const double logit : logits) sum += std::exp(logit);
    double gradient = 0.0;
    for (int64_t k = 0; k < 4; ++k) {
      const double target = batch.labels[image] == k ? 1.0 : 0.0;
      gradient += (std::exp(logits[k]) / sum - target) * weights[pixel * 4 + k];
    }
    return gradient / deviation;
  };
  for (const EncoderKind kind : {EncoderKind::direct, EncoderKind::poisson_unsigned}) {
    const EncoderSpec encoder{kind, {{0.4F}, {0.25F}}};
    for (const int64_t draws : {1, 3}) {
      const Buffer<float> gradient = pixel_gradient(network, batch, encoder, 1, draws);
      for (int64_t i = 0; i < gradient.size(); ++i) {
        EXPECT_NEAR(gradient[i], expected(i / 64, i % 64, encoder), 1e-5);
      }
    }
  }
}

struct Curves {
  AttackCurve noise;
  AttackCurve fgsm;
  AttackCurve pgd;
};

Curves attack(Trained& trained, const std::vector<double>& strengths, int64_t draws) {
  const RobustnessStudy study = study_robustness(
      trained.network, trained.sample(),
      {.noise = strengths, .fgsm = strengths, .pgd = strengths, .draws = draws, .pgd_steps = 5});
  const Evaluation plain = evaluate(trained.network, trained.test, {0, trained.test.size()},
                                    {.encoder = trained.encoder, .seed = 1});
  EXPECT_EQ(study.clean_accuracy, plain.accuracy());
  EXPECT_EQ(study.curves.size(), 3U);
  for (const AttackCurve& curve : study.curves) {
    EXPECT_EQ(curve.points.size(), strengths.size() + 1);
    EXPECT_EQ(curve.points.front().strength, 0.0) << "clean accuracy is the first point";
    EXPECT_EQ(curve.points.front().accuracy, plain.accuracy());
    EXPECT_NEAR(curve.points.front().loss, plain.sums.mean_loss(), 1e-9);
  }
  return {study.curves[0], study.curves[1], study.curves[2]};
}

class Attacks : public ::testing::TestWithParam<std::tuple<std::string, EncoderKind>> {};

TEST_P(Attacks, HurtMonotonouslyAndMoreThanNoiseOfTheSameSize) {
  const auto [neuron, encoder] = GetParam();
  const bool ann = neuron == "relu";
  Trained trained(
      {.neuron = neuron, .norm = ann ? "bn" : "bntt", .encoder = encoder, .steps = ann ? 1 : 6});
  const Curves curves = attack(trained, {0.02, 0.05, 0.1, 0.15}, 2);
  EXPECT_GT(curves.fgsm.points[0].accuracy, 70.0) << "it has not learned";
  constexpr double kTolerance = 3.0;
  for (std::size_t i = 1; i < curves.fgsm.points.size(); ++i) {
    EXPECT_LE(curves.fgsm.points[i].accuracy, curves.fgsm.points[i - 1].accuracy + kTolerance);
    EXPECT_LE(curves.fgsm.points[i].accuracy, curves.noise.points[i].accuracy + kTolerance);
    EXPECT_GT(curves.fgsm.points[i].loss, curves.noise.points[i].loss);
  }
  EXPECT_LT(curves.fgsm.points[4].accuracy, curves.noise.points[4].accuracy - 20.0);
  EXPECT_LE(curves.pgd.points[4].accuracy, curves.fgsm.points[4].accuracy + kTolerance);
}

INSTANTIATE_TEST_SUITE_P(Robustness, Attacks,
                         ::testing::Values(std::tuple{"relu", EncoderKind::direct},
                                           std::tuple{"lif", EncoderKind::direct},
                                           std::tuple{"lif", EncoderKind::poisson_signed},
                                           std::tuple{"lif", EncoderKind::poisson_unsigned}));

TEST(Attacks, LeaveTheNetworkAsItWas) {
  Trained trained({.epochs = 1});
  const Network& network = trained.network;
  const Buffer<float> weights = network.parameters()[0].value;
  const Buffer<float> means = network.statistics()[0].value;
  attack(trained, {0.1}, 1);
  EXPECT_TRUE(std::ranges::equal(weights, network.parameters()[0].value));
  EXPECT_TRUE(std::ranges::equal(means, network.statistics()[0].value));
}

TEST(Attacks, SayWhichImagesAreRightIfAsked) {
  Trained trained({.epochs = 1});
  const Sample sample = trained.sample();
  const RobustnessStudy study = study_robustness(
      trained.network, sample, {.noise = {0.2}, .fgsm = {0.1}, .keep_right = true});
  for (const AttackCurve& curve : study.curves) {
    for (const AttackPoint& point : curve.points) {
      ASSERT_TRUE(point.right);
      ASSERT_EQ(std::ssize(*point.right), study.images);
      const auto right = static_cast<double>(std::ranges::count(*point.right, '1'));
      EXPECT_DOUBLE_EQ(point.accuracy, 100.0 * right / static_cast<double>(study.images));
    }
  }
  EXPECT_EQ(study.curves[0].points[0].right, study.curves[1].points[0].right);
  const Json without = to_json(study_robustness(trained.network, sample, {.noise = {0.2}}));
  EXPECT_THAT(without.dump(), ::testing::Not(HasSubstr("right")));
}

/// Two classes of recordings of 4 frames of 8x8 places: events of class 0 are in the upper half,
/// those of class 1 in the lower, none elsewhere.
ImageSet recordings(int64_t samples) {
  ImageSet set;
  set.kind = SampleKind::events;
  set.shape = {2, 8, 8};
  set.frames = 4;
  set.classes = 2;
  set.first_id = 50;
  std::vector<uint8_t> counts;
  for (int64_t sample = 0; sample < samples; ++sample) {
    set.labels.push_back(sample % 2);
    for (int64_t i = 0; i < set.sample_bytes(); ++i) {
      const auto bits =
          draw4(7, Purpose::augmentation,
                {.sample = static_cast<uint32_t>(sample), .block = static_cast<uint32_t>(i)});
      const bool lower = i % 128 >= 64;
      counts.push_back(lower == (sample % 2 == 1) ? static_cast<uint8_t>(bits[0] % 4) : 0);
    }
  }
  set.pixels = std::move(counts);
  return set;
}

int64_t sum_of(const Batch& batch) {
  return std::accumulate(batch.counts.begin(), batch.counts.end(), int64_t{0});
}

TEST(EventNoise, RemovesAndAddsTheShareOfEvents) {
  const ImageSet set = recordings(40);
  const Batch clean = EvalLoader(set, 40).batch(0);
  const auto events = static_cast<double>(sum_of(clean));
  for (const double share : {0.0, 0.25, 0.5, 1.0}) {
    Batch noisy = clean;
    add_event_noise(noisy, share, 5);
    // Half of what is added falls onto places that have no events otherwise.
    int64_t elsewhere = 0;
    for (int64_t i = 0; i < clean.counts.size(); ++i) {
      const bool lower = i % 128 >= 64;
      if (lower != (i / set.sample_bytes() % 2 == 1)) elsewhere += noisy.counts[i];
    }
    EXPECT_NEAR(static_cast<double>(elsewhere) / events, 0.5 * share, 0.02);
    EXPECT_NEAR(static_cast<double>(sum_of(noisy)) / events, 1.0, 0.02);
    if (share == 0.0) {
      EXPECT_TRUE(std::ranges::equal(noisy.counts, clean.counts));
    }
    if (share == 1.0) {
      EXPECT_EQ(sum_of(noisy), sum_of(clean)) << "each is removed, and each replaced";
    }
  }
}

TEST(EventNoise, OfARecordingDependsOnItselfAlone) {
  const ImageSet set = recordings(6);
  Batch together = EvalLoader(set, 6).batch(0);
  Batch alone = EvalLoader(set, {4, 5}, 1).batch(0);
  add_event_noise(together, 0.3, 5);
  add_event_noise(alone, 0.3, 5);
  EXPECT_TRUE(std::equal(alone.counts.begin(), alone.counts.end(),
                         together.counts.data() + 4 * set.sample_bytes()));
}

TEST(EventNoise, KeepsWhatTheNetworkLearnedToBeTheMost) {
  const ImageSet set = recordings(6);
  Batch batch = EvalLoader(set, 6).batch(0);
  for (uint8_t& count : batch.counts) count = count > 0 ? 1 : 0;
  add_event_noise(batch, 0.5, 5, 1);
  EXPECT_EQ(*std::ranges::max_element(batch.counts), 1);
}

TEST(EventNoise, OfAFullPlaceStaysAByte) {
  ImageSet set = recordings(1);
  set.pixels = std::vector<uint8_t>(static_cast<std::size_t>(set.sample_bytes()), 255);
  Batch batch = EvalLoader(set, 1).batch(0);
  add_event_noise(batch, 0.5, 5);
  EXPECT_GT(*std::ranges::min_element(batch.counts), 200);
}

TEST(Robustness, OfRecordingsIsTheirNoise) {
  const ImageSet set = recordings(80);
  const EncoderSpec encoder{.kind = EncoderKind::events};
  Network network({.input = {2, 8, 8}, .steps = 4, .stages = {Readout{.classes = 2}}}, 2);
  // Class 1 is voted for by the lower half, class 0 by the upper.
  for (Parameter& parameter : network.parameters()) {
    for (int64_t i = 0; i < parameter.value.size(); ++i) {
      parameter.value[i] = (i / 2 >= 64) == (i % 2 == 1) ? 0.01F : 0.0F;
    }
  }
  const Sample sample{set, {0, 80}, encoder, 1};
  const RobustnessStudy study = study_robustness(network, sample, {.noise = {0.2, 1.0}});
  EXPECT_TRUE(study.events);
  EXPECT_EQ(study.clean_accuracy, 100.0);
  ASSERT_EQ(study.curves.size(), 1U);
  EXPECT_EQ(study.curves[0].points[1].accuracy, 100.0) << "a fifth of noise hides nothing";
  EXPECT_NEAR(study.curves[0].points[2].accuracy, 50.0, 20.0) << "nothing but noise";
  EXPECT_TRUE(to_json(study).contains("no_gradient_attacks"));

  const auto refusal = [&](const RobustnessOptions& options) -> std::string {
    try {
      study_robustness(network, sample, options);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(refusal({.fgsm = {0.1}}), HasSubstr("event recordings"));
  EXPECT_THAT(refusal({.pgd = {0.1}}), HasSubstr("event recordings"));
  EXPECT_THAT(refusal({.noise = {1.5}}), HasSubstr("expected at most 1"));
}

}  // namespace
}  // namespace bntt
