#include "model/model_file.h"

#include <algorithm>

#include "base/fail.h"
#include "base/fields.h"
#include "base/json.h"
#include "base/json_difference.h"
#include "bntt/declaration.h"
#include "model/break_even_values.h"
#include "model/declared.h"
#include "model/learned_windows.h"

namespace bntt {

template <class Visitor>
void visit_fields(Visitor& visit, ChannelStatistics& statistics) {
  visit("mean", statistics.mean);
  visit("deviation", statistics.deviation);
}

template <class Visitor>
void visit_fields(Visitor& visit, EncoderSpec& encoder) {
  visit("kind", encoder.kind);
  visit("normalisation", encoder.normalisation);
}

template <class Visitor>
void visit_fields(Visitor& visit, FrameOptions& events) {
  visit("frames", events.frames, between(0, 1 << 16));
  visit("interval", events.interval);
  visit.optional("bin_us", events.bin_us, int64_t{0}, at_least(0));
  visit("clip", events.clip);
}

template <class Visitor>
void visit_fields(Visitor& visit, InputSpec& input) {
  visit("encoder", input.encoder);
  visit("seed", input.seed);
  visit("fit", input.fit);
  visit("events", input.events);
}

template <class Visitor>
void visit_fields(Visitor& visit, TrainingRecord& training) {
  visit("data", training.data);
  visit("settings", training.settings);
  visit("epochs", training.epochs, at_least(0));
  visit("validation_accuracy", training.validation_accuracy, between(0, 100));
  visit("validation_images", training.validation_images, at_least(0));
}

template <class Visitor>
void visit_fields(Visitor& visit, ModelCard& card) {
  visit("input", card.input);
  visit("class_names", card.class_names);
  visit("training", card.training);
}

namespace {

constexpr const char* kFormatKey = "bntt.format";
constexpr const char* kFormat = "1";
constexpr const char* kNetworkKey = "bntt.network";
constexpr const char* kCardKey = "bntt.card";
constexpr const char* kBreakEvenKey = "bntt.break_even";
constexpr const char* kWindowsKey = "bntt.windows";

std::string shape_text(const std::vector<int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

/// Files written before break-even densities existed, and imported ones, keep the network's own.
std::vector<BreakEven> break_even_in(const TensorFile& file, const std::string& origin,
                                     const Network& network) {
  const auto found = file.metadata.find(kBreakEvenKey);
  if (found == file.metadata.end()) return network.break_even();
  const Json values = parse_json(found->second, origin + ": break-even densities");
  const bool numbers =
      values.is_array() && std::all_of(values.begin(), values.end(),
                                       [](const Json& value) { return value.is_number(); });
  const std::size_t synapses = network.break_even().size();
  if (!numbers || values.size() != 2 * synapses) {
    fail("{}: its break-even densities are not two numbers for each of {} synapses", origin,
         synapses);
  }
  return break_even_from(values.get<std::vector<double>>(), synapses);
}

/// Called before memory is allocated for a network: a file of a few bytes can describe gigabytes.
void expect_tensors_of(const NetworkSpec& spec, const TensorFile& file, const std::string& origin) {
  for (const auto& [name, shape] : declared_tensors(spec)) {
    const int64_t bytes = size_of(shape) * static_cast<int64_t>(sizeof(float));
    const Tensor* tensor = file.find(name);
    if (tensor == nullptr) fail("{}: expected a tensor '{}', found none", origin, name);
    if (tensor->bytes.size() != bytes) {
      fail("{}: tensor '{}' has {} bytes, expected {} for the network in the file", origin, name,
           tensor->bytes.size(), bytes);
    }
  }
}

}  // namespace

const std::string& model_metadata(const TensorFile& file, const std::string& key,
                                  const std::string& origin) {
  const auto found = file.metadata.find(key);
  if (found == file.metadata.end()) {
    fail("{}: is not a bntt checkpoint: expected '{}' in its metadata, found none", origin, key);
  }
  return found->second;
}

Buffer<float> tensor_values(const TensorFile& file, const std::string& origin,
                            const std::string& name, const std::vector<int64_t>& shape) {
  const Tensor* tensor = file.find(name);
  if (tensor == nullptr) fail("{}: expected a tensor '{}', found none", origin, name);
  if (tensor->type != TensorType::f32 || tensor->shape != shape) {
    fail("{}: tensor '{}' is {}{}, expected float32 {}", origin, name,
         tensor->type == TensorType::f32 ? "" : "of a type other than float32, ",
         shape_text(tensor->shape), shape_text(shape));
  }
  const auto floats = tensor->floats();
  Buffer<float> values(static_cast<int64_t>(floats.size()));
  std::copy(floats.begin(), floats.end(), values.begin());
  return values;
}

TensorFile to_state_dict(const Network& network) {
  TensorFile file;
  for (const Parameter& parameter : network.parameters()) {
    file.tensors.push_back(float_tensor(parameter.name, parameter.pytorch_shape,
                                        to_pytorch_order(parameter, parameter.value).span()));
  }
  for (const Statistic& statistic : network.statistics()) {
    file.tensors.push_back(
        float_tensor(statistic.name, statistic.pytorch_shape, statistic.value.span()));
  }
  return file;
}

TensorFile pack_model(const Network& network, const ModelCard& card) {
  TensorFile file = to_state_dict(network);
  describe_model(network, card, file);
  return file;
}

void describe_model(const Network& network, const ModelCard& card, TensorFile& file) {
  file.metadata[kFormatKey] = kFormat;
  file.metadata[kNetworkKey] = to_json(network.spec());
  file.metadata[kBreakEvenKey] = Json(break_even_values(network.break_even())).dump();
  file.metadata[kCardKey] = card_json(card).dump();
  if (!network.windows().empty()) {
    file.metadata[kWindowsKey] = windows_json(network).dump();
  }
}

bool describes_model(const TensorFile& file) { return file.metadata.contains(kNetworkKey); }

Json card_json(const ModelCard& card) { return write_fields(card); }

std::optional<ModelCard> card_in(const TensorFile& file, const std::string& origin) {
  const auto found = file.metadata.find(kCardKey);
  if (found == file.metadata.end()) return std::nullopt;
  ModelCard card;
  const std::string place = origin + ": card";
  read_fields(parse_json(found->second, place), card, place);
  return card;
}

LearnedWindows windows_in(const TensorFile& file, const std::string& origin,
                          const Network& network) {
  const auto found = file.metadata.find(kWindowsKey);
  if (found == file.metadata.end()) return {};
  const std::string place = origin + ": windows";
  return windows_from_json(parse_json(found->second, place), network, place);
}

NetworkSpec checkpoint_network(const TensorFile& file, const std::string& origin) {
  const std::string& format = model_metadata(file, kFormatKey, origin);
  if (format != kFormat) {
    fail("{}: is a bntt checkpoint of format '{}', expected '{}'", origin, format, kFormat);
  }
  return network_from_json(model_metadata(file, kNetworkKey, origin), origin + ": network");
}

void unpack_network(const TensorFile& file, const std::string& origin, Network& network) {
  const NetworkSpec found = checkpoint_network(file, origin);
  if (found != network.spec()) {
    fail("{}: holds a different network: {}", origin,
         first_difference(parse_json(to_json(found), origin),
                          parse_json(to_json(network.spec()), origin)));
  }
  // Everything is read before anything is set, so that a rejected file changes nothing.
  std::vector<Buffer<float>> values;
  for (const Parameter& parameter : network.parameters()) {
    values.push_back(from_pytorch_order(
        parameter, tensor_values(file, origin, parameter.name, parameter.pytorch_shape)));
  }
  std::vector<Buffer<float>> statistics;
  for (const Statistic& statistic : network.statistics()) {
    statistics.push_back(tensor_values(file, origin, statistic.name, statistic.pytorch_shape));
  }
  std::vector<BreakEven> break_even = break_even_in(file, origin, network);
  LearnedWindows windows = windows_in(file, origin, network);
  for (std::size_t i = 0; i < values.size(); ++i) {
    network.parameters()[i].value = std::move(values[i]);
  }
  network.set_break_even(std::move(break_even));
  for (std::size_t i = 0; i < statistics.size(); ++i) {
    network.statistics()[i].value = std::move(statistics[i]);
  }
  network.set_windows(std::move(windows));
}

Network network_in(const TensorFile& file, const std::string& origin) {
  const NetworkSpec spec = checkpoint_network(file, origin);
  expect_tensors_of(spec, file, origin);
  Network network = Network::unfilled(spec);
  unpack_network(file, origin, network);
  return network;
}

}  // namespace bntt
