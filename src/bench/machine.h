#pragma once

#include <string>

namespace bntt::bench {

/// What the machine can do at best, measured with all threads in use.
struct Machine {
  double flops = 0.0;             ///< per second, of oneDNN's single-precision matrix product
  double bytes_per_second = 0.0;  ///< read and written by a copy beyond the caches
};

Machine measure_machine();

/// Whether the CPU multiplies bf16 natively; elsewhere LibTorch emulates it, slower than fp32.
bool has_native_bf16();

}  // namespace bntt::bench
