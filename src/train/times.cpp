#include "train/times.h"

#include <chrono>
#include <cmath>
#include <ctime>

#include "base/fail.h"
#include "base/json.h"

namespace bntt {
namespace {
namespace fs = std::filesystem;

constexpr uint64_t kLargestFile = uint64_t{1} << 28;

struct TimesLine {
  std::string kind;
  int64_t epoch = 0;
  int64_t step = 0;
  TimeSpent spent;
  uint64_t end = 0;  ///< of the line in the file
};

TimesLine parse_line(const std::string& text, const std::string& origin) {
  const Json json = parse_json(text, origin);
  const auto whole = [&](const char* key) {
    return json.contains(key) && json[key].is_number_integer();
  };
  const auto number = [&](const char* key) { return json.contains(key) && json[key].is_number(); };
  const bool complete = json.is_object() && json.contains("kind") && json["kind"].is_string() &&
                        whole("epoch") && whole("step") && number("seconds") &&
                        number("processor_seconds");
  if (!complete) {
    fail("{}: expected an object with kind, epoch, step, seconds and processor_seconds", origin);
  }
  return {.kind = json["kind"],
          .epoch = json["epoch"],
          .step = json["step"],
          .spent = {.seconds = json["seconds"], .processor_seconds = json["processor_seconds"]}};
}

/// The complete lines of the file; a process that was killed may have left an incomplete one.
std::vector<TimesLine> read_lines(const fs::path& file) {
  std::vector<TimesLine> lines;
  if (!fs::exists(file)) return lines;
  const std::string text = read_text(file, kLargestFile);
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    const std::string origin = fmt::format("{}:{}", file.string(), lines.size() + 1);
    lines.push_back(parse_line(text.substr(begin, end - begin), origin));
    begin = end + 1;
    lines.back().end = begin;
  }
  return lines;
}

/// A run goes on without its times rather than not at all.
std::vector<TimesLine> lines_if_intact(const fs::path& file) {
  try {
    return read_lines(file);
  } catch (const Error&) {
    return {};
  }
}

double in_milliseconds(double seconds) { return std::round(1000.0 * seconds) / 1000.0; }

double processor_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

TrainClock process_clock() {
  return [start = std::chrono::steady_clock::now(), before = processor_seconds()] {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    return TimeSpent{.seconds = passed.count(), .processor_seconds = processor_seconds() - before};
  };
}

TimesLog::TimesLog(const fs::path& file, int64_t step, TrainClock clock)
    : clock_(std::move(clock)) {
  uint64_t kept = 0;
  if (step > 0) {
    for (const TimesLine& line : lines_if_intact(file)) {
      if (line.step > step) break;
      kept = line.end;
      before_ = line.spent;
      last_step_ = line.step;
    }
    if (last_step_ != step) {
      fs::remove(file);
      return;
    }
  }
  log_.emplace(file, kept);
}

void TimesLog::checkpoint_next(int64_t epoch, int64_t step) {
  if (step != last_step_) add("checkpoint", epoch, step);
}

void TimesLog::add(const char* kind, int64_t epoch, int64_t step) {
  last_step_ = step;
  if (!log_) return;
  const TimeSpent now = clock_();
  log_->append(Json{
      {"kind", kind},
      {"epoch", epoch},
      {"step", step},
      {"seconds", in_milliseconds(before_.seconds + now.seconds)},
      {"processor_seconds", in_milliseconds(before_.processor_seconds + now.processor_seconds)}}
                   .dump());
}

void TimesLog::sync() {
  if (log_) log_->sync();
}

std::vector<EpochTime> read_epoch_times(const RunPaths& paths) {
  std::vector<EpochTime> epochs;
  for (const TimesLine& line : read_lines(paths.times())) {
    if (line.kind == "epoch") epochs.push_back({.epoch = line.epoch, .spent = line.spent});
  }
  return epochs;
}

}  // namespace bntt
