#include "train/checkpoint.h"

#include <algorithm>

#include "base/fail.h"
#include "base/files.h"
#include "base/json.h"
#include "base/json_difference.h"
#include "bntt/load.h"
#include "layers/declaration.h"
#include "model/declared.h"
#include "train/break_even_table.h"

namespace bntt {
namespace {

constexpr const char* kFormatKey = "bntt.format";
constexpr const char* kFormat = "1";
constexpr const char* kNetworkKey = "bntt.network";
constexpr const char* kBreakEvenKey = "bntt.break_even";
constexpr const char* kPositionKey = "bntt.position";

Json to_json(const LossSums& sums) {
  return {{"loss", sums.loss}, {"correct", sums.correct}, {"images", sums.images}};
}

LossSums sums_from_json(const Json& json) {
  return {json.at("loss").get<double>(), json.at("correct").get<int64_t>(),
          json.at("images").get<int64_t>()};
}

std::string position_text(const TrainPosition& position) {
  return Json{{"epoch", position.epoch},
              {"batch", position.batch},
              {"step", position.step},
              {"metrics_bytes", position.metrics_bytes},
              {"since_log", to_json(position.since_log)},
              {"since_epoch", to_json(position.since_epoch)},
              {"best_accuracy", position.best_accuracy},
              {"best_epoch", position.best_epoch},
              {"images", position.images}}
      .dump();
}

TrainPosition position_from_text(const std::string& text, const std::string& origin) {
  const Json json = parse_json(text, origin + ": position");
  try {
    const TrainPosition position{
        .epoch = json.at("epoch").get<int64_t>(),
        .batch = json.at("batch").get<int64_t>(),
        .step = json.at("step").get<int64_t>(),
        .metrics_bytes = json.at("metrics_bytes").get<uint64_t>(),
        .since_log = sums_from_json(json.at("since_log")),
        .since_epoch = sums_from_json(json.at("since_epoch")),
        .best_accuracy = json.at("best_accuracy").get<double>(),
        .best_epoch = json.at("best_epoch").get<int64_t>(),
        .images = json.value("images", int64_t{0})};  // older files do not have it
    if (position.epoch >= 0 && position.batch >= 0 && position.step >= 0) return position;
  } catch (const Json::exception&) {
  }
  fail("{}: its training position is not one of ours", origin);
}

const std::string& metadata(const TensorFile& file, const std::string& key,
                            const std::string& origin) {
  const auto found = file.metadata.find(key);
  if (found == file.metadata.end()) {
    fail("{}: is not a bntt checkpoint: expected '{}' in its metadata, found none", origin, key);
  }
  return found->second;
}

std::string shape_text(const std::vector<int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

Buffer<float> values_of(const TensorFile& file, const std::string& origin, const std::string& name,
                        const std::vector<int64_t>& shape) {
  const Tensor* tensor = file.find(name);
  if (tensor == nullptr) fail("{}: expected a tensor '{}', found none", origin, name);
  if (tensor->type != TensorType::f32 || tensor->shape != shape) {
    fail("{}: tensor '{}' is {}{}, expected float32 {}", origin, name,
         tensor->type == TensorType::f32 ? "" : "not float32 but of another type, ",
         shape_text(tensor->shape), shape_text(shape));
  }
  const auto floats = tensor->floats();
  Buffer<float> values(static_cast<int64_t>(floats.size()));
  std::copy(floats.begin(), floats.end(), values.begin());
  return values;
}

/// Files from before there were break-even densities, and imported ones, leave the network's own.
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

}  // namespace

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

TensorFile pack_checkpoint(const Network& network, const Optimizer* optimizer,
                           const TrainPosition* position) {
  TensorFile file = to_state_dict(network);
  file.metadata[kFormatKey] = kFormat;
  file.metadata[kNetworkKey] = to_json(network.spec());
  file.metadata[kBreakEvenKey] = Json(break_even_values(network.break_even())).dump();
  if (position != nullptr) file.metadata[kPositionKey] = position_text(*position);
  if (optimizer == nullptr) return file;
  for (const Optimizer::Memory& memory : optimizer->memories()) {
    for (std::size_t i = 0; i < network.parameters().size(); ++i) {
      const Parameter& parameter = network.parameters()[i];
      file.tensors.push_back(float_tensor(memory.prefix + parameter.name, parameter.pytorch_shape,
                                          to_pytorch_order(parameter, memory.values[i]).span()));
    }
  }
  return file;
}

NetworkSpec checkpoint_network(const TensorFile& file, const std::string& origin) {
  const std::string& format = metadata(file, kFormatKey, origin);
  if (format != kFormat) {
    fail("{}: is a bntt checkpoint of format '{}', expected '{}'", origin, format, kFormat);
  }
  return network_from_json(metadata(file, kNetworkKey, origin), origin + ": network");
}

void unpack_network(const TensorFile& file, const std::string& origin, Network& network) {
  const NetworkSpec found = checkpoint_network(file, origin);
  if (found != network.spec()) {
    fail("{}: holds another network: {}", origin,
         first_difference(parse_json(to_json(found), origin),
                          parse_json(to_json(network.spec()), origin)));
  }
  // Everything is read before anything is set: a refused file changes nothing.
  std::vector<Buffer<float>> values;
  for (const Parameter& parameter : network.parameters()) {
    values.push_back(from_pytorch_order(
        parameter, values_of(file, origin, parameter.name, parameter.pytorch_shape)));
  }
  std::vector<Buffer<float>> statistics;
  for (const Statistic& statistic : network.statistics()) {
    statistics.push_back(values_of(file, origin, statistic.name, statistic.pytorch_shape));
  }
  std::vector<BreakEven> break_even = break_even_in(file, origin, network);
  for (std::size_t i = 0; i < values.size(); ++i) {
    network.parameters()[i].value = std::move(values[i]);
  }
  network.set_break_even(std::move(break_even));
  for (std::size_t i = 0; i < statistics.size(); ++i) {
    network.statistics()[i].value = std::move(statistics[i]);
  }
}

TrainPosition unpack_training(const TensorFile& file, const std::string& origin,
                              const Network& network, Optimizer& optimizer) {
  const TrainPosition position = position_from_text(metadata(file, kPositionKey, origin), origin);
  // Everything is read before anything is set, as above.
  std::vector<Optimizer::Memory> memories;
  for (const Optimizer::Memory& memory : optimizer.memories()) {
    Optimizer::Memory& read = memories.emplace_back(Optimizer::Memory{.prefix = memory.prefix});
    for (const Parameter& parameter : network.parameters()) {
      read.values.push_back(from_pytorch_order(
          parameter,
          values_of(file, origin, memory.prefix + parameter.name, parameter.pytorch_shape)));
    }
  }
  optimizer.memories() = std::move(memories);
  optimizer.set_steps_done(position.step);
  return position;
}

void save_checkpoint(const RunPaths& paths, const TensorFile& file) {
  // The new one is whole on disk before the old ones change their names: a full disk costs neither
  // of them.
  const auto keep_previous = [&] {
    if (std::filesystem::exists(paths.checkpoint())) {
      replace_with_link(paths.checkpoint(), paths.previous());
    }
  };
  write_tensors(paths.checkpoint(), file, {.before_rename = keep_previous});
}

TensorFile load_checkpoint(const RunPaths& paths, const std::filesystem::path& file) {
  try {
    return read_tensors(file, {.require_checksum = true});
  } catch (const Error& error) {
    if (file != paths.checkpoint() || !std::filesystem::exists(paths.previous())) throw;
    try {
      read_tensors(paths.previous(), {.require_checksum = true});
    } catch (const Error&) {
      throw Error(error);
    }
    fail("{}; the checkpoint before it, {}, is intact: move it in its place to go on from there",
         error.what(), paths.previous().string());
  }
}

namespace {

/// Before memory is taken for a network: a file of a few bytes can describe one of gigabytes.
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

Network network_in(const TensorFile& file, const std::string& origin) {
  const NetworkSpec spec = checkpoint_network(file, origin);
  expect_tensors_of(spec, file, origin);
  Network network(spec, 0);
  unpack_network(file, origin, network);
  return network;
}

}  // namespace

Network load_run_network(const RunPaths& paths, RunWeights weights) {
  const bool best = weights == RunWeights::best && std::filesystem::exists(paths.best());
  const std::filesystem::path file = best ? paths.best() : paths.checkpoint();
  return network_in(load_checkpoint(paths, file), file.string());
}

Network load_network(const std::filesystem::path& checkpoint) {
  return network_in(read_tensors(checkpoint, {.require_checksum = true}), checkpoint.string());
}

}  // namespace bntt
