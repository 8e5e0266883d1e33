#include "train/method_record.h"

#include <fmt/format.h>

#include <variant>

#include "model/spec_fields.h"

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

}  // namespace

MethodRecord method_of(const RunConfig& config) {
  const auto [norm, neuron] = first_stage(config);
  const bool ann = neuron.kind == "relu";
  MethodRecord record{.name = config.method.name,
                      .source = config.method.source,
                      .settings = config.method.settings};
  if (record.name.empty()) {
    record.name = ann ? "ANN" : "surrogate gradient";
    record.name += norm == "none" ? " without norm" : " with norm " + norm;
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
