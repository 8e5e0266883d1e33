#include "nir.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/fail.h"
#include "command.h"
#include "exchange/nir_export.h"
#include "exchange/nir_file.h"
#include "exchange/nir_import.h"
#include "exchange/nir_own.h"
#include "train/evaluate.h"
#include "train/model_card.h"
#include "train/run_settings.h"

namespace bntt::cli {
namespace {

/// What the mean over time costs, measured: with the exact network, and with the graph as others
/// run it.
void measure_cost(const std::string& run, const RunConfig& config, const RunModel& model,
                  const NirExportArguments& arguments, const std::string& directory,
                  NirGraph& graph) {
  DatasetOptions options = dataset_options(config);
  options.need_train = false;
  options.limit_test = arguments.limit;
  DatasetSplits data = open_run_data(config, directory, options, arguments.cache, nullptr);
  fit_data_to_model(model, run, config.data.name, data);
  const EvaluateOptions evaluation{.encoder = encoder_for(model, config, data),
                                   .seed = static_cast<uint64_t>(config.train.seed)};
  const SampleRange all{0, data.test.size()};
  const Network written = from_nir(graph, "NIR", {.as_others = true}).network;
  const double exact = evaluate(model.network, data.test, all, evaluation).accuracy();
  const double mean = evaluate(written, data.test, all, evaluation).accuracy();
  fmt::print(
      "accuracy {:.2f} % with the norms of every step, {:.2f} % with their mean: {:+.2f} points on "
      "{} test samples\n",
      exact, mean, mean - exact, data.test.size());
  const auto number = [](double value) {
    return NirArray{.shape = {}, .values = {static_cast<float>(value)}, .integers = {}};
  };
  graph.metadata.arrays["accuracy_exact"] = number(exact);
  graph.metadata.arrays["accuracy_as_written"] = number(mean);
}

/// Measures with the data of the run where --data names no others. Without them the file is written
/// all the same.
void say_cost(const std::string& run, const RunConfig& config, const RunModel& model,
              const NirExportArguments& arguments, NirGraph& graph) {
  if (arguments.data) return measure_cost(run, config, model, arguments, *arguments.data, graph);
  try {
    measure_cost(run, config, model, arguments, config.data.dir, graph);
  } catch (const Error& error) {
    fmt::print(
        "norms are written as their mean over time; what that costs was not measured: {}; --data "
        "DIR says where the data set is\n",
        error.what());
  }
}

bool names(const std::vector<std::string>& settings, const std::string& key) {
  return std::ranges::any_of(settings, [&](const std::string& setting) {
    return setting.starts_with(key + "=") || setting.starts_with(key + " ");
  });
}

/// Settings before the network is known.
RunConfig first_settings(const std::optional<ModelCard>& card, const std::string& file,
                         const std::vector<std::string>& settings) {
  RunConfig config;
  if (card && !card->training.settings.empty()) {
    config = config_from_toml(card->training.settings, file + ": settings");
  }
  config.network.reset();
  config.model = {};
  for (const std::string& setting : settings) apply_setting(config, setting);
  if (card || names(settings, "encoder.kind")) return config;
  const bool events =
      !config.data.name.empty() && dataset_info(config.data.name).kind == SampleKind::events;
  config.encoder.kind = events ? EncoderKind::events : EncoderKind::direct;
  return config;
}

/// Throws Error if the network cannot read the samples of the data set. Their size is known only
/// when they are read.
void expect_fitting(const NetworkSpec& spec, const RunConfig& config, const std::string& file) {
  const DatasetInfo& info = dataset_info(config.data.name);
  if (info.shape.channels != spec.input.channels) {
    fail("{}: takes {} channels, but the samples of {} have {}", file, spec.input.channels,
         info.name, info.shape.channels);
  }
  const bool known = info.classes > 0 && config.data.labels == Labels::fine;
  if (known && info.classes != classes_of(spec)) {
    fail("{}: has {} outputs, but {} has {} classes", file, classes_of(spec), info.name,
         info.classes);
  }
}

/// What the settings need once the network is known.
void complete(const NetworkSpec& spec, RunConfig& config) {
  config.network = spec;
  if (config.data.name.empty()) {
    // No data set, no statistics: the network gets the values themselves.
    const auto channels = static_cast<std::size_t>(spec.input.channels);
    if (!config.data.mean) config.data.mean = std::vector<float>(channels, 0.0F);
    if (!config.data.deviation) config.data.deviation = std::vector<float>(channels, 1.0F);
    return;
  }
  const DatasetInfo& info = dataset_info(config.data.name);
  if (info.resizable && config.data.size == 0 && spec.input.height != info.shape.height) {
    config.data.size = spec.input.height;
  }
}

}  // namespace

int export_nir(const std::string& run, const std::string& file,
               const NirExportArguments& arguments) {
  const RunPaths paths{run};
  const RunConfig config = read_run_settings(paths);
  const RunModel model = load_run_model(paths);
  NirExport exported =
      to_nir(model.network, model.card ? *model.card : card_of_settings(config, model.network),
             {.dt = arguments.dt,
              .allow_lossy = arguments.allow_lossy,
              .mean_of_steps = arguments.bntt == "mean"});
  if (exported.approximate) say_cost(run, config, model, arguments, exported.graph);
  write_nir(file, exported.graph);
  if (exported.soft_reset) {
    fmt::print(stderr,
               "warning: the neurons reset by subtraction, which NIR can only store as metadata: "
               "most readers reset to 0\n");
  }
  if (exported.clipped) {
    fmt::print(stderr,
               "warning: the neurons have a lowest voltage, which NIR can only store as metadata: "
               "most readers ignore it\n");
  }
  fmt::print("{}: {} nodes, dt {} s\n", file, exported.graph.nodes.size(), arguments.dt);
  return kDone;
}

int import_nir(const std::string& file, const std::string& out,
               const NirImportArguments& arguments) {
  const NirGraph graph = read_nir(file);
  const std::optional<ModelCard> card = nir_card(graph, file);
  RunConfig config = first_settings(card, file, arguments.settings);
  int64_t steps = arguments.steps.value_or(0);
  const bool bins = config.data.bin_us > 0 && names(arguments.settings, "data.bin_us");
  if (steps == 0 && bins) steps = steps_of_bins(config);
  if (steps == 0 && nir_steps(graph) == 0) {
    fail("{}: does not give a number of steps: use --steps or --set data.bin_us", file);
  }
  NirImportOptions options{.dt = arguments.dt, .steps = steps};
  if (arguments.reset) options.reset = *arguments.reset == "soft" ? Reset::soft : Reset::hard;
  const NirImport imported = from_nir(graph, file, options);
  const Network& network = imported.network;
  complete(network.spec(), config);
  // Once more, with the network there: settings without effect are refused.
  for (const std::string& setting : arguments.settings) apply_setting(config, setting);
  network_of(config, network.spec().input, classes_of(network.spec()));
  if (!config.data.name.empty()) expect_fitting(network.spec(), config, file);

  ModelCard made = card && arguments.settings.empty() ? *card : card_of_settings(config, network);
  if (card) made.class_names = card->class_names;
  const RunPaths paths{out};
  begin_run_directory(paths, config, false);
  save_checkpoint(paths, pack_model(network, made));
  for (const std::string& note : imported.notes) fmt::print("{}\n", note);
  fmt::print("{}: {} steps, {} classes, encoder {}\n", out, network.spec().steps,
             classes_of(network.spec()), encoder_name(made.input.encoder.kind));
  return kDone;
}

}  // namespace bntt::cli
