#include "bench/worker.h"

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

}  // namespace

void serve(Engine& engine) {
  engine.warm_up();
  answer({{"ready", true}});
  std::string request;
  while (std::getline(std::cin, request)) {
    const auto start = std::chrono::steady_clock::now();
    engine.run_unit();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    answer({{"seconds", taken.count()}});
  }
  Json report = engine.report();
  report["peak_memory_bytes"] = peak_memory_bytes();
  answer(report);
}

void answer_error(const std::string& sentence) { answer({{"error", sentence}}); }

}  // namespace bntt::bench
