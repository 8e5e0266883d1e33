#include "report/classical_document.h"

#include <algorithm>
#include <cmath>

#include "report/png.h"
#include "toml/toml.h"

namespace bntt {
namespace {

/// A grey picture, from the lowest value to the highest.
std::string map_picture(const FeatureMap& map) {
  const auto [low, high] = std::ranges::minmax(map.values);
  std::vector<uint8_t> pixels;
  for (const double value : map.values) {
    const double place = high > low ? (value - low) / (high - low) : 0.0;
    pixels.push_back(static_cast<uint8_t>(std::lround(255.0 * place)));
  }
  return png_data_uri(pixels, {.channels = 1, .height = map.height, .width = map.width});
}

Json map_groups(const std::vector<FeatureMap>& maps) {
  Json groups = Json::array();
  for (const FeatureMap& map : maps) {
    if (groups.empty() || groups.back()["name"] != map.group) {
      groups.push_back({{"name", map.group}, {"maps", Json::array()}});
    }
    const auto [low, high] = std::ranges::minmax(map.values);
    groups.back()["maps"].push_back(
        {{"name", map.name}, {"image", map_picture(map)}, {"low", low}, {"high", high}});
  }
  return groups;
}

// The location of the data is not needed to repeat the run, and a report is often shown to others.
Json settings_document(const ClassicalConfig& config) {
  Json settings{{"classical", Json::object()}};
  const Json all = parse_toml(to_toml(config), "settings");
  for (const auto& [key, value] : all.items()) {
    if (value.is_object()) {
      settings[key] = value;
    } else {
      settings["classical"][key] = value;
    }
  }
  settings["data"].erase("dir");
  return settings;
}

}  // namespace

Json classical_document(const ClassicalRun& run) {
  Json found = to_json(run.result);
  found["maps"] = map_groups(run.result.maps);
  found["times"] = to_json(run.times);
  for (const PassTimes& pass : run.times.passes) {
    if (pass.what == kTestPass) found["ms_per_recording"] = pass.reading_ms + pass.work_ms;
  }
  const Json test = {{"accuracy", run.result.accuracy}, {"images", run.result.data.test}};
  return {
      {"settings", settings_document(run.config)},
      {"learning",
       {{"steps", Json::array()}, {"epochs", Json::array()}, {"test", test}, {"finished", true}}},
      {"network", {{"stages", Json::array()}}},
      {"gamma", Json::array()},
      {"samples",
       {{"training", run.result.data.train}, {"validation", run.result.data.validation}}},
      {"classical", found}};
}

}  // namespace bntt
