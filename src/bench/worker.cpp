#include "bench/worker.h"

#include <sys/resource.h>

#include <chrono>
#include <fstream>
#include <iostream>

#include "base/fail.h"

namespace bntt::bench {
namespace {

void answer(const Json& json) { std::cout << json.dump() << std::endl; }

// Not ru_maxrss, which keeps the peak of the previous program across exec.
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

/// Of all threads, in the program and in the kernel.
double processor_seconds() {
  constexpr double kMicro = 1e-6;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + kMicro * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

void serve(Engine& engine) {
  engine.warm_up();
  answer({{"ready", true}});
  std::string request;
  while (std::getline(std::cin, request)) {
    const double processor_start = processor_seconds();
    const auto start = std::chrono::steady_clock::now();
    engine.run_unit();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    answer(
        {{"seconds", taken.count()}, {"processor_seconds", processor_seconds() - processor_start}});
  }
  Json report = engine.report();
  report["peak_memory_bytes"] = peak_memory_bytes();
  answer(report);
}

void answer_error(const std::string& sentence) { answer({{"error", sentence}}); }

}  // namespace bntt::bench
