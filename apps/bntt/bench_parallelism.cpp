#include <fmt/format.h>

#include <map>

#include "base/fields.h"
#include "base/json.h"
#include "bench/parallelism.h"
#include "command.h"

namespace bntt::cli {
namespace {

using bench::kThreadCounts;
using bench::Parallelism;
using bench::PhaseParallelism;

struct ParallelismArguments {
  std::vector<std::string> models = {"vgg9", "vgg16", "resnet19"};
  bench::ParallelismOptions options;
  bool json = false;
};

void print_row(const PhaseParallelism& phase) {
  constexpr double kMilli = 1e-3;
  fmt::print("  {:<10} {:<28} {:>9.3f} {:>8.1f} {:>7} {:>9.1f} ", phase.stage, phase.phase,
             phase.seconds / kMilli, 100.0 * phase.serial_seconds / phase.seconds, phase.items,
             100.0 * phase.longest_seconds / phase.seconds);
  for (const double speedup : phase.speedups) fmt::print(" {:>5.1f}", speedup);
  fmt::print("{}\n", phase.divides_well() ? "" : "  coarse");
}

void print(const std::string& title, const Parallelism& measured) {
  fmt::print("{}\n  {:<10} {:<28} {:>9} {:>8} {:>7} {:>9} ", title, "stage", "phase", "ms",
             "serial %", "items", "longest %");
  for (const int threads : kThreadCounts) fmt::print(" {:>5}", threads);
  fmt::print(" threads\n");
  for (const PhaseParallelism& phase : measured.phases) print_row(phase);
  PhaseParallelism whole = measured.whole;
  whole.stage = "all";
  print_row(whole);
  fmt::print("\n");
  std::fflush(stdout);
}

Json phase_json(const PhaseParallelism& phase) {
  Json speedups;
  for (std::size_t i = 0; i < kThreadCounts.size(); ++i) {
    speedups[std::to_string(kThreadCounts.at(i))] = phase.speedups.at(i);
  }
  return {{"stage", phase.stage},     {"phase", phase.phase},
          {"seconds", phase.seconds}, {"serial_seconds", phase.serial_seconds},
          {"items", phase.items},     {"longest_seconds", phase.longest_seconds},
          {"speedups", speedups},     {"divides_well", phase.divides_well()}};
}

Json to_json(const Parallelism& measured) {
  Json phases = Json::array();
  for (const PhaseParallelism& phase : measured.phases) phases.push_back(phase_json(phase));
  return {{"phases", phases}, {"whole", phase_json(measured.whole)}};
}

int show_parallelism(const ParallelismArguments& arguments) {
  bench::ParallelismOptions options = arguments.options;
  Json all = Json::object();
  for (const std::string& model : arguments.models) {
    options.workload.model = model;
    const Parallelism measured = bench::measure_parallelism(options);
    if (arguments.json) {
      all[model] = to_json(measured);
      continue;
    }
    print(
        fmt::format("{} {} x {:g}, {} steps, batch {}, one thread; the greatest possible speed-up "
                    "with more:",
                    name_of(options.kind), model, options.workload.width, options.workload.steps,
                    options.batch),
        measured);
  }
  if (arguments.json) fmt::print("{}\n", all.dump(2));
  return kDone;
}

template <typename Enum>
CLI::Validator named() {
  std::map<std::string, Enum> values;
  for (const auto& [value, name] : enum_names(Enum{})) values.emplace(name, value);
  return CLI::CheckedTransformer(values);
}

}  // namespace

void add_bench_parallelism(CLI::App& bench_command, Action& action) {
  auto* command = bench_command.add_subcommand("parallelism",
                                               "Print into how many items the work of each phase "
                                               "is divided, how long the longest takes, and "
                                               "how much faster more threads could make it");
  auto arguments = std::make_shared<ParallelismArguments>();
  bench::ParallelismOptions& options = arguments->options;
  command->add_option("--model", arguments->models, "networks of the zoo")
      ->capture_default_str()
      ->delimiter(',');
  command->add_option("--width", options.workload.width, "factor on their channel counts")
      ->capture_default_str();
  command->add_option("--steps", options.workload.steps, "number of time steps")
      ->capture_default_str()
      ->check(CLI::Range(1, 4096));
  command->add_option("--batch", options.batch, "images at once")
      ->capture_default_str()
      ->check(CLI::Range(1, 65536));
  command->add_option("--density", options.density, "share of neuron-steps that should fire")
      ->capture_default_str()
      ->check(CLI::Range(0.0001, 0.9999));
  command->add_option("--kind", options.kind, "train or infer; default: train")
      ->transform(named<bench::Kind>());
  command
      ->add_option("--precision", options.precision,
                   "of training: fp32, mixed or bf16; default: mixed")
      ->transform(named<Precision>());
  command->add_option("--repeats", options.repeats, "how often to time it")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  command->add_option("--data", options.workload.data,
                      "directory of CIFAR-10 or MNIST; default: Fashion-MNIST if installed, "
                      "otherwise noise of CIFAR-10's size");
  command->add_flag("--json", arguments->json, "print JSON");
  command->footer(
      "Example:\n  bntt bench parallelism --model vgg9 --data DIR\n"
      "Everything runs on one thread, so the machine needs no more than that.");
  command->callback(
      [arguments, &action] { action = [arguments] { return show_parallelism(*arguments); }; });
}

}  // namespace bntt::cli
