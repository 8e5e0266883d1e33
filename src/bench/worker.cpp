#include "bench/worker.h"

#include <sys/resource.h>

#include <chrono>
#include <fstream>
#include <iostream>

#include "base/fail.h"

namespace bntt::bench {
namespace {

void answer(const Json& json) { std::cout << json.dump() << std::endl; }

// Not ru_maxrss: across exec it keeps the peak of the program that was there before.
int64_t peak_memory_bytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    if (word != "VmHWM:") continue;
    int64_t kilobytes = 0;
    status >> kilobytes;
    return kilobytes * 1024;
  }
  fail("/proc/self/status: holds no VmHWM");
}

/// Of all threads, in the program and in the system for it.
double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

void serve(Engine& engine) {
  engine.warm_up();
  answer({{"ready", true}});
  std::string request;
  while (std::getline(std::cin, request)) {
    const double used = processor_seconds();
    const auto start = std::chrono::steady_clock::now();
    engine.run_unit();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    answer({{"seconds", taken.count()}, {"processor_seconds", processor_seconds() - used}});
  }
  Json report = engine.report();
  report["peak_memory_bytes"] = peak_memory_bytes();
  answer(report);
}

void answer_error(const std::string& sentence) { answer({{"error", sentence}}); }

}  // namespace bntt::bench
