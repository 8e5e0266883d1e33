#include "base/threads.h"

#include <omp.h>

#include <array>

#include "bntt/buffer.h"

namespace bntt {

void set_threads(int count) { omp_set_num_threads(count > 0 ? count : omp_get_num_procs()); }

int threads() { return omp_get_max_threads(); }

void parallel_for(int64_t count, const std::function<void(int64_t)>& body) {
#pragma omp parallel for schedule(dynamic, 1)
  for (int64_t i = 0; i < count; ++i) body(i);
}

float* thread_scratch(ScratchSlot slot, int64_t floats) {
  thread_local std::array<Buffer<float>, static_cast<std::size_t>(ScratchSlot::count)> buffers;
  Buffer<float>& buffer = buffers.at(static_cast<std::size_t>(slot));
  if (buffer.size() < floats) buffer = Buffer<float>(floats);
  return buffer.data();
}

}  // namespace bntt
