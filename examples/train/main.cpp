// Trains a network to distinguish horizontal, vertical and diagonal bars, and saves it:
//   train bars.safetensors
#include <bntt/bntt.hpp>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

constexpr int64_t kSize = 12;

// Class 0 is a horizontal bar, 1 a vertical and 2 a diagonal one, at a random position in noise.
struct Bars {
  std::vector<uint8_t> pixels;  // [image, y, x]
  std::vector<int64_t> labels;

  Bars(int64_t count, unsigned seed) {
    std::mt19937 random(seed);
    for (int64_t image = 0; image < count; ++image) {
      const int64_t label = image % 3;
      const int64_t place = random() % kSize;
      for (int64_t y = 0; y < kSize; ++y) {
        for (int64_t x = 0; x < kSize; ++x) {
          const int64_t across = label == 0 ? y : label == 1 ? x : (x + y) % kSize;
          pixels.push_back(static_cast<uint8_t>((across == place ? 180 : 0) + random() % 60));
        }
      }
      labels.push_back(label);
    }
  }
  bntt::Images images() const { return {pixels, std::ssize(labels), kSize, kSize, 1}; }
};

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: train MODEL.safetensors\n"), 2;
  try {
    const bntt::NetworkSpec spec{
        .input = {1, kSize, kSize},
        .steps = 4,
        .stages = {bntt::Conv3x3{.channels = 16}, bntt::AvgPool{2}, bntt::Conv3x3{.channels = 32},
                   bntt::AvgPool{0}, bntt::Readout{.classes = 3}}};
    bntt::Trainer trainer(
        bntt::Network(spec, 1),
        {.encoder = {.kind = bntt::EncoderKind::direct, .normalisation = {{0.2F}, {0.2F}}}},
        {.epochs = 8, .batch = 30, .learning_rate = {.schedule = "cosine", .learning_rate = 0.1}});

    const Bars known(900, 1);
    bntt::LabelledImages samples(known.images(), known.labels);
    trainer.run(samples, {.epoch = [](const bntt::EpochProgress& epoch) {
                  std::printf("epoch %d: loss %.3f, %.1f %%\n", static_cast<int>(epoch.epoch),
                              epoch.sums.mean_loss(), epoch.sums.accuracy());
                }});
    trainer.model({.class_names = {"horizontal", "vertical", "diagonal"}}).save(argv[1]);

    const bntt::Model model = bntt::Model::load(argv[1]);
    const Bars unknown(300, 2);
    const std::vector<bntt::Prediction> answers = model.predict(unknown.images());
    int right = 0;
    for (std::size_t i = 0; i < answers.size(); ++i) right += answers[i].label == unknown.labels[i];
    std::printf("%d of %d new bars are right\n", right, static_cast<int>(answers.size()));
  } catch (const bntt::Error& error) {
    return std::fprintf(stderr, "train: %s\n", error.what()), 2;
  }
}
