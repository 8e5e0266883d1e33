#pragma once

#include <string>

namespace bntt::bench {

/// The best performance of the machine, measured with all threads in use.
struct Machine {
  double flops = 0.0;             ///< per second, of oneDNN's single-precision matrix product
  double bytes_per_second = 0.0;  ///< read and written by a copy larger than the caches
};

Machine measure_machine();

/// Whether the CPU multiplies bf16 natively; otherwise LibTorch emulates it, slower than fp32.
bool has_native_bf16();

}  // namespace bntt::bench
