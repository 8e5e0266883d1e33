#include "bench/machine.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>

#include "base/threads.h"
#include "bntt/buffer.h"
#include "kernels/matmul.h"

namespace bntt::bench {
namespace {

// Half a second of trials: on a busy machine, at least one of them should be undisturbed.
double best_seconds(const std::function<void()>& work) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::milliseconds(500);
  double best = std::numeric_limits<double>::infinity();
  while (Clock::now() < end) {
    const auto start = Clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return best;
}

double measure_flops() {
  constexpr int64_t kSide = 768;
  constexpr int64_t kSize = kSide * kSide;
  const int64_t products = threads();
  Buffer<float> a = Buffer<float>::zeros(products * kSize);
  Buffer<float> b = Buffer<float>::zeros(products * kSize);
  Buffer<float> c(products * kSize);
  const kernels::MatmulShape shape{.rows = kSide,
                                   .columns = kSide,
                                   .inner = kSide,
                                   .a_stride = kSide,
                                   .b_stride = kSide,
                                   .c_stride = kSide};
  const double seconds = best_seconds([&] {
    parallel_for(products, [&](int64_t i) {
      kernels::matmul(shape, a.data() + i * kSize, b.data() + i * kSize, c.data() + i * kSize);
    });
  });
  return static_cast<double>(2 * products * kSide * kSize) / seconds;
}

double measure_bandwidth() {
  constexpr int64_t kPart = 1 << 20;
  constexpr int64_t kParts = 128;
  Buffer<uint8_t> from(kParts * kPart);
  Buffer<uint8_t> to(kParts * kPart);
  from.fill(1);
  const double seconds = best_seconds([&] {
    parallel_for(kParts, [&](int64_t i) {
      std::memcpy(to.data() + i * kPart, from.data() + i * kPart, kPart);
    });
  });
  return static_cast<double>(2 * kParts * kPart) / seconds;
}

}  // namespace

Machine measure_machine() { return {measure_flops(), measure_bandwidth()}; }

bool has_native_bf16() {
  std::ifstream info("/proc/cpuinfo");
  std::string word;
  while (info >> word) {
    if (word == "avx512_bf16" || word == "amx_bf16" || word == "bf16") return true;
  }
  return false;
}

}  // namespace bntt::bench
