#include "train/method_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

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

std::string neuron_text(const NeuronSpec& neuron) {
  if (neuron.kind == "relu" || neuron.kind == "none") return neuron.kind + " neurons";
  std::string text = neuron.kind + " neurons";
  if (neuron.kind != "if") text += fmt::format(", leak {:g}", neuron.leak);
  text += fmt::format(", {} reset", name_of(neuron.reset));
  if (neuron.floor) text += fmt::format(", membranes of at least {:g}", *neuron.floor);
  return text;
}

/// The settings that make a training an instance of its method.
std::vector<std::pair<std::string, std::string>> defining_settings(const RunConfig& config) {
  const auto [norm, neuron] = first_stage(config);
  return {{"norm", norm},
          {"neuron", neuron.kind},
          {"surrogate", std::string(name_of(neuron.surrogate.kind))},
          {"loss", config.train.loss}};
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
  const Propagation propagation =
      config.network ? config.network->propagation : config.model.propagation;
  std::string text = config.network ? "a network of its own" : config.model.name;
  text += fmt::format(", {} {}, norm {}, {}", steps, steps == 1 ? "step" : "steps", norm,
                      neuron_text(neuron));
  if (!ann) {
    text += fmt::format(", {} propagation, encoder {}", name_of(propagation),
                        encoder_name(config.encoder.kind));
  }
  if (config.train.epochs > 0) {
    if (!ann) text += fmt::format(", surrogate {}", name_of(neuron.surrogate.kind));
    text += fmt::format(", {} at {:g}, {} epochs of batches of {}", config.train.optimizer,
                        config.train.learning_rate, config.train.epochs, config.train.batch);
  }
  if (!config.train.from.empty()) text += ", started from another run";
  record.settings += (record.settings.empty() ? "" : "; ") + text;
  return record;
}

}  // namespace bntt
