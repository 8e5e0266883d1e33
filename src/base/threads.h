#pragma once

#include <cstdint>
#include <functional>

#include "bntt/threads.h"

namespace bntt {

/// Runs body(0) ... body(count - 1) on all threads, in any order. Work items must be split by
/// shape, never by thread, and write to places of their own: then results cannot depend on the
/// number of threads. An exception of a work item is thrown to the caller once all threads have
/// stopped, the first one if there are several; items that had not begun by then are left out.
void parallel_for(int64_t count, const std::function<void(int64_t)>& body);

/// Scratch memory of this thread that grows and is kept; contents undefined. Two slots may be in
/// use at once only if their numbers differ.
enum class ScratchSlot {
  unpacked,
  result,
  currents,
  workspace,
  membrane,
  gradient,
  starts,
  entries,
  count
};
void* thread_scratch_bytes(ScratchSlot slot, int64_t bytes);

template <typename T = float>
T* thread_scratch(ScratchSlot slot, int64_t count) {
  return static_cast<T*>(thread_scratch_bytes(slot, count * static_cast<int64_t>(sizeof(T))));
}

}  // namespace bntt
