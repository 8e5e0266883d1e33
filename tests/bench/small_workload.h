#pragma once

#include "bench/workload.h"
#include "bntt/zoo.h"

namespace bntt::testing {

/// A narrow vgg5 on eight noisy images, made without any data set.
inline bench::Workload small_workload() {
  constexpr int64_t kImages = 8;
  const MapShape shape = {1, 12, 12};
  Batch images{.shape = shape, .images = Buffer<float>(kImages * shape.size())};
  for (int64_t i = 0; i < images.images.size(); ++i) {
    images.images[i] = static_cast<float>(i * 37 % 101) / 100.0F;
  }
  for (int64_t i = 0; i < kImages; ++i) {
    images.sample_ids.push_back(static_cast<uint32_t>(i));
    images.labels.push_back(i % 3);
  }
  const NormSpec whole_batch{.momentum = 1.0F};
  return {
      .network = Network(
          vgg5({.input = shape, .classes = 3, .steps = 5, .width = 0.1, .norm = whole_batch}), 1),
      .images = std::move(images),
      .encoder = {EncoderKind::poisson_unsigned, {}},
      .images_from = "numbers"};
}

}  // namespace bntt::testing
