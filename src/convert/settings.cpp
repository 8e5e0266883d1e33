#include "convert/settings.h"

#include "base/embedded_files.h"
#include "base/fields.h"
#include "base/kinds.h"
#include "model/spec_fields.h"
#include "toml/toml.h"
#include "train/config.h"

namespace bntt {

EmbeddedFiles embedded_conversion_presets();

template <class Visitor>
void visit_fields(Visitor& visit, ConversionOptions& options) {
  visit.name("method", options.method, kind_names(conversion_methods()));
  visit("steps", options.steps, between(1, 1 << 16));
  visit("calibration_steps", options.calibration_steps, between(0, 1 << 16));
  visit("calibration_images", options.calibration_images, at_least(1));
  visit("percentile", options.percentile, above_up_to(0, 100));
  visit("threshold_scale", options.threshold_scale, above(0));
  visit("sweep", options.sweep, above(0));
  visit("scaled_search", options.scaled_search);
  visit("copy_readout", options.copy_readout);
  visit("reset", options.reset);
  visit("encoder", options.encoder);
}

void read_conversion_settings(const Json& settings, ConversionOptions& options,
                              const std::string& origin) {
  read_fields(settings, options, origin);
}

Json conversion_settings(const ConversionOptions& options) { return write_fields(options); }

std::vector<std::string> conversion_preset_names() {
  return file_names(embedded_conversion_presets());
}

ConversionOptions conversion_preset(std::string_view name) {
  const std::string_view text = file_text(embedded_conversion_presets(), "conversion preset", name);
  const std::string origin = "preset " + std::string(name);
  ConversionOptions options;
  read_conversion_settings(parse_toml(text, origin), options, origin);
  return options;
}

}  // namespace bntt
