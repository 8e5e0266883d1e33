#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "bntt/model.h"
#include "classical_text.h"
#include "command.h"
#include "layers/synapses/measure_break_even.h"
#include "model/learned_windows.h"
#include "model/model_file.h"
#include "model/quantise.h"
#include "train/method_record.h"
#include "train/metrics.h"
#include "train/run_trainer.h"

namespace bntt::cli {
namespace {

struct InspectArguments {
  std::string run;
  bool json = false;
};

std::string shape_text(const MapShape& shape) {
  return fmt::format("{}x{}x{}", shape.channels, shape.height, shape.width);
}

struct Totals {
  int64_t weights = 0;
  int64_t gains = 0;
  int64_t parameters = 0;
  int64_t neurons = 0;
  int64_t macs = 0;
};

Totals totals_of(const std::vector<StagePlan>& stages) {
  Totals totals;
  for (const StagePlan& plan : stages) {
    totals.weights += plan.weights;
    totals.gains += plan.gains;
    totals.parameters += plan.parameters;
    totals.neurons += plan.neurons;
    totals.macs += plan.macs;
  }
  return totals;
}

Json shape_list(const MapShape& shape) { return {shape.channels, shape.height, shape.width}; }

bool constant_input(const Model& model) {
  return model.card().input.encoder.kind == EncoderKind::direct;
}

Json json_report(const Model& model, const std::vector<Json>& logged) {
  const Network& network = model.network();
  Json stages = Json::array();
  for (std::size_t i = 0; i < network.stages().size(); ++i) {
    const StagePlan& plan = network.stages()[i];
    Json stage{{"name", plan.name},
               {"input", shape_list(plan.branches.front().input)},
               {"output", shape_list(plan.output)},
               {"branches", plan.branches.size()},
               {"weights", plan.weights},
               {"gains", plan.gains},
               {"parameters", plan.parameters},
               {"neurons", plan.neurons},
               {"macs", plan.macs},
               {"first_step", plan.first_step},
               {"active_steps", plan.active_steps}};
    if (plan.weights > 0) stage["precision"] = adds_integers(network, i) ? "int8" : "fp32";
    if (network.gain(i) != nullptr) stage["mean_gamma"] = mean_gain(network, i);
    stages.push_back(std::move(stage));
  }
  Json break_even = Json::array();
  auto density = network.break_even().begin();
  for (const StagePlan& plan : network.stages()) {
    for (const BranchPlan& branch : plan.branches) {
      break_even.push_back({{"synapse", branch.name},
                            {"forward", readable_double(density->forward)},
                            {"weight_gradient", readable_double(density->weight_gradient)}});
      ++density;
    }
  }
  const Totals totals = totals_of(network.stages());
  Json report{{"network", parse_json(to_json(network.spec()), "network")},
              {"precision", network.quantised() ? "int8" : "fp32"},
              {"stages", stages},
              {"break_even", break_even},
              {"parameters", totals.parameters},
              {"neurons", totals.neurons},
              {"macs", totals.macs}};
  if (!network.windows().empty()) {
    report["windows"] = {{"branches", windows_json(network)},
                         {"work", work_left(network, network.windows(), constant_input(model))}};
  }
  if (!logged.empty()) {
    report["density"] = {{"first", logged.front()}, {"last", logged.back()}};
  }
  return report;
}

/// The densities of the synapses that are computed densely above them; others have no choice.
void print_break_even(const Network& network) {
  bool first = true;
  auto density = network.break_even().begin();
  for (const StagePlan& plan : network.stages()) {
    for (const BranchPlan& branch : plan.branches) {
      const BreakEven& own = *density++;
      if (!depends_on_density(branch)) continue;
      if (std::exchange(first, false)) {
        fmt::print("\nbreak-even: spikes per input above which a convolution is dense\n");
        fmt::print("{:<16} {:>8} {:>16}\n", "synapse", "forward", "weight gradient");
      }
      fmt::print("{:<16} {:>8.3f} {:>16.3f}\n", branch.name, own.forward, own.weight_gradient);
    }
  }
}

void print_stages(const Network& network) {
  fmt::print("{:<8} {:>14} {:>14} {:>10} {:>8} {:>9} {:>12}\n", "stage", "input", "output",
             "weights", "gains", "neurons", "MACs/step");
  for (const StagePlan& plan : network.stages()) {
    for (const BranchPlan& branch : plan.branches) {
      const bool first = &branch == &plan.branches.front();
      fmt::print("{:<8} {:>14} {:>14} {:>10} {:>8} {:>9} {:>12}\n", first ? plan.name : "  +",
                 shape_text(branch.input), first ? shape_text(plan.output) : "", branch.weights,
                 branch.gains, first ? std::to_string(plan.neurons) : "", branch.macs);
    }
  }
  const Totals totals = totals_of(network.stages());
  fmt::print("{:<8} {:>14} {:>14} {:>10} {:>8} {:>9} {:>12}\n", "total", "", "", totals.weights,
             totals.gains, totals.neurons, totals.macs);
}

void print_gains(const Network& network) {
  bool any = false;
  for (std::size_t i = 0; i < network.stages().size(); ++i) any = any || network.gain(i) != nullptr;
  if (!any) return;
  fmt::print("\nmean gain (gamma) of each step; a dot marks steps that cannot reach the readout\n");
  fmt::print("{:<8}", "step");
  for (int64_t step = 1; step <= network.spec().steps; ++step) fmt::print(" {:>4}", step);
  fmt::print("\n");
  for (std::size_t i = 0; i < network.stages().size(); ++i) {
    if (network.gain(i) == nullptr) continue;
    const StagePlan& plan = network.stages()[i];
    const std::vector<double> means = mean_gain(network, i);
    fmt::print("{:<8}", plan.name);
    const bool shared = means.size() == 1 && network.spec().steps > 1;
    for (int64_t step = 0; step < static_cast<int64_t>(means.size()); ++step) {
      const bool active = step >= plan.first_step && step < plan.first_step + plan.active_steps;
      if (active || shared) {
        fmt::print(" {:4.2f}", means[step]);
      } else {
        fmt::print(" {:>4}", "·");
      }
    }
    fmt::print("{}\n", shared ? "  (shared by all steps)" : "");
  }
}

void print_windows(const Model& model) {
  const Network& network = model.network();
  if (network.windows().empty()) return;
  fmt::print(
      "\nlearned windows: # the synapse works, . it is switched off; {:.1f} % of the work is "
      "left\n",
      100.0 * work_left(network, network.windows(), constant_input(model)));
  for (std::size_t i = 0; i < network.stages().size(); ++i) {
    const StagePlan& plan = network.stages()[i];
    for (std::size_t b = 0; b < plan.branches.size(); ++b) {
      if (!network.can_switch_steps(i, b)) continue;
      fmt::print("{:<8} {}\n", b == 0 ? plan.name : "  +",
                 window_text(plan, network.windows().active[i][b]));
    }
  }
}

void print_density(const Network& network, const std::vector<Json>& logged) {
  if (logged.empty() || !logged.back().contains("density")) return;
  fmt::print("\nneuron-steps that fire, in training batches (%)\n{:<12}", "after step");
  for (const StagePlan& plan : network.stages()) {
    if (plan.spikes()) fmt::print(" {:>7}", plan.name);
  }
  fmt::print("\n");
  // A handful of rows is enough to see it fall.
  constexpr std::size_t kRows = 6;
  const std::size_t rows = std::min(kRows, logged.size());
  for (std::size_t r = 0; r < rows; ++r) {
    const Json& line = logged[rows == 1 ? 0 : r * (logged.size() - 1) / (rows - 1)];
    fmt::print("{:<12}", line.at("step").get<int64_t>());
    for (const Json& density : line.at("density")) {
      fmt::print(" {:7.2f}", 100.0 * density.get<double>());
    }
    fmt::print("\n");
  }
}

std::optional<MethodRecord> method_in(const ModelCard& card, const std::string& run) {
  if (card.training.settings.empty()) return std::nullopt;
  return method_of(config_from_toml(card.training.settings, run + ": settings"));
}

void print_method(const MethodRecord& method) {
  fmt::print("method    {}\n", method.name);
  if (!method.source.empty()) fmt::print("source    {}\n", method.source);
  fmt::print("          {}\n", method.settings);
}

void print_precision(const Network& network) {
  fmt::print("weights   {}",
             network.quantised() ? "int8, a scale for each output channel" : "fp32");
  std::vector<std::string> floats;
  for (std::size_t i = 0; network.quantised() && i < network.stages().size(); ++i) {
    const StagePlan& plan = network.stages()[i];
    for (std::size_t b = 0; b < plan.branches.size(); ++b) {
      const bool fp32 = plan.branches[b].weights > 0 && scales_of(network, i, b).empty();
      if (fp32) floats.push_back(plan.branches[b].name);
    }
  }
  if (!floats.empty()) fmt::print("; fp32 where values are real: {}", fmt::join(floats, ", "));
  fmt::print("\n");
}

/// How samples are brought into the network's shape.
void print_input(const InputSpec& input) {
  if (input.encoder.kind != EncoderKind::events) {
    fmt::print("fit       {}\n", input.fit == Fit::crop
                                     ? "crop: scaled until it covers the input, then cropped"
                                     : "squeeze: scaled to the input without its proportions");
    return;
  }
  const FrameOptions& events = input.events;
  const std::string length = events.bin_us > 0 ? fmt::format("{} microseconds", events.bin_us)
                             : events.interval == Interval::time ? "equal lengths of time"
                                                                 : "equal numbers of events";
  fmt::print("frames    {} of {}, {}\n", events.frames, length,
             events.clip ? "at most one spike per pixel" : "counts of events");
}

void print_card(const Model& model) {
  const ModelCard& card = model.card();
  const EncoderSpec& encoder = card.input.encoder;
  fmt::print("encoder   {}", encoder_name(encoder.kind));
  if (!encoder.normalisation.mean.empty()) {
    fmt::print(", mean {:.4f}, deviation {:.4f}", fmt::join(encoder.normalisation.mean, " "),
               fmt::join(encoder.normalisation.deviation, " "));
  }
  fmt::print(", seed {}\n", card.input.seed);
  print_input(card.input);
  fmt::print("classes   {}", model.classes());
  if (!card.class_names.empty()) {
    constexpr std::size_t kShown = 20;
    const std::size_t shown = std::min(kShown, card.class_names.size());
    fmt::print(": {}{}", fmt::join(std::span(card.class_names).first(shown), ", "),
               shown < card.class_names.size() ? ", ..." : "");
  }
  fmt::print("\ntrained   {} epochs", card.training.epochs);
  if (!card.training.data.empty()) fmt::print(" on {}", card.training.data);
  if (card.training.validation_accuracy) {
    fmt::print(", {:.2f} % of {} validation images", *card.training.validation_accuracy,
               card.training.validation_images);
  }
  fmt::print("\n\n");
}

int inspect_classical(const InspectArguments& arguments) {
  const ClassicalRun run = read_classical_run({arguments.run});
  if (arguments.json) {
    fmt::print("{}\n", classical_json(run).dump(2));
  } else {
    fmt::print("{}", classical_text(run));
  }
  return kDone;
}

int inspect(const InspectArguments& arguments) {
  if (is_classical_run(arguments.run)) return inspect_classical(arguments);
  const Model model = Model::load(arguments.run);
  const Network& network = model.network();
  const RunPaths paths{arguments.run};
  const std::vector<Json> logged =
      std::filesystem::exists(paths.metrics()) ? read_metrics(paths, "step") : std::vector<Json>();
  const std::optional<MethodRecord> method = method_in(model.card(), arguments.run);
  if (arguments.json) {
    Json report = json_report(model, logged);
    report["card"] = card_json(model.card());
    if (method) {
      report["method"] = {
          {"name", method->name}, {"source", method->source}, {"settings", method->settings}};
    }
    fmt::print("{}\n", report.dump(2));
    return kDone;
  }
  fmt::print("{}: {} steps, input {}, {} propagation\n\n", arguments.run, network.spec().steps,
             shape_text(network.spec().input),
             network.spec().propagation == Propagation::instant ? "instant" : "delayed");
  if (method) print_method(*method);
  print_precision(network);
  print_card(model);
  print_stages(network);
  print_gains(network);
  print_break_even(network);
  print_windows(model);
  print_density(network, logged);
  return kDone;
}

}  // namespace

void add_inspect(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand(
      "inspect", "Show a model: encoder, classes, training, stages, counts, gamma and break-evens");
  auto arguments = std::make_shared<InspectArguments>();
  command->add_option("run", arguments->run, "directory of a run, or one .safetensors file")
      ->required();
  command->add_flag("--json", arguments->json, "print JSON");
  command->footer("Example:\n  bntt inspect runs/demo");
  command->callback([arguments, &action] { action = [arguments] { return inspect(*arguments); }; });
}

}  // namespace bntt::cli
