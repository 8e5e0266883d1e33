#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

namespace bntt {

/// Calls `make` repeatedly in one background thread and keeps up to `depth` results ready, in
/// order.
template <typename T>
class Prefetcher {
 public:
  Prefetcher(std::function<T()> make, std::size_t depth)
      : make_(std::move(make)),
        depth_(depth),
        producer_([this](const std::stop_token& stop) { produce(stop); }) {}

  /// Waits for the next result. After the results made before a failure, rethrows that failure.
  T next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !ready_.empty() || failure_ != nullptr; });
    if (ready_.empty()) std::rethrow_exception(failure_);
    T result = std::move(ready_.front());
    ready_.pop_front();
    changed_.notify_all();
    return result;
  }

 private:
  void produce(const std::stop_token& stop) {
    try {
      while (!stop.stop_requested()) {
        T result = make_();
        std::unique_lock lock(mutex_);
        if (!changed_.wait(lock, stop, [&] { return ready_.size() < depth_; })) return;
        ready_.push_back(std::move(result));
        changed_.notify_all();
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      failure_ = std::current_exception();
      changed_.notify_all();
    }
  }

  std::function<T()> make_;
  std::size_t depth_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<T> ready_;
  std::exception_ptr failure_;
  std::jthread producer_;  // last: it stops before the members it uses are destroyed
};

}  // namespace bntt
