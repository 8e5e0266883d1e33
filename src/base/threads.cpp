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

void* thread_scratch_bytes(ScratchSlot slot, int64_t bytes) {
  thread_local std::array<Buffer<uint8_t>, static_cast<std::size_t>(ScratchSlot::count)> buffers;
  Buffer<uint8_t>& buffer = buffers.at(static_cast<std::size_t>(slot));
  if (buffer.size() < bytes) buffer = Buffer<uint8_t>(bytes);
  return buffer.data();
}

}  // namespace bntt
