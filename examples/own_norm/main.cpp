// A custom norm, trained, saved and loaded again:
//   own_norm fading.safetensors
#include <bntt/bntt.hpp>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

// y_t = γ dᵗ x̂: statistics over batch, space and all steps, and a gain that fades by a factor d
// from step to step. d is one trained number, initially 0.9.
class FadingNorm final : public bntt::BatchNormOverTime {
 public:
  using BatchNormOverTime::BatchNormOverTime;

  std::vector<bntt::ParameterDeclaration> parameters() const override {
    auto declared = BatchNormOverTime::parameters();
    declared.push_back({.name = "decay",
                        .group = bntt::ParameterGroup::gain,
                        .pytorch_shape = {1},
                        .start = 0.9F});
    return declared;
  }

 private:
  void affine(int64_t step, std::span<const bntt::Parameter> parameters,
              const bntt::StepAffine& result) const override {
    BatchNormOverTime::affine(step, parameters, result);
    const float factor = std::pow(parameters.back().value[0], static_cast<float>(step));
    for (int64_t c = 0; c < channels(); ++c) result.gain[c] *= factor;
  }

  // ∂L/∂d = Σ γ t dᵗ⁻¹ ∂L/∂gain; the gradient of γ is dᵗ times that of the base class.
  void add_gradient(int64_t step, const bntt::StepAffineGradient& gradient,
                    std::span<bntt::Parameter> parameters) const override {
    const auto t = static_cast<float>(step);
    const float decay = parameters.back().value[0];
    const bntt::Buffer<float>& gamma = parameters.front().value;
    std::vector<float> gain(gradient.gain, gradient.gain + channels());
    for (int64_t c = 0; c < channels(); ++c) {
      if (step > 0) {
        parameters.back().gradient[0] += gamma[c] * t * std::pow(decay, t - 1.0F) * gain[c];
      }
      gain[c] *= std::pow(decay, t);
    }
    BatchNormOverTime::add_gradient(step, {gain.data(), gradient.shift}, parameters);
  }
};

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: own_norm MODEL.safetensors\n"), 2;
  try {
    bntt::register_norm({"fading", "bn-time, with a gain that fades from step to step",
                         [](const bntt::NormSpec& spec, const bntt::NormPlace& place) {
                           return std::make_unique<FadingNorm>(spec, place);
                         }});

    // Noise that is brighter in the left half (class 0) or in the right half (class 1).
    std::mt19937 random(1);
    std::vector<uint8_t> pixels;  // [image, y, x]
    std::vector<int64_t> labels;
    for (int64_t i = 0; i < 200 * 8 * 8; ++i) {
      const bool right = i % 8 >= 4;
      const int64_t label = i / 64 % 2;
      if (i % 64 == 0) labels.push_back(label);
      pixels.push_back(static_cast<uint8_t>(random() % 120 + (right == (label == 1) ? 80 : 0)));
    }
    const bntt::Images images{pixels, 200, 8, 8, 1};
    bntt::LabelledImages samples(images, labels);

    const bntt::NormSpec fading{.kind = "fading"};
    const bntt::NetworkSpec spec{
        .input = {1, 8, 8},
        .steps = 5,
        .stages = {bntt::Conv3x3{.channels = 8, .norm = fading}, bntt::AvgPool{2},
                   bntt::Dense{.features = 16, .norm = fading}, bntt::Readout{.classes = 2}}};
    bntt::Trainer trainer(bntt::Network(spec, 1), {.seed = 3},
                          {.epochs = 6, .batch = 20, .learning_rate = {.learning_rate = 0.1}});
    trainer.run(samples);
    trainer.model().save(argv[1]);

    const bntt::Model model = bntt::Model::load(argv[1]);
    for (const bntt::Parameter& parameter : model.network().parameters()) {
      if (!parameter.name.ends_with("decay")) continue;
      std::printf("%s %.3f\n", parameter.name.c_str(), static_cast<double>(parameter.value[0]));
    }
    int right = 0;
    const std::vector<bntt::Prediction> answers = model.predict(images);
    for (std::size_t i = 0; i < answers.size(); ++i) right += answers[i].label == labels[i];
    std::printf("%d of %d images are right\n", right, static_cast<int>(answers.size()));
  } catch (const bntt::Error& error) {
    return std::fprintf(stderr, "own_norm: %s\n", error.what()), 2;
  }
}
