#include "layers/synapses/gradient_parts.h"

#include <algorithm>
#include <bit>

#include "base/threads.h"

namespace bntt {
namespace {

// Each part costs `size` floats. The number is a power of two, which two or four threads share
// evenly.
int64_t parts_of(int64_t chunks, int64_t size) {
  constexpr int64_t kPartFloats = 16 << 20;
  const auto parts = static_cast<uint64_t>(std::clamp<int64_t>(kPartFloats / size, 4, 32));
  return std::min(chunks, static_cast<int64_t>(std::bit_floor(parts)));
}

}  // namespace

Buffer<float> sum_in_parts(int64_t chunks, int64_t size,
                           const std::function<void(int64_t chunk, float* sum)>& add) {
  const int64_t parts = parts_of(chunks, size);
  Buffer<float> sums(parts * size);
  parallel_for(parts, [&](int64_t part) {
    float* sum = sums.data() + part * size;
    std::fill_n(sum, size, 0.0F);
    for (int64_t i = chunks * part / parts; i < chunks * (part + 1) / parts; ++i) add(i, sum);
  });
  constexpr int64_t kAddedTogether = 1 << 14;
  parallel_for((size + kAddedTogether - 1) / kAddedTogether, [&](int64_t i) {
    const int64_t end = std::min(size, (i + 1) * kAddedTogether);
    for (int64_t part = 1; part < parts; ++part) {
      for (int64_t k = i * kAddedTogether; k < end; ++k) sums[k] += sums[part * size + k];
    }
  });
  return sums;
}

}  // namespace bntt
