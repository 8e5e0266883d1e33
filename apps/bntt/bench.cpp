#include <fmt/format.h>

#include <filesystem>

#include "base/fail.h"
#include "base/fields.h"
#include "base/threads.h"
#include "bench/compare.h"
#include "bench/our_engine.h"
#include "bench_gate.h"
#include "bench_report.h"
#include "command.h"
#include "kernels/kernel_set.h"
#include "train/precision_names.h"

namespace bntt::cli {
namespace {

constexpr const char* kTorchProgram = "bntt-torch-bench";

struct BenchArguments {
  bench::WorkloadOptions workload;
  std::vector<int64_t> batches;
  std::vector<double> densities = {0.25, 0.10, 0.05, 0.02};
  int64_t repeats = 3;
  std::string against;
  int threads = 0;
  std::string precision = "mixed";
  bool scaling = false;
  bool int8 = false;
  double windows = 0.0;
  bool json = false;
  std::string break_even;  // empty: the run's own, otherwise by the formula
};

std::filesystem::path torch_program(const std::filesystem::path& own) {
  std::filesystem::path program = own.parent_path() / kTorchProgram;
  if (!std::filesystem::exists(program)) {
    fail(
        "--against torch: {} is missing, expected in the directory of bntt: configure with "
        "-DBNTT_TORCH=ON and "
        "build the target {}",
        program.string(), kTorchProgram);
  }
  return program;
}

Precision precision_named(const std::string& wanted) {
  for (const auto& [precision, name] : enum_names(Precision{})) {
    if (wanted == name) return precision;
  }
  fail("--precision {} is unknown", wanted);
}

int run_bench(const BenchArguments& arguments, bench::Kind kind) {
  set_threads(arguments.threads);
  bench::WorkloadOptions workload = arguments.workload;
  if (!arguments.break_even.empty()) {
    workload.break_even =
        arguments.break_even == "timed" ? BreakEvenSource::timed : BreakEvenSource::formula;
  }
  bench::Options options{.kind = kind,
                         .workload = workload,
                         .batches = arguments.batches,
                         .densities = arguments.densities,
                         .threads = threads(),
                         .precision = precision_named(arguments.precision),
                         .repeats = arguments.repeats,
                         .int8 = arguments.int8,
                         .scaling = arguments.scaling,
                         .rules_share = arguments.windows,
                         .own_program = std::filesystem::read_symlink("/proc/self/exe")};
  if (arguments.against == "torch") options.torch_program = torch_program(options.own_program);
  if (!arguments.json) {
    options.note = [](const std::string& text) {
      fmt::print("{}\n", text);
      std::fflush(stdout);
    };
  }
  if (options.precision == Precision::bf16 && options.note && !kernels::kernels().bf16.native) {
    options.note(
        "this processor has no bf16 multiplication (AVX512_BF16): it is emulated, which is slow");
  }
  const bench::Report report = bench::compare(options);
  if (arguments.json) {
    fmt::print("{}\n", json_report(report).dump(2));
  } else {
    print_report(report);
  }
  return kDone;
}

struct GateArguments {
  std::string file;
  std::string previous;
  std::string data;
  int threads = 0;
};

int gate_speed(const GateArguments& arguments) {
  set_threads(arguments.threads);
  bench::Options options{.workload = {.data = arguments.data},
                         .threads = threads(),
                         .own_program = std::filesystem::read_symlink("/proc/self/exe"),
                         .previous_program = arguments.previous};
  if (!arguments.previous.empty() && !std::filesystem::is_regular_file(arguments.previous)) {
    fail("--previous: {} is missing, expected another bntt program", arguments.previous);
  }
  const std::filesystem::path torch = options.own_program.parent_path() / kTorchProgram;
  if (std::filesystem::exists(torch)) options.torch_program = torch;
  return run_gate(std::filesystem::path(arguments.file), options);
}

int serve_job(const std::string& job) {
  try {
    bench::OurEngine engine(bench::job_from_json(job));
    bench::serve(engine);
    return kDone;
  } catch (const Error& error) {
    bench::answer_error(error.what());
  } catch (const std::bad_alloc&) {
    bench::answer_error("there is not enough memory for this");
  }
  return kBadInput;
}

void add_workload_options(CLI::App& command, BenchArguments& arguments) {
  auto* run = command.add_option("--run", arguments.workload.run,
                                 "time the network of a run instead of an untrained one");
  command.add_option("--model", arguments.workload.model, "network of the zoo")
      ->capture_default_str()
      ->excludes(run);
  command.add_option("--width", arguments.workload.width, "factor on its channel counts")
      ->capture_default_str()
      ->excludes(run);
  command.add_option("--steps", arguments.workload.steps, "number of time steps")
      ->capture_default_str()
      ->check(CLI::Range(1, 4096))
      ->excludes(run);
  command
      .add_option("--break-even", arguments.break_even,
                  "where the density at which convolutions become dense comes from: the formula, "
                  "or timing on this machine; default: the numbers of --run, otherwise the formula")
      ->check(CLI::IsMember(names_of<BreakEvenSource>()));
  command.add_option("--data", arguments.workload.data,
                     "directory of CIFAR-10 or MNIST; default: Fashion-MNIST if installed, "
                     "otherwise noise of CIFAR-10's size");
  command.add_option("--batch", arguments.batches, "batch sizes, such as 1,64")
      ->capture_default_str()
      ->delimiter(',')
      ->check(CLI::Range(1, 65536));
  command
      .add_option(
          "--density", arguments.densities,
          "shares of neuron-steps that should fire; gamma is scaled to reach them. A network "
          "without gamma is timed at its own density")
      ->capture_default_str()
      ->delimiter(',')
      ->check(CLI::Range(0.0001, 0.9999));
  command.add_option("--repeats", arguments.repeats, "how often to time each batch")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  command
      .add_option("--against", arguments.against, "torch: also time LibTorch, in turn with bntt")
      ->check(CLI::IsMember({"torch"}));
  command
      .add_option("--precision", arguments.precision,
                  "precision of training: fp32, mixed or bf16; inference always uses fp32")
      ->capture_default_str()
      ->check(CLI::IsMember({"fp32", "mixed", "bf16"}));
  command.add_option("--threads", arguments.threads, "number of threads; 0: one per core")
      ->check(not_negative());
  command
      .add_flag("--scaling", arguments.scaling,
                "also time one thread, twice the steps and twice the batch")
      ->excludes(run);
  command.add_flag("--json", arguments.json, "print JSON");
}

void add_kind(CLI::App& bench_command, Action& action, bench::Kind kind,
              std::vector<int64_t> batches, const std::string& what, const std::string& example) {
  auto* command = bench_command.add_subcommand(name_of(kind), what);
  auto arguments = std::make_shared<BenchArguments>();
  arguments->batches = std::move(batches);
  add_workload_options(*command, *arguments);
  if (kind == bench::Kind::infer) {
    command->add_flag("--int8", arguments->int8,
                      "time the same network with int8 weights, in turn with fp32");
    command
        ->add_option(
            "--windows", arguments->windows,
            "also time windows in which synapses work at this share of the steps, and images that "
            "exit after it on average")
        ->check(CLI::Range(0.01, 1.0));
  }
  command->footer("Example:\n  " + example);
  command->callback(
      [arguments, kind, &action] { action = [=] { return run_bench(*arguments, kind); }; });
}

}  // namespace

void add_bench(CLI::App& app, Action& action) {
  auto* command =
      app.add_subcommand("bench", "Time training, inference or kernels, alone or against LibTorch");
  auto gate = std::make_shared<GateArguments>();
  auto* gate_file = command->add_option(
      "--gate", gate->file,
      "compare speed with the ratios recorded in this TOML file; exit code 1 if one is lost");
  command->add_option("--previous", gate->previous, "another bntt program, timed in turn")
      ->needs(gate_file);
  command->add_option("--data", gate->data, "directory of CIFAR-10 or MNIST, for --gate")
      ->needs(gate_file);
  command->add_option("--threads", gate->threads, "for --gate; 0: one per core")
      ->needs(gate_file)
      ->check(not_negative());
  command->require_subcommand(0, 1);
  command->footer(
      "Example:\n  bntt bench train --data DIR --density 0.25,0.02 --against torch --json\n"
      "  bntt bench --gate benchmarks/gate.toml --data DIR --previous OLD/bntt\n"
      "Run bntt bench PART --help for the options of a part.");
  command->callback([command, gate, &action] {
    if (!command->get_subcommands().empty()) {
      if (!gate->file.empty()) {
        throw CLI::ExcludesError("--gate", command->get_subcommands().front()->get_name());
      }
      return;
    }
    if (gate->file.empty()) {
      throw CLI::RequiredError(
          "--gate FILE or one of train, infer, kernels, break-even, parallelism");
    }
    action = [gate] { return gate_speed(*gate); };
  });
  add_kind(*command, action, bench::Kind::train, {32},
           "Time training steps: encoding, forward, loss, backward, SGD",
           "bntt bench train --model vgg9 --data DIR --density 0.05 --against torch");
  add_kind(*command, action, bench::Kind::infer, {1, 64},
           "Time inference: latency of single images, throughput of batches",
           "bntt bench infer --run runs/narrow --density 0.05,0.02 --json");

  add_bench_kernels(*command, action);
  add_bench_break_even(*command, action);
  add_bench_parallelism(*command, action);

  auto* worker = command->add_subcommand("worker", "")->group("");  // started by bench itself
  auto job = std::make_shared<std::string>();
  worker->add_option("job", *job)->required();
  worker->callback([job, &action] { action = [job] { return serve_job(*job); }; });
}

}  // namespace bntt::cli
