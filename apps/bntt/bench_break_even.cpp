#include <fmt/format.h>

#include <set>

#include "base/threads.h"
#include "bntt/zoo.h"
#include "command.h"
#include "kernels/kernel_set.h"
#include "layers/synapses/break_even_formula.h"
#include "layers/synapses/measure_break_even.h"

namespace bntt::cli {
namespace {

struct BreakEvenArguments {
  std::vector<std::string> models = {"vgg5", "vgg9", "resnet19"};
  std::vector<double> widths = {0.125, 0.25, 0.5, 1.0};
  int64_t repeats = 3;
  int threads = 0;
};

std::string shape_text(const BranchPlan& plan) {
  return fmt::format("{} {} {} {} {} {} {} {}", plan.input.channels, plan.output.channels,
                     plan.input.height, plan.input.width, plan.pool_height, plan.geometry.kernel,
                     plan.geometry.stride, plan.geometry.padding);
}

float median(std::vector<float> values) {
  std::ranges::nth_element(values, values.begin() + std::ssize(values) / 2);
  return values[values.size() / 2];
}

void print_shape(const BranchPlan& plan, int64_t repeats) {
  std::vector<float> forward;
  std::vector<float> weight_gradient;
  for (int64_t i = 0; i < repeats; ++i) {
    const BreakEven timed = measure_break_even(plan).value();
    forward.push_back(timed.forward);
    weight_gradient.push_back(timed.weight_gradient);
  }
  const BreakEven formula = break_even_by_formula(plan, kernels::kernels().name);
  fmt::print("{} {:.3f} {:.3f} {:.3f} {:.3f}\n", shape_text(plan), median(forward),
             median(weight_gradient), formula.forward, formula.weight_gradient);
  std::fflush(stdout);
}

int time_shapes(const BreakEvenArguments& arguments) {
  set_threads(arguments.threads);
  fmt::print(
      "# {} kernels, {} threads\n# in out height width pool kernel stride padding "
      "timed-forward timed-gradient formula-forward formula-gradient\n",
      kernels::kernels().name, threads());
  std::set<std::string> done;
  for (const std::string& model : arguments.models) {
    for (const double width : arguments.widths) {
      for (const StagePlan& stage : plan_stages(zoo_network(model, {.width = width}))) {
        for (const BranchPlan& plan : stage.branches) {
          if (!depends_on_density(plan) || !done.insert(shape_text(plan)).second) continue;
          print_shape(plan, arguments.repeats);
        }
      }
    }
  }
  return kDone;
}

}  // namespace

void add_bench_break_even(CLI::App& bench_command, Action& action) {
  auto* command =
      bench_command.add_subcommand("break-even",
                                   "Time the density above which dense convolutions are faster, "
                                   "for many shapes, and print the formula's value beside it");
  auto arguments = std::make_shared<BreakEvenArguments>();
  command->add_option("--model", arguments->models, "networks of the zoo")
      ->capture_default_str()
      ->delimiter(',');
  command->add_option("--width", arguments->widths, "factors on their channel counts")
      ->capture_default_str()
      ->delimiter(',');
  command->add_option("--repeats", arguments->repeats, "number of timings to take the median of")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  command->add_option("--threads", arguments->threads, "number of threads; 0: one per core")
      ->check(CLI::NonNegativeNumber);
  command->footer(
      "Example:\n  BNTT_KERNELS=avx2 bntt bench break-even --model vgg9 --width 0.5,1\n"
      "scripts/fit-break-even fits the formula's coefficients to this output.");
  command->callback(
      [arguments, &action] { action = [arguments] { return time_shapes(*arguments); }; });
}

}  // namespace bntt::cli
