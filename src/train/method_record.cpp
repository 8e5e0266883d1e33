#include "train/method_record.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <variant>

#include "bntt/zoo.h"
#include "model/spec_fields.h"
#include "train/presets.h"

namespace bntt {
namespace {

struct FirstStage {
  std::string norm = "none";
  NeuronSpec neuron;
};

/// The norm and the neurons of the stages, taken from the first one.
FirstStage first_stage(const RunConfig& config) {
  FirstStage result;
  if (!config.network) {
    const ModelConfig& model = config.model;
    return {model.norm,
            {.kind = model.neuron,
             .leak = model.leak,
             .threshold = model.threshold,
             .fire = model.fire,
             .reset = model.reset,
             .floor = model.floor,
             .surrogate = {.kind = model.surrogate}}};
  }
  for (const StageSpec& any : config.network->stages) {
    const bool found = std::visit(
        [&](const auto& stage) {
          if constexpr (requires { stage.neuron; }) {
            result.neuron = stage.neuron;
            if constexpr (requires { stage.norm; }) {
              result.norm = stage.norm.kind;
            } else {
              result.norm = stage.branches.front().norm.kind;
            }
            return true;
          }
          return false;
        },
        any);
    if (found) break;
  }
  return result;
}

// Lee's neurons have a reset of their own, whatever the setting.
bool has_reset(const NeuronSpec& neuron) {
  return neuron.kind != "relu" && neuron.kind != "none" && neuron.kind != "lee" &&
         neuron.kind != "lee-if";
}

std::string neuron_text(const NeuronSpec& neuron) {
  if (neuron.kind == "relu" || neuron.kind == "none") return neuron.kind + " neurons";
  std::string text = neuron.kind + " neurons";
  if (neuron.kind != "if") text += fmt::format(", leak {:g}", neuron.leak);
  if (has_reset(neuron)) text += fmt::format(", {} reset", name_of(neuron.reset));
  if (neuron.floor) text += fmt::format(", membranes of at least {:g}", *neuron.floor);
  return text;
}

Propagation propagation_of(const RunConfig& config) {
  return config.network ? config.network->propagation : config.model.propagation;
}

/// The stages; those of a network of the zoo for images of any size, since only their kinds matter.
std::vector<StageSpec> stages_of(const RunConfig& config) {
  if (config.network) return config.network->stages;
  const ModelConfig& model = config.model;
  return zoo_network(model.name, {.neuron = {.kind = model.neuron},
                                  .readout_norm = {.kind = model.readout_norm},
                                  .divide_by_steps = model.divide_by_steps,
                                  .readout_leak = model.readout_leak,
                                  .readout_leak_newest = model.readout_leak_newest,
                                  .readout_leak_gradient = model.readout_leak_gradient,
                                  .readout_votes = model.readout_votes,
                                  .pool_threshold = model.pool_threshold})
      .stages;
}

std::string readout_text(const Readout& readout) {
  std::string text = readout.divide_by_steps ? "mean voltages" : "summed voltages";
  if (readout.votes > 1) text += fmt::format(" of {} votes", readout.votes);
  if (readout.leak < 1.0F) text += fmt::format(" with leak {:g}", readout.leak);
  if (readout.norm.kind != "none") text += " with norm " + readout.norm.kind;
  return text;
}

/// The kinds of pool between and inside the stages, each once.
std::string pools_text(const std::vector<StageSpec>& stages) {
  std::set<std::string> kinds;
  const auto add = [&](const BranchedStage& stage) {
    for (const BranchSpec& branch : stage.branches) {
      if (branch.pool.size == 1) continue;
      const bool fires = stage.neuron.kind != "none";
      kinds.insert(fmt::format("{}{}", name_of(branch.pool.kind), fires ? " with neurons" : ""));
    }
  };
  for (const StageSpec& stage : stages) {
    if (std::holds_alternative<AvgPool>(stage)) kinds.emplace(name_of(PoolKind::average));
    if (std::holds_alternative<SumPool>(stage)) kinds.emplace(name_of(PoolKind::sum));
    if (std::holds_alternative<MaxPool>(stage)) kinds.emplace(name_of(PoolKind::max));
    if (const auto* branched = std::get_if<BranchedStage>(&stage)) add(*branched);
  }
  return kinds.empty() ? "none" : fmt::format("{}", fmt::join(kinds, " and "));
}

/// The settings that make a training an instance of its method.
std::vector<std::pair<std::string, std::string>> defining_settings(const RunConfig& config) {
  const auto [norm, neuron] = first_stage(config);
  const std::vector<StageSpec> stages = stages_of(config);
  const bool spikes = neuron.kind != "relu";
  const auto if_it_spikes = [&](const std::string& value) { return spikes ? value : "none"; };
  const auto* readout = stages.empty() ? nullptr : std::get_if<Readout>(&stages.back());
  return {{"norm", norm},
          {"neuron", neuron.kind},
          {"reset", has_reset(neuron) ? name_of(neuron.reset) : "its own"},
          {"surrogate", if_it_spikes(name_of(neuron.surrogate.kind))},
          {"propagation", if_it_spikes(name_of(propagation_of(config)))},
          {"encoder", std::string(encoder_name(config.encoder.kind))},
          {"pools", pools_text(stages)},
          {"readout", readout == nullptr ? "none" : readout_text(*readout)},
          {"loss", config.train.loss}};
}

/// The network and its width.
std::string network_text(const RunConfig& config) {
  if (!config.network) {
    return fmt::format("{}, width {:g}", config.model.name, config.model.width);
  }
  int64_t weights = 0;
  for (const StagePlan& plan : plan_stages(*config.network)) weights += plan.weights;
  return fmt::format("a network of its own with {} weights", weights);
}

/// The defining settings in which a run differs from the presets of its [method], in words; empty:
/// it is as one of them, or no preset has this method.
std::string changed_settings(const RunConfig& config) {
  const auto own = defining_settings(config);
  std::string least;
  std::size_t fewest = own.size() + 1;
  for (const std::string& name : preset_names()) {
    const RunConfig preset = config_from_toml(preset_text(name), name);
    if (preset.method.name != config.method.name || preset.method.source != config.method.source) {
      continue;
    }
    const auto published = defining_settings(preset);
    std::string changes;
    std::size_t count = 0;
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (own[i] == published[i]) continue;
      changes += fmt::format("{}{} {} instead of {}", count++ == 0 ? "" : ", ", own[i].first,
                             own[i].second, published[i].second);
    }
    if (count < fewest) {
      fewest = count;
      least = changes;
    }
  }
  return least;
}

/// The name and the source of a method that has no name in the settings.
MethodRecord kind_of_training(const RunConfig& config) {
  const auto [norm, neuron] = first_stage(config);
  if (neuron.kind != "relu" && norm == "bntt") {
    return {.name = "BNTT", .source = "Kim and Panda 2021"};
  }
  const std::string kind = neuron.kind == "relu" ? "ANN" : "surrogate gradient";
  return {.name = kind + (norm == "none" ? " without norm" : " with norm " + norm)};
}

}  // namespace

