#include "classical/config.h"

#include "base/embedded_files.h"
#include "base/fields.h"
#include "classical/methods.h"
#include "classical/surface_products.h"
#include "toml/toml.h"

namespace bntt {

EmbeddedFiles embedded_classical_presets();

template <class Visitor>
void visit_fields(Visitor& visit, ClassicalData& data) {
  visit("name", data.name);
  visit("dir", data.dir);
  visit("sensor_width", data.sensor_width, between(0, kLargestSensorSide));
  visit("sensor_height", data.sensor_height, between(0, kLargestSensorSide));
  visit("validation", data.validation, from_below(0, 1));
  visit("limit_train", data.limit_train, at_least(0));
  visit("limit_test", data.limit_test, at_least(0));
}

template <class Visitor>
void visit_fields(Visitor& visit, SvmOptions& svm) {
  visit("solver", svm.solver);
  visit("costs", svm.costs, above(0));
  visit("bias", svm.bias);
  visit("tolerance", svm.tolerance, above(0));
}

template <class Visitor>
void visit_fields(Visitor& visit, HatsOptions& hats) {
  visit("cell", hats.cell, between(1, kLargestSensorSide));
  visit("radius", hats.radius, between(0, 64));
  visit("window_us", hats.window_us, between(1, 1e12));
  visit("tau_us", hats.tau_us, above(0));
  visit("self", hats.self);
  visit("divisor", hats.divisor);
  visit("memory", hats.memory);
  visit("ties", hats.ties);
  visit("grid", hats.grid);
  visit("merge_polarities", hats.merge_polarities);
  visit("denoise_us", hats.denoise_us, between(0, 1e12));
  visit("normalise", hats.normalise);
}

template <class Visitor>
void visit_fields(Visitor& visit, HotsOptions& hots) {
  visit("prototypes", hots.prototypes, between(1, kMostPrototypes));
  visit("radius", hots.radius, between(0, 32));
  visit("tau_us", hots.tau_us, above(0));
  visit("start", hots.start);
  visit("filter", hots.filter);
  visit("cutoff", hots.cutoff, from_below(0, 1));
  visit("learn_recordings", hots.learn_recordings, at_least(0));
  visit("classifier", hots.classifier);
}

template <class Visitor>
void visit_fields(Visitor& visit, HfirstOptions& hfirst) {
  visit("noise_us", hfirst.noise_us, between(0, 1e12));
  visit("s1_threshold", hfirst.s1_threshold, between(0, 1 << 20));
  visit("s1_leak", hfirst.s1_leak, between(0, 1 << 20));
  visit("block", hfirst.block, between(1, kLargestSensorSide));
  visit("s2_threshold", hfirst.s2_threshold, above(0));
  visit("s2_leak", hfirst.s2_leak, at_least(0));
  visit("refractory_ms", hfirst.refractory_ms, between(0, 1e6));
}

template <class Visitor>
void visit_fields(Visitor& visit, GaborSnnOptions& gabor) {
  visit("tau_us", gabor.tau_us, above(0));
  visit("threshold", gabor.threshold, above(0));
  visit("refractory_us", gabor.refractory_us, between(0, 1e9));
  visit("cell", gabor.cell, between(1, kLargestSensorSide));
}

template <class Visitor>
void visit_fields(Visitor& visit, ClassicalConfig& config) {
  visit.name("method", config.method, classical_method_names());
  // Only settings that the method reads: one without effect would be a misunderstanding.
  const std::string& method = config.method;
  if (method != "hfirst") visit("seed", config.seed, at_least(0));
  visit("data", config.data);
  if (method != "hfirst") visit("svm", config.svm);
  if (method == "hats") visit("hats", config.hats);
  if (method == "hots") visit("hots", config.hots);
  if (method == "hfirst") visit("hfirst", config.hfirst);
  if (method == "gabor-snn") visit("gabor-snn", config.gabor_snn);
}

ClassicalConfig classical_defaults(std::string_view method, std::string_view dataset) {
  ClassicalConfig config;
  config.method = classical_method(method).name;
  config.data.name = dataset;
  // Shares of a few prototypes are small numbers, which need high costs.
  if (method == "hots") config.svm.costs = {1, 10, 100, 1e3, 1e4, 1e5};
  // For HATS: N-MNIST and DVS-CIFAR10 have published settings of their own; those of N-CARS, which
  // is a folder of recordings here, are the defaults of the struct. DVS128 Gesture has the camera
  // of DVS-CIFAR10.
  if (dataset == "nmnist") {
    config.hats.cell = 5;
    config.hats.radius = 2;
    config.hats.tau_us = 1e11;
  }
  if (dataset == "dvs-cifar10" || dataset == "dvs-gesture") {
    config.hats.cell = 12;
    config.hats.radius = 4;
    config.hats.window_us = 10'000;
    config.hats.tau_us = 2e5;
    // A recording has about 200,000 events, and the learning rate has halved after 20,000.
    config.hots.learn_recordings = 100;
  }
  return config;
}

std::vector<std::string> classical_preset_names() {
  return file_names(embedded_classical_presets());
}

ClassicalConfig classical_preset(std::string_view name, std::string_view dataset) {
  const std::string origin = "preset " + std::string(name);
  const Json settings =
      parse_toml(file_text(embedded_classical_presets(), "classical preset", name), origin);
  ClassicalConfig named;
  read_fields(settings, named, origin);
  ClassicalConfig config = classical_defaults(named.method, dataset);
  read_fields(settings, config, origin);
  return config;
}

void apply_classical_setting(ClassicalConfig& config, std::string_view setting) {
  const std::string origin = "--set";
  const auto equals = setting.find('=');
  if (equals == std::string_view::npos) {
    fail("{}: '{}' has no value, expected key=value", origin, excerpt(setting));
  }
  Json change;
  try {
    change = parse_toml(setting, origin);
  } catch (const Error&) {  // a bare word is a string
    change = parse_toml(
        fmt::format("{}=\"{}\"", setting.substr(0, equals), setting.substr(equals + 1)), origin);
  }
  if (change.contains("method")) {
    fail("{}: the method is the argument after 'classical'", origin);
  }
  ClassicalConfig changed = config;
  read_fields(change, changed, origin);
  config = std::move(changed);
}

std::string to_toml(const ClassicalConfig& config) { return format_toml(write_fields(config)); }

ClassicalConfig classical_config_from_toml(std::string_view text, const std::string& origin) {
  ClassicalConfig config;
  read_fields(parse_toml(text, origin), config, origin);
  if (config.method.empty()) {
    fail("{}: method is missing, expected one of {}", origin,
         fmt::join(classical_method_names(), ", "));
  }
  return config;
}

}  // namespace bntt
