#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "analysis.h"
#include "base/fields.h"
#include "base/json.h"
#include "base/threads.h"
#include "command.h"
#include "convert/quantised_run.h"
#include "data_options.h"
#include "interrupt.h"
#include "train/model_card.h"
#include "train/run_settings.h"

namespace bntt::cli {
namespace {

struct QuantizeArguments {
  std::string run;
  std::string out;
  std::optional<std::string> data;
  std::string scales = name_of(QuantiseOptions{}.scales);
  int64_t calibration_images = QuantiseOptions{}.calibration_images;
  int threads = 0;
  CacheArguments cache;
  bool json = false;
};

struct FileSizes {
  int64_t before = 0;
  int64_t after = 0;
};

int64_t size_of_model(const Network& network, const ModelCard& card) {
  return static_cast<int64_t>(format_tensors(pack_model(network, card)).size());
}

Json report(const Quantisation& quantisation, const FileSizes& sizes,
            const QuantizeArguments& arguments) {
  Json branches = Json::array();
  for (const QuantisedBranch& branch : quantisation.branches) {
    Json json{{"name", branch.name},
              {"weights", branch.weights},
              {"precision", branch.int8 ? "int8" : "fp32"}};
    if (branch.int8 && arguments.scales == "error") {
      json["error_of_largest"] = branch.errors.of_largest;
      json["error"] = branch.errors.of_chosen;
    }
    branches.push_back(std::move(json));
  }
  return {{"run", arguments.out},
          {"scales", arguments.scales},
          {"branches", branches},
          {"fp32_bytes", sizes.before},
          {"bytes", sizes.after}};
}

void print(const Quantisation& quantisation, const FileSizes& sizes,
           const QuantizeArguments& arguments) {
  const bool errors = arguments.scales == "error";
  fmt::print("{}: {} bytes, {:.2f} of the {} in fp32\n", arguments.out, sizes.after,
             static_cast<double>(sizes.after) / static_cast<double>(sizes.before), sizes.before);
  fmt::print("{:<16} {:>10}  {:<5}{}\n", "synapse", "weights", "kept",
             errors ? "  error of its currents (with scales of the largest weights)" : "");
  for (const QuantisedBranch& branch : quantisation.branches) {
    fmt::print("{:<16} {:>10}  {:<5}", branch.name, branch.weights, branch.int8 ? "int8" : "fp32");
    if (errors && branch.int8) {
      fmt::print("  {:.2f} % ({:.2f} %)", 100.0 * branch.errors.of_chosen,
                 100.0 * branch.errors.of_largest);
    }
    fmt::print("{}\n", branch.int8 ? "" : "  reads real values");
  }
}

int quantize_run(const QuantizeArguments& arguments) {
  set_threads(arguments.threads);
  const RunPaths from{arguments.run};
  const RunPaths to{arguments.out};
  RunConfig config = read_run_settings(from);
  const RunModel model = load_run_model(from);
  expect_network_of(from, config, model.network.spec());
  expect_room_for_run(to, false);
  if (arguments.data) config.data.dir = std::filesystem::absolute(*arguments.data).string();
  DatasetOptions wanted = dataset_options(config);
  wanted.need_test = false;
  AnalysisProgress progress(arguments.json);
  QuantiseOptions options{.scales = arguments.scales == "max" ? ScaleRule::max : ScaleRule::error,
                          .calibration_images = arguments.calibration_images,
                          .seed = static_cast<uint64_t>(config.train.seed),
                          .progress = std::ref(progress)};
  DatasetSplits data = open_run_data(config, config.data.dir, wanted, arguments.cache, nullptr);
  fit_data_to_model(model, arguments.run, config.data.name, data);
  const Split split = split_training(data.train.size(), config.data.validation);
  const Quantisation quantisation = quantise(model.network, encoder_for(model, config, data),
                                             data.train, split.train, options, arguments.run);
  if (quantisation.stopped) return kInterrupted;
  const ModelCard card = model.card.value_or(card_of(config, data));
  write_quantised_run(
      to,
      quantised_settings(config, options,
                         std::filesystem::path(arguments.run).lexically_normal().string()),
      quantisation, card);
  const FileSizes sizes{.before = size_of_model(model.network, card),
                        .after = static_cast<int64_t>(std::filesystem::file_size(to.checkpoint()))};
  if (arguments.json) {
    fmt::print("{}\n", report(quantisation, sizes, arguments).dump(2));
  } else {
    print(quantisation, sizes, arguments);
  }
  return kDone;
}

}  // namespace

void add_quantize(CLI::App& app, Action& action) {
  auto* command =
      app.add_subcommand("quantize", "Make a run with int8 weights from a trained spiking network");
  auto arguments = std::make_shared<QuantizeArguments>();
  command->add_option("run", arguments->run, "directory of the trained run")->required();
  command->add_option("--out", arguments->out, "directory of the new run")->required();
  command->add_option("--data", arguments->data, "directory of the data set");
  command
      ->add_option("--scales", arguments->scales,
                   "how the scale of an output channel is chosen\n"
                   "max: the largest weight becomes 127\n"
                   "error: the error of its currents on training images is least")
      ->check(CLI::IsMember(names_of<ScaleRule>()))
      ->capture_default_str();
  command
      ->add_option("--calibration-images", arguments->calibration_images,
                   "number of training images used by --scales error")
      ->check(positive())
      ->capture_default_str();
  command->add_option("--threads", arguments->threads, "number of threads; 0: one per core")
      ->check(not_negative());
  add_cache_option(*command, arguments->cache);
  command->add_flag("--json", arguments->json, "print JSON");
  command->footer("Example:\n  bntt quantize runs/demo --out runs/demo8\n  bntt eval runs/demo8");
  command->callback(
      [arguments, &action] { action = [arguments] { return quantize_run(*arguments); }; });
}

}  // namespace bntt::cli
