#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bntt/buffer.h"
#include "bntt/signal.h"

namespace bntt::cli {

/// What one call of a benchmarked function does.
struct Work {
  double dense_flops = 0.0;
  double bytes = 0.0;
};

/// Runs `call` under Google Benchmark, single-threaded unless it parallelises itself.
void add_benchmark(const std::string& name, const Work& work, std::function<void()> call);

/// Each adds its benchmarks, for every kernel set where there are several.
void add_convolution_benchmarks(const std::vector<double>& densities);
void add_neuron_benchmarks();
void add_training_benchmarks();

/// Reproducible contents.
Buffer<float> random_floats(int64_t size);
/// Each bit set with probability `density`; bits past the last channel are zero.
Buffer<SpikeWord> random_spikes(int64_t pixels, int64_t channels, double density);

}  // namespace bntt::cli
