#pragma once

#include "bench/workload.h"
#include "bntt/zoo.h"

namespace bntt::testing {

/// A narrow network on eight noisy images, made without any data set.
inline bench::Workload small_workload(const char* name = "vgg5",
                                      const NormSpec& norm = {.momentum = 1.0F},
                                      double width = 0.1) {
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
  return {.network = Network(
              zoo_network(name,
                          {.input = shape, .classes = 3, .steps = 5, .width = width, .norm = norm}),
              1),
          .images = std::move(images),
          .encoder = {EncoderKind::poisson_unsigned, {}},
          .images_from = "numbers"};
}

}  // namespace bntt::testing
