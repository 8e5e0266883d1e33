#include <memory>

#include "bench/workload.h"
#include "bench_kernels.h"
#include "bntt/zoo.h"
#include "data/augmentation.h"
#include "layers/loss.h"
#include "learn/sgd.h"

namespace bntt::cli {

/// What training does beside the stages, for 32 images of CIFAR-10's size and VGG9.
void add_training_benchmarks() {
  constexpr int64_t kImages = 32;
  constexpr int64_t kSteps = 25;
  constexpr int64_t kClasses = 10;
  const MapShape shape = {3, 32, 32};

  auto batch = std::make_shared<Batch>();
  batch->shape = shape;
  batch->images = random_floats(kImages * shape.size());
  for (int64_t i = 0; i < kImages; ++i) {
    batch->sample_ids.push_back(static_cast<uint32_t>(i));
    batch->labels.push_back(i % kClasses);
  }
  const EncoderSpec encoder{EncoderKind::poisson_signed, {{0.0F, 0.0F, 0.0F}, {1.0F, 1.0F, 1.0F}}};
  add_benchmark("encode/poisson-signed", {}, [batch, encoder] {
    benchmark::DoNotOptimize(encode(*batch, kSteps, encoder, bench::kSeed, 0));
  });

  auto bytes = std::make_shared<std::vector<uint8_t>>(shape.size(), uint8_t{7});
  add_benchmark("augment/crop-flip", {}, [batch, bytes, shape] {
    for (int64_t i = 0; i < kImages; ++i) {
      const CropFlip crop = draw_crop_flip({}, shape, bench::kSeed, 0, static_cast<uint32_t>(i));
      crop_flip(bytes->data(), shape, crop, batch->images.data() + i * shape.size());
    }
  });

  // Made by the first call only, so that filtering it out costs no time.
  struct OptimizerCase {
    Network network{vgg9({}), bench::kSeed};
    Sgd sgd{network, {}};
  };
  auto trained = std::make_shared<std::unique_ptr<OptimizerCase>>();
  add_benchmark("sgd/vgg9", {}, [trained] {
    if (!*trained) *trained = std::make_unique<OptimizerCase>();
    (*trained)->sgd.step((*trained)->network, 0.0);
  });

  auto logits = std::make_shared<Buffer<float>>(random_floats(kImages * kClasses));
  add_benchmark("cross-entropy", {}, [batch, logits] {
    benchmark::DoNotOptimize(cross_entropy(*logits, batch->labels));
  });
}

}  // namespace bntt::cli
