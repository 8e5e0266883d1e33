#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace bntt {

/// Calls `beat`, on a thread of its own, whenever nothing was heard for `interval`: a step of an
/// hour leaves its caller no chance to say that all is well.
class Heartbeat {
 public:
  Heartbeat(std::chrono::milliseconds interval, std::function<void()> beat);
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;
  ~Heartbeat();

  /// Something was heard: the next beat is a whole interval away.
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
