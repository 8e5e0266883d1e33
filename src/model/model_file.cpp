#include "model/model_file.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/fail.h"
#include "base/fields.h"
#include "base/json.h"
#include "base/json_difference.h"
#include "bntt/declaration.h"
#include "kernels/integer_kernels.h"
#include "layers/synapses/integer_weights.h"
#include "model/break_even_values.h"
#include "model/card_check.h"
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
  visit("frames", events.frames, between(0, kMostEventFrames));
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
constexpr const char* kScaleEnding = "_scale";
constexpr float kLargestScale = 1e30F;  // 127 of it are finite

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
      values.is_array() && std::all_of(values.begin(), values.end(), [](const Json& value) {
        return value.is_number() && std::isfinite(static_cast<float>(value.get<double>()));
      });
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
    const Tensor* tensor = file.find(name);
    if (tensor == nullptr) fail("{}: expected a tensor '{}', found none", origin, name);
    const bool integers = tensor->type == TensorType::i8;
    const int64_t bytes = size_of(shape) * static_cast<int64_t>(integers ? 1 : sizeof(float));
    if (tensor->bytes.size() != bytes) {
      fail("{}: tensor '{}' has {} bytes, expected {} for the network in the file", origin, name,
           tensor->bytes.size(), bytes);
    }
  }
}

std::string scale_name(const std::string& weights) { return weights + kScaleEnding; }

/// Weights of int8 as they are stored: [out, in, tap or pixel], beside the scale of every output.
void add_integers(const Parameter& weights, const std::vector<float>& scales, TensorFile& file) {
  const Buffer<float> values = to_pytorch_order(weights, weights.value);
  const int64_t channels = std::ssize(scales);
  Buffer<int8_t> integers(values.size());
  for (int64_t i = 0; i < values.size(); ++i) {
    integers[i] = nearest_integer(values[i], scales[i / (values.size() / channels)]);
  }
  file.tensors.push_back(
      small_integer_tensor(weights.name, weights.pytorch_shape, integers.span()));
  file.tensors.push_back(float_tensor(scale_name(weights.name), {channels}, scales));
}

struct ScaledWeights {
  Buffer<float> values;  // in PyTorch's order
  std::vector<float> scales;
};

ScaledWeights integers_in(const TensorFile& file, const std::string& origin, const Tensor& tensor,
                          const Parameter& weights) {
  if (weights.group != ParameterGroup::weight || tensor.shape != weights.pytorch_shape) {
    fail("{}: tensor '{}' is int8 {}, expected {} {}", origin, weights.name,
         shape_text(tensor.shape),
         weights.group == ParameterGroup::weight ? "float32 or int8" : "float32",
         shape_text(weights.pytorch_shape));
  }
  const int64_t channels = weights.pytorch_shape.front();
  const Buffer<float> scales = tensor_values(file, origin, scale_name(weights.name), {channels});
  const auto integers = tensor.small_integers();
  const int64_t row = std::ssize(integers) / channels;
  ScaledWeights result{Buffer<float>(std::ssize(integers)), {scales.begin(), scales.end()}};
  for (const float scale : result.scales) {
    if (std::isnormal(scale) && scale > 0.0F && scale <= kLargestScale) continue;
    fail("{}: tensor '{}' has the scale {}, expected a positive number", origin,
         scale_name(weights.name), scale);
  }
  for (int64_t i = 0; i < result.values.size(); ++i) {
    const int8_t integer = integers[static_cast<std::size_t>(i)];
    if (integer < -kernels::kLargestInteger) {
      fail("{}: tensor '{}' holds {}, expected -127 to 127", origin, weights.name, integer);
    }
    result.values[i] = scales[i / row] * static_cast<float>(integer);
  }
  return result;
}

/// The place of the weights' names in a list with one entry per branch.
std::map<std::string, std::size_t> branch_of_weights(const Network& network) {
  std::map<std::string, std::size_t> branches;
  for (const StagePlan& stage : network.stages()) {
    for (const BranchPlan& branch : stage.branches) {
      branches.emplace(branch.name + ".weight", branches.size());
    }
  }
  return branches;
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
  const auto branches = branch_of_weights(network);
  for (const Parameter& parameter : network.parameters()) {
    const auto branch = branches.find(parameter.name);
    if (branch != branches.end() && !network.weight_scales()[branch->second].empty()) {
      add_integers(parameter, network.weight_scales()[branch->second], file);
      continue;
    }
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
  std::vector<std::vector<float>> scales(network.weight_scales().size());
  const auto branches = branch_of_weights(network);
  for (const Parameter& parameter : network.parameters()) {
    const Tensor* tensor = file.find(parameter.name);
    if (tensor != nullptr && tensor->type == TensorType::i8) {
      ScaledWeights scaled = integers_in(file, origin, *tensor, parameter);
      values.push_back(from_pytorch_order(parameter, scaled.values));
      scales[branches.at(parameter.name)] = std::move(scaled.scales);
      continue;
    }
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
  network.set_weight_scales(std::move(scales));
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
