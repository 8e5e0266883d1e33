#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "bntt/threads.h"

namespace bntt {

/// Runs body(0) ... body(count - 1) on all threads, in any order. Work items must be split by
/// shape, never by thread, and write to separate memory, so that results cannot depend on the
/// number of threads. An exception of a work item is rethrown to the caller once all threads have
/// stopped, the first one if there are several; items that have not begun by then are skipped.
void parallel_for(int64_t count, const std::function<void(int64_t)>& body);

/// During its lifetime, parallel_for() on this thread runs its items one after the other and
/// reports the seconds that each took: it tells how far work could be divided among more threads
/// than the machine has.
class WorkItemClock {
 public:
  using Report = std::function<void(std::span<const double> seconds)>;

  explicit WorkItemClock(Report report);
  WorkItemClock(const WorkItemClock&) = delete;
  WorkItemClock& operator=(const WorkItemClock&) = delete;
  ~WorkItemClock();

 private:
  friend void parallel_for(int64_t count, const std::function<void(int64_t)>& body);
  void run(int64_t count, const std::function<void(int64_t)>& body);

  static thread_local WorkItemClock* running_;
  WorkItemClock* previous_;
  Report report_;
};

/// Scratch memory of this thread that grows and is reused; contents undefined. Slots that are in
/// use at the same time must have different numbers.
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
