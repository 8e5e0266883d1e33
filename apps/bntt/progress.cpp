#include "progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

namespace bntt::cli {

Progress::Progress() : terminal_(::isatty(STDOUT_FILENO) != 0) {}

Progress::~Progress() {
  heartbeat_.reset();
  clear();
}

void Progress::never_silent_for(std::chrono::milliseconds interval) {
  if (terminal_) return;
  heartbeat_.emplace(interval, [this] {
    const std::lock_guard lock(mutex_);
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    const std::string text =
        status_.empty() ? "working, " + duration_text(seconds) + " so far" : status_;
    // Not fmt::print, which throws when the output is full: there is no one to catch it here.
    std::fputs((text + "\n").c_str(), stdout);
    std::fflush(stdout);
  });
}

void Progress::clear() {
  if (!drawn_) return;
  fmt::print("\r\033[K");
  std::fflush(stdout);
  drawn_ = false;
}

void Progress::bar(const std::string& label, int64_t done, int64_t all, const std::string& note,
                   double seconds_left) {
  if (all <= 0) return;
  if (!terminal_) {
    if (!heartbeat_) return;
    const std::lock_guard lock(mutex_);
    status_ =
        fmt::format("{}  {}/{}  {}  {} left", label, done, all, note, duration_text(seconds_left));
    return;
  }
  if (done < all && drawn_recently()) return;
  last_draw_ = std::chrono::steady_clock::now();
  drawn_ = true;
  constexpr int64_t kWidth = 24;
  const int64_t filled = kWidth * done / all;
  std::string cells(static_cast<std::size_t>(filled), '=');
  if (filled < kWidth) cells += '>';
  fmt::print("\r\033[K{} [{:<{}}] {:3} %  {}  {} left", label, cells, kWidth, 100 * done / all,
             note, duration_text(seconds_left));
  std::fflush(stdout);
}

bool Progress::drawn_recently() const {
  return drawn_ && std::chrono::steady_clock::now() - last_draw_ < std::chrono::milliseconds(100);
}

void Progress::status(const std::string& text) {
  if (!terminal_) {
    const std::lock_guard lock(mutex_);
    status_ = text;
    return;
  }
  if (drawn_recently()) return;
  last_draw_ = std::chrono::steady_clock::now();
  drawn_ = true;
  fmt::print("\r\033[K{}", text);
  std::fflush(stdout);
}

void Progress::line(const std::string& text) {
  clear();
  const std::lock_guard lock(mutex_);
  status_.clear();
  fmt::print("{}\n", text);
  std::fflush(stdout);
  if (heartbeat_) heartbeat_->heard();
}

double Rate::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

double Rate::per_second() const { return static_cast<double>(done_) / std::max(1e-9, seconds()); }

double Rate::seconds_for(int64_t amount) const {
  return done_ == 0 ? 0.0 : seconds() * static_cast<double>(amount) / static_cast<double>(done_);
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<int64_t>(std::llround(std::max(0.0, seconds)));
  if (whole >= 3600) {
    return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  }
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace bntt::cli
