// What a call through the C interface costs over the same call in C++, one picture at a time:
//   calls MODEL
// Prints the median of both in microseconds of processor time; benchmarks/calls.py adds Python's.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <vector>

#include "bntt/bntt.h"
#include "bntt/error.h"
#include "bntt/model.h"
#include "bntt/threads.h"

namespace {

constexpr int kRounds = 2000;

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

/// Other processes do not count.
double processor_microseconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return 1e6 * static_cast<double>(now.tv_sec) + 1e-3 * static_cast<double>(now.tv_nsec);
}

template <typename Call>
double microseconds(const Call& call) {
  const double start = processor_microseconds();
  call();
  return processor_microseconds() - start;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: calls MODEL\n"), 2;
  bntt_model* handle = nullptr;
  if (bntt_model_load(argv[1], &handle) != BNTT_OK) {
    return std::fprintf(stderr, "calls: %s\n", bntt_last_error()), 2;
  }
  const bntt::Model model = bntt::Model::load(argv[1]);
  const bntt::MapShape shape = model.network().spec().input;
  const std::vector<uint8_t> pixels(static_cast<std::size_t>(shape.size()), 128);
  std::vector<float> probabilities(static_cast<std::size_t>(model.classes()));
  bntt_results results;
  bntt_results_init(&results, sizeof results);
  results.probabilities = probabilities.data();
  bntt_options options;
  bntt_options_init(&options, sizeof options);
  options.threads = 1;
  bntt::set_threads(1);
  std::vector<double> in_cpp;
  std::vector<double> in_c;
  for (int round = 0; round < kRounds; ++round) {  // in turn: a slow moment affects both
    in_cpp.push_back(microseconds([&] {
      probabilities = model.predict({pixels, 1, shape.height, shape.width, shape.channels})
                          .front()
                          .probabilities;
    }));
    results.probabilities = probabilities.data();
    in_c.push_back(microseconds([&] {
      bntt_predict(handle, pixels.data(), 1, shape.height, shape.width, shape.channels, &options,
                   &results);
    }));
  }
  std::printf("%.2f %.2f\n", median(in_cpp), median(in_c));
  bntt_model_free(handle);
}
