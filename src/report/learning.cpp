#include "report/learning.h"

#include <map>
#include <string>
#include <vector>

#include "train/metrics.h"
#include "train/times.h"

namespace bntt {
namespace {

Json number_or_null(const Json& value) { return value.is_number() ? value : Json(); }

Json numbers_in(const Json& line, const std::vector<std::string>& keys) {
  Json kept = Json::object();
  for (const std::string& key : keys) {
    kept[key] = line.contains(key) ? number_or_null(line[key]) : Json();
  }
  return kept;
}

Json number_list(const Json& values) {
  Json list = Json::array();
  if (!values.is_array()) return list;
  for (const Json& value : values) list.push_back(number_or_null(value));
  return list;
}

Json step_entry(const Json& line) {
  Json entry = numbers_in(line, {"step", "epoch", "loss", "accuracy", "learning_rate"});
  entry["density"] = number_list(line.value("density", Json()));
  return entry;
}

/// Of the end of an epoch; absent if the run has no times.
std::map<int64_t, double> seconds_by_epoch(const RunPaths& paths) {
  std::map<int64_t, double> seconds;
  for (const EpochTime& time : read_epoch_times(paths)) seconds[time.epoch] = time.spent.seconds;
  return seconds;
}

Json epoch_entry(const Json& line, const std::map<int64_t, double>& seconds) {
  Json entry = numbers_in(line, {"epoch", "step", "train_loss", "train_accuracy", "validation_loss",
                                 "validation_accuracy", "spikes_per_image"});
  entry["gamma"] = Json::object();
  const Json gamma = line.value("gamma", Json::object());
  if (gamma.is_object()) {
    for (const auto& [layer, values] : gamma.items()) entry["gamma"][layer] = number_list(values);
  }
  const auto epoch = entry["epoch"].is_number_integer() ? entry["epoch"].get<int64_t>() : 0;
  if (const auto found = seconds.find(epoch); found != seconds.end()) {
    entry["seconds"] = found->second;
  }
  return entry;
}

bool trained_to_the_end(const std::vector<Json>& epochs, int64_t wanted) {
  if (epochs.empty()) return false;
  const Json last = epochs.back().value("epoch", Json());
  return last.is_number_integer() && last.get<int64_t>() >= wanted;
}

}  // namespace

Json learning_document(const RunPaths& paths, const RunConfig& config, std::size_t most_steps) {
  const std::vector<Json> steps = read_metrics(paths, "step");
  const std::vector<Json> epochs = read_metrics(paths, "epoch");
  const std::vector<Json> tests = read_metrics(paths, "test");
  Json document{{"steps", Json::array()}, {"epochs", Json::array()}};
  const std::size_t shown = std::min(most_steps, steps.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const std::size_t index = shown == 1 ? 0 : i * (steps.size() - 1) / (shown - 1);
    document["steps"].push_back(step_entry(steps[index]));
  }
  const std::map<int64_t, double> seconds = seconds_by_epoch(paths);
  for (const Json& line : epochs) document["epochs"].push_back(epoch_entry(line, seconds));
  if (!tests.empty()) {
    document["test"] = numbers_in(tests.back(), {"images", "accuracy", "loss", "spikes_per_image"});
  }
  document["finished"] = !tests.empty() || trained_to_the_end(epochs, config.train.epochs);
  return document;
}

}  // namespace bntt
