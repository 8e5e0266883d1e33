#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace bntt {

/// Calls `beat` on its own thread whenever `heard` has not been called for `interval`, so that a
/// long step of the caller does not look like a hang.
class Heartbeat {
 public:
  Heartbeat(std::chrono::milliseconds interval, std::function<void()> beat);
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;
  ~Heartbeat();

  /// Restarts the interval.
  void heard();

 private:
  using Clock = std::chrono::steady_clock;
  void run();

  std::chrono::milliseconds interval_;
  std::function<void()> beat_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Clock::time_point next_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace bntt