MethodRecord method_of(const RunConfig& config) {
  const auto [norm, neuron] = first_stage(config);
  const bool ann = neuron.kind == "relu";
  const std::string changes = config.method.name.empty() ? "" : changed_settings(config);
  MethodRecord record{.name = config.method.name, .source = config.method.source};
  if (record.name.empty() || !changes.empty()) record = kind_of_training(config);
  record.settings = config.method.settings;
  if (!changes.empty()) {
    record.settings += fmt::format("{}{} with {}", record.settings.empty() ? "" : "; ",
                                   config.method.name, changes);
  }
  const int64_t steps = config.network ? config.network->steps : config.model.steps;
  std::string text = network_text(config);
  text += fmt::format(", {} {}, norm {}, {}", steps, steps == 1 ? "step" : "steps", norm,
                      neuron_text(neuron));
  if (!ann) {
    text += fmt::format(", {} propagation, encoder {}", name_of(propagation_of(config)),
                        encoder_name(config.encoder.kind));
  }
  if (config.train.epochs > 0) {
    if (!ann) text += fmt::format(", surrogate {}", name_of(neuron.surrogate.kind));
    text += fmt::format(", {} at {:g}, {} epochs of batches of {}", config.train.optimizer,
                        config.train.learning_rate, config.train.epochs, config.train.batch);
  }
  if (!config.train.from.empty()) {
    text += fmt::format(", started from {}{}", config.train.from,
                        config.train.from_thresholds ? " with its thresholds" : "");
  }
  record.settings += (record.settings.empty() ? "" : "; ") + text;
  return record;
}

}  // namespace bntt
