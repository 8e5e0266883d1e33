#pragma once

#include <functional>

#include "bntt/buffer.h"

namespace bntt {

/// Calls add(chunk, sum) for every chunk, in parallel, where `sum` are `size` floats to be added
/// to, and returns their total. Chunks are summed in parts whose number depends on the shape alone,
/// and the parts in order, so that sums do not depend on threads.
Buffer<float> sum_in_parts(int64_t chunks, int64_t size,
                           const std::function<void(int64_t chunk, float* sum)>& add);

}  // namespace bntt
