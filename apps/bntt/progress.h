#pragma once

#include <chrono>
#include <cstdint>
#include <string>

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

  /// Redraws the bar, at most ten times a second: "label [=====>    ] 42 %  note  1:23 left".
  void bar(const std::string& label, int64_t done, int64_t all, const std::string& note,
           double seconds_left);
  /// A line that stays.
  void line(const std::string& text);

 private:
  void clear();

  bool terminal_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point last_draw_;
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
