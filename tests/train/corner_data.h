#pragma once

#include <vector>

#include "data/dataset.h"
#include "train/config.h"

namespace bntt::testing {

/// Class k is a bright square in one of four corners, on a noisy ground.
inline ImageSet corner_images(int64_t count, uint32_t first_id) {
  ImageSet set{.shape = {1, 8, 8},
               .classes = 4,
               .pixels = {},
               .labels = {},
               .class_names = {"a", "b", "c", "d"},
               .first_id = first_id};
  std::vector<uint8_t> pixels;
  for (int64_t image = 0; image < count; ++image) {
    const int64_t label = image * 7 % 4;
    set.labels.push_back(label);
    for (int64_t y = 0; y < 8; ++y) {
      for (int64_t x = 0; x < 8; ++x) {
        const bool bright = y / 4 == label / 2 && x / 4 == label % 2;
        pixels.push_back(static_cast<uint8_t>((bright ? 200 : 20) + (image + 3 * y + x) % 40));
      }
    }
  }
  set.pixels = std::move(pixels);
  return set;
}

inline DatasetSplits corner_data() {
  return {.train = corner_images(16, 0),
          .test = corner_images(10, kFirstTestId),
          .normalisation = {{0.3F}, {0.3F}}};
}

/// 12 training images in 3 batches, 4 for validation; 3 epochs of 3 steps.
inline RunConfig small_config() {
  RunConfig config;
  config.data.name = "mnist";
  config.data.validation = 0.25;
  config.data.augment_pad = 1;
  config.model.name = "vgg5";
  config.model.steps = 3;
  config.model.width = 0.05;
  config.train.epochs = 3;
  config.train.batch = 4;
  config.run = {.log_steps = 2, .checkpoint_steps = 4};
  return config;
}

}  // namespace bntt::testing
