#pragma once

#include <functional>

#include "bntt/buffer.h"

namespace bntt {

/// Calls add(chunk, sum) for every chunk, in parallel, where `sum` points to `size` floats to add
/// to, and returns their total. Chunks are summed in parts whose number depends only on the shape,
/// and the parts are added in order, so that sums do not depend on threads.
Buffer<float> sum_in_parts(int64_t chunks, int64_t size,
                           const std::function<void(int64_t chunk, float* sum)>& add);

}  // namespace bntt
