#include "base/threads.h"

#include <omp.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "bntt/buffer.h"

namespace bntt {

void set_threads(int count) {
  constexpr int kMost = 1024;  // the OpenMP runtime aborts if the system cannot create more
  if (count < 0 || count > kMost) fail("threads: {}, expected 0 to {}", count, kMost);
  omp_set_num_threads(count > 0 ? count : omp_get_num_procs());
}

int threads() { return omp_get_max_threads(); }

thread_local WorkItemClock* WorkItemClock::running_ = nullptr;

WorkItemClock::WorkItemClock(Report report) : previous_(running_), report_(std::move(report)) {
  running_ = this;
}

WorkItemClock::~WorkItemClock() { running_ = previous_; }

// Items that call parallel_for() themselves count as one.
void WorkItemClock::run(int64_t count, const std::function<void(int64_t)>& body) {
  using Clock = std::chrono::steady_clock;
  running_ = nullptr;
  std::vector<double> seconds;
  seconds.reserve(static_cast<std::size_t>(count));
  try {
    for (int64_t i = 0; i < count; ++i) {
      const auto start = Clock::now();
      body(i);
      seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    }
  } catch (...) {
    running_ = this;
    throw;
  }
  running_ = this;
  report_(seconds);
}

void parallel_for(int64_t count, const std::function<void(int64_t)>& body) {
  if (WorkItemClock* clock = WorkItemClock::running_; clock != nullptr) {
    clock->run(count, body);
    return;
  }
  // OpenMP aborts the program if an exception leaves its loop.
  std::atomic<bool> failed = false;
  std::exception_ptr failure;
#pragma omp parallel for schedule(dynamic, 1)
  for (int64_t i = 0; i < count; ++i) {
    if (failed.load(std::memory_order_relaxed)) continue;
    try {
      body(i);
    } catch (...) {
      if (!failed.exchange(true)) failure = std::current_exception();
    }
  }
  if (failure != nullptr) std::rethrow_exception(failure);
}

namespace {

/// From the general heap: long-lived memory between the large buffers, which come and go, would
/// leave holes.
struct Scratch {
  struct Free {
    void operator()(void* allocated) const { std::free(allocated); }
  };
  std::unique_ptr<void, Free> memory;
  std::size_t size = 0;
};

}  // namespace

void* thread_scratch_bytes(ScratchSlot slot, int64_t bytes) {
  thread_local std::array<Scratch, static_cast<std::size_t>(ScratchSlot::count)> all;
  Scratch& scratch = all.at(static_cast<std::size_t>(slot));
  const auto wanted = (static_cast<std::size_t>(bytes) + kBufferAlignment - 1) / kBufferAlignment *
                      kBufferAlignment;
  if (scratch.size < wanted) {
    scratch.memory.reset(std::aligned_alloc(kBufferAlignment, wanted));
    scratch.size = scratch.memory == nullptr ? 0 : wanted;
    if (scratch.memory == nullptr) throw std::bad_alloc();
  }
  return scratch.memory.get();
}

}  // namespace bntt
