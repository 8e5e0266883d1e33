#include "base/heartbeat.h"

namespace bntt {

Heartbeat::Heartbeat(std::chrono::milliseconds interval, std::function<void()> beat)
    : interval_(interval),
      beat_(std::move(beat)),
      next_(Clock::now() + interval),
      thread_([this] { run(); }) {}

Heartbeat::~Heartbeat() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Heartbeat::heard() {
  const std::lock_guard lock(mutex_);
  next_ = Clock::now() + interval_;
}

void Heartbeat::run() {
  std::unique_lock lock(mutex_);
  while (!ending_) {
    changed_.wait_until(lock, next_);
    if (ending_ || Clock::now() < next_) continue;
    next_ = Clock::now() + interval_;
    lock.unlock();  // the beat may wait for a thread that is about to call heard()
    beat_();
    lock.lock();
  }
}

}  // namespace bntt
