#include "sample_document.h"

#include <cmath>
#include <vector>

#include "report/png.h"

namespace bntt::testing {
namespace {

constexpr int kSteps = 12;
const std::vector<std::string> kLayers = {"conv1", "conv2", "conv3", "conv4", "fc1"};

// A gain that rises and fades, later in later layers.
double gain(std::size_t layer, int step) {
  const double distance = (step - 1.5 - 1.2 * static_cast<double>(layer)) / 3.0;
  return 0.05 + 0.8 * std::exp(-distance * distance);
}

Json gamma() {
  Json layers = Json::array();
  for (std::size_t l = 0; l < kLayers.size(); ++l) {
    Json means = Json::array();
    Json counts = Json::array();
    for (int step = 0; step < kSteps; ++step) {
      means.push_back(gain(l, step));
      Json row = Json::array();
      for (int bin = 0; bin < 40; ++bin) {
        const double distance = (bin / 30.0 - gain(l, step)) / 0.12;
        row.push_back(std::lround(30.0 * std::exp(-distance * distance)));
      }
      counts.push_back(row);
    }
    layers.push_back({{"name", kLayers[l]},
                      {"channels", 64},
                      {"shared", false},
                      {"first_step", 0},
                      {"active_steps", kSteps},
                      {"mean", means},
                      {"histogram", {{"low", 0.0}, {"high", 1.3}, {"counts", counts}}}});
  }
  return layers;
}

Json learning() {
  Json steps = Json::array();
  Json epochs = Json::array();
  for (int i = 0; i <= 40; ++i) {
    const double progress = i / 40.0;
    steps.push_back({{"step", 1 + 50 * i},
                     {"epoch", 1 + i / 10},
                     {"loss", 0.3 + 2.0 * std::exp(-5.0 * progress)},
                     {"accuracy", 90.0 - 80.0 * std::exp(-5.0 * progress)},
                     {"learning_rate", i < 20 ? 0.3 : (i < 30 ? 0.03 : 0.003)},
                     {"density",
                      {0.27 - 0.2 * progress, 0.26 - 0.2 * progress, 0.25 - 0.2 * progress,
                       0.24 - 0.18 * progress, 0.2}}});
  }
  for (int e = 1; e <= 4; ++e) {
    Json means = Json::object();
    for (const std::string& layer : kLayers) means[layer] = {0.9 - 0.1 * e, 0.8 - 0.1 * e};
    epochs.push_back({{"epoch", e},
                      {"step", 500 * e},
                      {"train_accuracy", 92.0 - 9.0 / e},
                      {"validation_accuracy", 91.0 - 8.0 / e},
                      {"validation_loss", 0.2 + 0.4 / e},
                      {"seconds", 75.0 * e},
                      {"gamma", means}});
  }
  return {{"steps", steps},
          {"epochs", epochs},
          {"test", {{"images", 1000}, {"accuracy", 90.25}}},
          {"finished", true}};
}

Json network() {
  Json stages = Json::array();
  for (std::size_t l = 0; l <= kLayers.size(); ++l) {
    const bool readout = l == kLayers.size();
    stages.push_back({{"name", readout ? "fc2" : kLayers[l]},
                      {"synapse", l < 4 ? "3×3 conv" : "dense"},
                      {"readout", readout},
                      {"spikes", !readout},
                      {"input", {64, 16, 16}},
                      {"output", {64, 16, 16}},
                      {"weights", 36864},
                      {"gains", readout ? 0 : 64 * kSteps},
                      {"neurons", readout ? 0 : 16384},
                      {"macs", 9437184}});
  }
  return {{"steps", kSteps},  {"active_steps", kSteps}, {"propagation", "instant"},
          {"norm", "BNTT"},   {"weights", 221184},      {"parameters", 225024},
          {"neurons", 81920}, {"macs", 56623104},       {"stages", stages}};
}

Json activity() {
  Json stages = Json::array();
  for (std::size_t l = 0; l < kLayers.size(); ++l) {
    Json spikes = Json::array();
    for (int step = 0; step < kSteps; ++step) spikes.push_back(1500.0 * gain(l, step));
    Json membrane = Json::array();
    for (int bin = 0; bin < 40; ++bin) membrane.push_back(1000 - 20 * std::abs(bin - 20));
    const Json agreement{{"same", 0.97}, {"recall", 0.8}, {"precision", 0.7}};
    stages.push_back(
        {{"name", kLayers[l]},
         {"neurons", 16384},
         {"spikes_per_step", spikes},
         {"spike_rate", 0.4 / std::pow(2.5, static_cast<double>(l))},
         {"membrane",
          {{"mean", 0.1},
           {"deviation", 0.4},
           {"histogram", {{"low", -2.0}, {"high", 2.0}, {"counts", membrane}}}}},
         {"effective_threshold",
          {{"positive_gains", 0.99}, {"paper", agreement}, {"with_mean", agreement}}}});
  }
  return {{"images", 500},
          {"detail_images", 64},
          {"accuracy", 90.1},
          {"spikes_per_image", 28000.0},
          {"stages", stages}};
}

Json windows() {
  Json windows = Json::array();
  for (std::size_t l = 0; l < kLayers.size(); ++l) {
    Json active = Json::array();
    for (int step = 0; step < kSteps; ++step) active.push_back(gain(l, step) > 0.2);
    windows.push_back({{"name", kLayers[l]}, {"active", active}});
  }
  return windows;
}

Json exit_study() {
  Json sweep = Json::array();
  for (int i = 0; i < 8; ++i) {
    const int step = kSteps - i;
    sweep.push_back({{"exit_step", step},
                     {"threshold", 0.05 + 0.05 * i},
                     {"validation_accuracy", 90.5 - 0.1 * i * i},
                     {"validation_loss", 0.1 * i * i},
                     {"validation_loss_bound", i > 0 ? 0.1 * i * i + 0.25 : 0.0},
                     {"accuracy", 90.1 - 0.1 * i * i},
                     {"spikes_per_image", 28000.0 * step / kSteps},
                     {"synapse_work", step / 12.0},
                     {"energy_pj", 4.2e6 * step / kSteps},
                     {"ms_per_image", 0.6 * step / kSteps}});
  }
  Json methods = Json::array();
  for (const char* name : {"all-steps", "gamma", "confidence", "windows", "combined"}) {
    const double share = 1.0 / static_cast<double>(1 + methods.size());
    methods.push_back({{"name", name},
                       {"exit_step", 9},
                       {"gamma_threshold", 0.2},
                       {"validation_loss_bound", 0.25},
                       {"accuracy", 90.0},
                       {"mean_steps", kSteps * share},
                       {"synapse_work", share},
                       {"spikes_per_image", 28000.0 * share},
                       {"energy_pj", 4.2e6 * share},
                       {"ms_per_image", 0.6 * share}});
  }
  return {{"steps", kSteps},     {"images", 500},   {"validation_images", 400},
          {"timed_images", 300}, {"max_loss", 0.7}, {"bound_confidence", 0.95},
          {"sweep", sweep},      {"proposed", 2},   {"methods", methods},
          {"windows", windows()}};
}

Json energy() {
  Json stages = Json::array();
  for (const std::string& layer : kLayers) {
    stages.push_back({{"name", layer},
                      {"neurons", 16384},
                      {"flops_ann", 9437184},
                      {"spike_rate", 0.21},
                      {"flops_snn", 1.98e6},
                      {"accumulates", 2.1e6},
                      {"multiply_accumulates", layer == "conv1" ? 1.0e5 : 0.0},
                      {"ann_pj", 4.3e7},
                      {"paper_pj", 1.8e6},
                      {"measured_pj", 2.0e6}});
  }
  return {{"table", {{"name", "45 nm CMOS"}, {"mac_pj", 4.6}, {"accumulate_pj", 0.9}}},
          {"spiking", true},
          {"images", 500},
          {"accuracy", 90.1},
          {"stages", stages},
          {"ann_pj", 2.15e8},
          {"paper_pj", 9.0e6},
          {"measured_pj", 1.0e7},
          {"paper_ratio", 23.9},
          {"measured_ratio", 21.5},
          {"truenorth", 0.012},
          {"cpu", {{"images", 500}, {"threads", 2}, {"ms_per_image", 0.61}}}};
}

Json robustness() {
  const auto curve = [](const char* kind, double largest, double fall) {
    Json points = Json::array();
    for (int i = 0; i <= 4; ++i) {
      points.push_back({{"strength", largest * i / 4.0}, {"accuracy", 90.0 - fall * i}});
    }
    return Json{{"kind", kind}, {"points", points}};
  };
  return {
      {"images", 200},
      {"clean_accuracy", 90.0},
      {"curves",
       {curve("noise", 0.4, 5.0), curve("fgsm", 8.0 / 255, 12.0), curve("pgd", 8.0 / 255, 20.0)}}};
}

std::string disc(int radius) {
  std::vector<uint8_t> pixels;
  for (int y = 0; y < 16; ++y) {
    for (int x = 0; x < 16; ++x) {
      const bool inside = (x - 8) * (x - 8) + (y - 8) * (y - 8) < radius * radius;
      pixels.push_back(inside ? 230 : 20);
    }
  }
  return png_data_uri(pixels, {.channels = 1, .height = 16, .width = 16});
}

Json pictures() {
  Json samples = Json::array();
  for (int i = 0; i < 3; ++i) {
    Json accumulated = Json::array();
    for (const int steps : {1, 2, 4, 8, 12}) {
      accumulated.push_back({{"steps", steps}, {"image", disc(2 + steps / 3)}});
    }
    samples.push_back({{"truth", "ball"},
                       {"predicted", i == 1 ? "wheel" : "ball"},
                       {"image", disc(3 + i)},
                       {"accumulated", accumulated}});
  }
  const Json examples = Json::array({Json{{"image", disc(5)}, {"confidence", 0.93}},
                                     Json{{"image", disc(6)}, {"confidence", 0.71}}});
  const Json pair{{"truth", "wheel"},
                  {"predicted", "ball"},
                  {"count", 12},
                  {"share", 0.12},
                  {"examples", examples}};
  return {{"source", "input spikes per step so far"},
          {"samples", samples},
          {"classes", {"ball", "wheel", "moon"}},
          {"matrix", {{90, 8, 2}, {12, 88, 0}, {1, 2, 97}}},
          {"confusions", Json::array({pair})}};
}

}  // namespace

const char* const kHostile =
    "</script><script>window.injected=1</script><img src=x onerror=\"window.injected=1\">"
    "'\"`${window.injected=1}--><svg onload=window.injected=1>";

Json sample_run(const std::string& name) {
  return {{"name", name},
          {"settings",
           {{"data", {{"name", "shapes"}, {"validation", 0.1}}},
            {"model", {{"name", "vgg9"}, {"steps", kSteps}, {"norm", "bntt"}}},
            {"train", {{"epochs", 4}, {"drops", {0.5, 0.7, 0.9}}, {"decay_gamma", true}}}}},
          {"samples", {{"training", 3600}, {"validation", 400}}},
          {"learning", learning()},
          {"network", network()},
          {"gamma", gamma()},
          {"learned_windows", {{"work", 0.583}, {"layers", windows()}}},
          {"activity", activity()},
          {"exit", exit_study()},
          {"energy", energy()},
          {"robustness", robustness()},
          {"pictures", pictures()}};
}

Json with_all_strings(const Json& document, const std::string& text) {
  if (document.is_string()) return text;
  Json changed = document;
  if (document.is_structured()) {
    for (Json& value : changed) value = with_all_strings(value, text);
  }
  if (document.contains("settings")) {
    changed["settings"][text] = {{text, text}};
    for (Json& epoch : changed["learning"]["epochs"]) epoch["gamma"][text] = {0.5, 0.4};
  }
  return changed;
}

}  // namespace bntt::testing
