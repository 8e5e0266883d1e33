#include "bench_kernels.h"

#include <fmt/format.h>

#include <regex>
#include <sstream>

#include "base/fail.h"
#include "base/json.h"
#include "base/random.h"
#include "base/threads.h"
#include "command.h"

namespace bntt::cli {
namespace {

constexpr double kGiga = 1e9;
constexpr const char* kFlops = "GFLOP/s";
constexpr const char* kBytes = "GB/s";

struct KernelArguments {
  std::vector<double> densities = {0.25, 0.10, 0.05, 0.02};
  std::string filter = ".";
  int threads = 0;
  bool json = false;
};

/// Keeps what was measured, in the form of the other parts of bench.
class JsonReporter final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      Json result{{"what", "kernel"},
                  {"name", run.benchmark_name()},
                  {"seconds", run.real_accumulated_time / static_cast<double>(run.iterations)}};
      for (const auto& [name, counter] : run.counters) {
        result[name == kFlops ? "gflops_per_second" : "gbytes_per_second"] = counter.value;
      }
      results_.push_back(std::move(result));
    }
  }
  const Json& results() const { return results_; }

 private:
  Json results_ = Json::array();
};

int bench_kernels(const KernelArguments& arguments) {
  try {
    const std::regex valid(arguments.filter);
  } catch (const std::regex_error&) {
    fail("--filter: '{}' is not a regular expression", arguments.filter);
  }
  set_threads(arguments.threads);
  add_convolution_benchmarks(arguments.densities);
  add_neuron_benchmarks();
  add_training_benchmarks();
  JsonReporter json;
  benchmark::ConsoleReporter console(benchmark::ConsoleReporter::OO_Tabular);
  benchmark::BenchmarkReporter* reporter = &console;
  if (arguments.json) reporter = &json;
  std::ostringstream remarks;  // the library's, on the state of the machine
  reporter->SetErrorStream(&remarks);
  if (benchmark::RunSpecifiedBenchmarks(reporter, arguments.filter) == 0) {
    fail("--filter: '{}' matches no kernel", arguments.filter);
  }
  if (arguments.json) {
    fmt::print("{}\n", Json{{"results", json.results()}}.dump(2));
  } else {
    fmt::print("{}", remarks.str());
  }
  return kDone;
}

}  // namespace

void add_benchmark(const std::string& name, const Work& work, std::function<void()> call) {
  benchmark::RegisterBenchmark(
      name.c_str(),
      [work, call = std::move(call)](benchmark::State& state) {
        for (auto unused : state) call();
        const auto per_second = [](double amount) {
          return benchmark::Counter(amount / kGiga, benchmark::Counter::kIsIterationInvariantRate);
        };
        if (work.dense_flops > 0.0) state.counters[kFlops] = per_second(work.dense_flops);
        if (work.bytes > 0.0) state.counters[kBytes] = per_second(work.bytes);
      })
      ->UseRealTime()
      ->MinTime(0.1)
      ->Unit(benchmark::kMicrosecond);
}

Buffer<float> random_floats(int64_t size) {
  Buffer<float> values(size);
  for (int64_t i = 0; i < size; ++i) {
    const auto bits = draw4(1, Purpose::calibration, {.block = static_cast<uint32_t>(i / 4)});
    values[i] = 2.0F * uniform01(bits[i % 4]) - 1.0F;
  }
  return values;
}

Buffer<SpikeWord> random_spikes(int64_t pixels, int64_t channels, double density) {
  const int64_t words = (channels + kSpikesPerWord - 1) / kSpikesPerWord;
  Buffer<SpikeWord> spikes = Buffer<SpikeWord>::zeros(pixels * words);
  const auto limit = static_cast<float>(density);
  for (int64_t pixel = 0; pixel < pixels; ++pixel) {
    for (int64_t channel = 0; channel < channels; ++channel) {
      const auto bits = draw4(
          2, Purpose::calibration,
          {.step = static_cast<uint32_t>(pixel), .block = static_cast<uint32_t>(channel / 4)});
      if (uniform01(bits[channel % 4]) >= limit) continue;
      spikes[pixel * words + channel / kSpikesPerWord] |= SpikeWord{1}
                                                          << (channel % kSpikesPerWord);
    }
  }
  return spikes;
}

void add_bench_kernels(CLI::App& bench_command, Action& action) {
  auto* command = bench_command.add_subcommand(
      "kernels", "Time single kernels on VGG9's shapes, for every instruction set of this machine");
  auto arguments = std::make_shared<KernelArguments>();
  command
      ->add_option("--density", arguments->densities,
                   "densities of the input of spike convolutions")
      ->capture_default_str()
      ->delimiter(',')
      ->check(CLI::Range(0.0001, 0.9999));
  command->add_option("--filter", arguments->filter,
                      "regular expression; only kernels whose names match are timed");
  command
      ->add_option("--threads", arguments->threads,
                   "number of threads for kernels that run in parallel; 0: one per core")
      ->check(not_negative());
  command->add_flag("--json", arguments->json, "print JSON");
  command->footer("Example:\n  bntt bench kernels --filter 'walk.*avx2' --density 0.05");
  command->callback(
      [arguments, &action] { action = [arguments] { return bench_kernels(*arguments); }; });
}

}  // namespace bntt::cli
