#include "analyse/energy.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyse/json.h"
#include "analysis.h"
#include "base/files.h"
#include "command.h"
#include "interrupt.h"

namespace bntt::cli {
namespace {

struct EnergyArguments : AnalysisArguments {
  std::string table;
  int64_t steps = 0;
};

constexpr double kPicojoulesPerMicrojoule = 1e6;

void print_study(const EnergyStudy& study) {
  const auto microjoules = [](double pj) { return pj / kPicojoulesPerMicrojoule; };
  const bool int8 = std::ranges::any_of(study.stages, &StageEnergy::int8);
  fmt::print(
      "{}: {} pJ per multiply-add, {} pJ per add{}; {} images, {} steps, accuracy {:.2f} %\n\n",
      study.table.name, study.table.mac_pj, study.table.accumulate_pj,
      int8 ? fmt::format(", {} pJ per add of int8", study.table.int8_accumulate_pj) : "",
      study.images, study.steps, study.accuracy);
  fmt::print("{:<8} {:>12} {:>10} {:>14} {:>14} {:>14}\n", "stage", "ANN MACs", "spike rate",
             "paper's adds", "measured adds", "measured MACs");
  for (const StageEnergy& stage : study.stages) {
    fmt::print("{:<8} {:>12} {:>10.4f} {:>14.0f} {:>14.0f} {:>14.0f}\n", stage.name,
               stage.flops_ann, stage.spike_rate, stage.flops_snn, stage.accumulates,
               stage.multiply_accumulates);
  }
  fmt::print("\nE_ANN                 {:10.4f} uJ per image\n", microjoules(study.ann_pj));
  const auto snn = [&](const char* name, const auto& pj, const auto& ratio) {
    if (!pj) return;
    fmt::print("{:<21} {:10.4f} uJ per image", name, microjoules(*pj));
    fmt::print("{}\n", ratio ? fmt::format(", E_ANN/E_SNN {:.3f}: {} the ANN", *ratio,
                                           energy_comparison(*ratio))
                             : "");
  };
  snn("E_SNN, paper's form", study.paper_pj, study.paper_ratio);
  snn("E_SNN, measured work", study.measured_pj, study.measured_ratio);
  if (study.truenorth) {
    fmt::print("TrueNorth-normalised  {:10.6f} of the reference, {:.0f} spikes per image\n",
               *study.truenorth, study.spikes_per_image);
  }
  fmt::print("this CPU              {:10.4f} ms per image ({} threads, {} images)",
             study.cpu.ms_per_image, study.cpu.threads, study.cpu.images);
  if (study.cpu.joules_per_image) {
    fmt::print(", {:.6f} J per image", *study.cpu.joules_per_image);
  }
  fmt::print("\n");
}

int energy(const EnergyArguments& arguments) {
  EnergyOptions options{.steps = arguments.steps};
  if (!arguments.table.empty()) {
    options.table = energy_table_from_toml(read_text(arguments.table), arguments.table);
  }
  const OpenRun run = open_for_analysis(arguments);
  const EnergyStudy study = [&] {
    AnalysisProgress progress(arguments.json);
    options.progress = [&](int64_t images) { return progress("energy", images, run.test.size()); };
    return study_energy(run.network, test_sample(run), options);
  }();
  return finish_analysis(study, arguments, print_study);
}

}  // namespace

void add_energy(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("energy",
                                     "Estimate the energy of a run from counted operations and "
                                     "compare it with an ANN of the same shape");
  auto arguments = std::make_shared<EnergyArguments>();
  add_analysis_options(*command, *arguments);
  command->add_option("--table", arguments->table, "TOML file with the energy of each operation");
  command->add_option("--steps", arguments->steps, "stop after N steps; 0: all")
      ->check(not_negative());
  command->footer("Example:\n  bntt energy runs/demo --limit 1000");
  command->callback([arguments, &action] { action = [arguments] { return energy(*arguments); }; });
}

}  // namespace bntt::cli
