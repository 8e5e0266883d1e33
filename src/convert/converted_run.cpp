#include "convert/converted_run.h"

#include "base/fail.h"
#include "model/break_even_values.h"
#include "train/model_card.h"
#include "train/run_settings.h"

namespace bntt {
namespace {

std::string settings_text(const Conversion& conversion, const ConversionOptions& options,
                          const std::string& ann) {
  const ConversionMethod& method = conversion_method(options.method);
  std::string text =
      fmt::format("converted from {}, {} reset", ann,
                  options.reset.value_or(method.reset) == Reset::soft ? "soft" : "hard");
  if (method.rule != ThresholdRule::copied) {
    text += fmt::format(", percentile {:g} of {} images",
                        options.percentile.value_or(method.percentile), options.calibration_images);
  }
  if (method.rule == ThresholdRule::weighted_inputs) {
    text += fmt::format(" over {} steps{}",
                        options.calibration_steps > 0 ? options.calibration_steps : options.steps,
                        options.scaled_search ? ", earlier thresholds scaled in the search" : "");
  }
  text += fmt::format(", thresholds times {:g}", conversion.threshold_scale);
  if (!conversion.sweep.empty()) {
    std::vector<double> scales;
    for (const ScaleTrial& point : conversion.sweep) scales.push_back(point.threshold_scale);
    text += fmt::format(" (the best of {} on validation images)", fmt::join(scales, ", "));
  }
  if (options.copy_readout) text += ", readout copied";
  return text;
}

}  // namespace

RunConfig converted_settings(RunConfig config, const Conversion& conversion,
                             const ConversionOptions& options, const std::string& ann) {
  const ConversionMethod& method = conversion_method(options.method);
  config.model = {};
  config.network = conversion.network.spec();
  config.encoder.kind = conversion.encoder.kind;
  config.train.epochs = 0;
  config.train.from.clear();
  config.train.break_even = break_even_values(conversion.network.break_even());
  config.method = {.name = method.name,
                   .source = method.source,
                   .settings = settings_text(conversion, options, ann)};
  return config;
}

void write_converted_run(const RunPaths& paths, const RunConfig& config,
                         const Conversion& conversion, const ModelCard& card) {
  ModelCard own = card;
  own.input.encoder = conversion.encoder;
  own.training.settings = card_of_settings(config, conversion.network).training.settings;
  own.training.validation_accuracy.reset();
  own.training.validation_images = 0;
  begin_run_directory(paths, config, false);
  save_checkpoint(paths, pack_model(conversion.network, own));
}

}  // namespace bntt
