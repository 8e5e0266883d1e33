#include "train/checkpoint.h"

#include <algorithm>

#include "base/fail.h"
#include "base/files.h"
#include "base/json.h"

namespace bntt {
namespace {

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
              {"images", position.images},
              {"settings", position.settings}}
      .dump();
}

TrainPosition position_from_text(const std::string& text, const std::string& origin) {
  const Json json = parse_json(text, origin + ": position");
  try {
    const TrainPosition position{.epoch = json.at("epoch").get<int64_t>(),
                                 .batch = json.at("batch").get<int64_t>(),
                                 .step = json.at("step").get<int64_t>(),
                                 .metrics_bytes = json.at("metrics_bytes").get<uint64_t>(),
                                 .since_log = sums_from_json(json.at("since_log")),
                                 .since_epoch = sums_from_json(json.at("since_epoch")),
                                 .best_accuracy = json.at("best_accuracy").get<double>(),
                                 .best_epoch = json.at("best_epoch").get<int64_t>(),
                                 // Older files have neither.
                                 .images = json.value("images", int64_t{0}),
                                 .settings = json.value("settings", std::string())};
    if (position.epoch >= 0 && position.batch >= 0 && position.step >= 0) return position;
  } catch (const Json::exception&) {
  }
  fail("{}: its training position is invalid", origin);
}

}  // namespace

TensorFile pack_checkpoint(const Network& network, const ModelCard& card,
                           const Optimizer* optimizer, const TrainPosition* position) {
  TensorFile file = pack_model(network, card);
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

TrainPosition unpack_training(const TensorFile& file, const std::string& origin,
                              const Network& network, Optimizer& optimizer) {
  const TrainPosition position =
      position_from_text(model_metadata(file, kPositionKey, origin), origin);
  // Everything is read before anything is set, so that a rejected file changes nothing.
  std::vector<Optimizer::Memory> memories;
  for (const Optimizer::Memory& memory : optimizer.memories()) {
    Optimizer::Memory& read = memories.emplace_back(Optimizer::Memory{.prefix = memory.prefix});
    for (const Parameter& parameter : network.parameters()) {
      read.values.push_back(from_pytorch_order(
          parameter,
          tensor_values(file, origin, memory.prefix + parameter.name, parameter.pytorch_shape)));
    }
  }
  optimizer.memories() = std::move(memories);
  optimizer.set_steps_done(position.step);
  return position;
}

bool is_run_file(std::string_view name) {
  const RunPaths paths{};
  const std::vector<std::filesystem::path> known = {
      paths.settings(), paths.metrics(), paths.times(), paths.checkpoint(),
      paths.previous(), paths.best(),    paths.lock(),  "report.html"};
  return std::ranges::any_of(known, [&](const std::filesystem::path& file) {
    return name == file.string() ||
           (name.starts_with(file.string() + ".") && name.ends_with(kTemporaryEnding));
  });
}

void save_checkpoint(const RunPaths& paths, const TensorFile& file) {
  // The new checkpoint is completely on disk before the old ones are renamed, so that a full disk
  // destroys none of them.
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
    fail(
        "{}; the previous checkpoint, {}, is intact: rename it to replace the damaged one, then "
        "resume",
        error.what(), paths.previous().string());
  }
}

RunModel load_run_model(const RunPaths& paths, RunWeights weights) {
  const bool best = weights == RunWeights::best && std::filesystem::exists(paths.best());
  const std::filesystem::path file = best ? paths.best() : paths.checkpoint();
  const TensorFile tensors = load_checkpoint(paths, file);
  return {network_in(tensors, file.string()), card_in(tensors, file.string())};
}

Network load_run_network(const RunPaths& paths, RunWeights weights) {
  return load_run_model(paths, weights).network;
}

}  // namespace bntt
