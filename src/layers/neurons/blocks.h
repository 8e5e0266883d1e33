#pragma once

#include <algorithm>

#include "base/threads.h"
#include "bntt/norm.h"
#include "kernels/neuron.h"

namespace bntt {

// The backward pass revisits a block's membranes of all steps: keep them in the L2 cache.
inline int64_t pixels_per_block(const kernels::NeuronShape& shape) {
  constexpr int64_t kBlockFloats = 1024;
  static_assert(kBlockFloats <= kernels::PixelBlock::kMaxPixels);
  return std::clamp<int64_t>(kBlockFloats / shape.channels, 1, shape.pixels);
}

/// Runs body(block) for every block of every image, in parallel.
template <typename Body>
void for_each_block(const kernels::NeuronShape& shape, const Body& body) {
  const int64_t size = pixels_per_block(shape);
  const int64_t per_image = (shape.pixels + size - 1) / size;
  parallel_for(shape.batch * per_image, [&](int64_t i) {
    const int64_t begin = i % per_image * size;
    body(kernels::PixelBlock{i / per_image, begin, std::min(begin + size, shape.pixels)});
  });
}

/// Runs body(block, sums of its row): rows in parallel, the blocks of a row in order, so that the
/// sums are reproducible.
template <typename Body>
void for_each_row_block(const kernels::NeuronShape& shape, RowGradientSums& sums,
                        const Body& body) {
  const int64_t size = pixels_per_block(shape);
  parallel_for(sums.split.rows_per_step(), [&](int64_t row) {
    const kernels::GradientSums row_sums{sums.gradient.data() + sums.at(0, row),
                                         sums.gradient_times_unit.data() + sums.at(0, row)};
    const int64_t first = row * sums.split.images_per_row;
    for (int64_t image = first; image < first + sums.split.images_in(row); ++image) {
      for (int64_t begin = 0; begin < shape.pixels; begin += size) {
        body(kernels::PixelBlock{image, begin, std::min(begin + size, shape.pixels)}, row_sums);
      }
    }
  });
}

}  // namespace bntt
