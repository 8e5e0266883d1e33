#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "base/heartbeat.h"

namespace bntt::cli {

/// Long work on the screen: on a terminal one line that is redrawn, elsewhere plain lines now and
/// then.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  bool on_terminal() const { return terminal_; }

  /// Elsewhere than on a terminal: whenever no line was printed for so long, one that says where
  /// the work stands.
  void never_silent_for(std::chrono::milliseconds interval);

  /// Redraws the bar, at most ten times a second: "label [=====>    ] 42 %  note  1:23 left".
  void bar(const std::string& label, int64_t done, int64_t all, const std::string& note,
           double seconds_left);
  /// Redraws one line of any text, as often as a bar.
  void status(const std::string& text);
  /// A line that stays.
  void line(const std::string& text);

 private:
  void clear();
  bool drawn_recently() const;

  bool terminal_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_draw_;
  std::mutex mutex_;    // of what follows, and of the output
  std::string status_;  // the bar as a line; empty: there was none since the last line
  std::optional<Heartbeat> heartbeat_;
};

/// Work per second since the start, and the time that the rest will take.
class Rate {
 public:
  void add(int64_t amount) { done_ += amount; }
  int64_t done() const { return done_; }
  double per_second() const;
  double seconds_for(int64_t amount) const;
  double seconds() const;

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  int64_t done_ = 0;
};

std::string duration_text(double seconds);

}  // namespace bntt::cli
