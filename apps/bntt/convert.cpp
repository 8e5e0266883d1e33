#include <fmt/format.h>

#include <memory>
#include <optional>

#include "analysis.h"
#include "base/fail.h"
#include "base/json.h"
#include "base/kinds.h"
#include "base/threads.h"
#include "command.h"
#include "convert/converted_run.h"
#include "convert/settings.h"
#include "data_options.h"
#include "interrupt.h"
#include "train/model_card.h"
#include "train/run_settings.h"

namespace bntt::cli {
namespace {

struct ConvertArguments {
  std::string run;
  std::string out;
  std::optional<std::string> data;
  std::string preset;
  // Those that are given replace the preset's, or the defaults.
  std::optional<std::string> method;
  std::optional<int64_t> steps;
  std::optional<int64_t> calibration_steps;
  std::optional<int64_t> calibration_images;
  std::optional<double> percentile;
  std::optional<double> threshold_scale;
  std::vector<double> sweep;
  std::optional<bool> scaled_search;
  std::optional<bool> copy_readout;
  std::string reset;
  std::string encoder;
  int threads = 0;
  CacheArguments cache;
  bool json = false;
};

ConversionOptions options_of(const ConvertArguments& arguments) {
  if (arguments.preset.empty() && !arguments.method) {
    fail("convert: names no method, expected --method or --preset");
  }
  ConversionOptions options =
      arguments.preset.empty() ? ConversionOptions{} : conversion_preset(arguments.preset);
  const auto take = [](const auto& given, auto& option) {
    if (given) option = *given;
  };
  take(arguments.method, options.method);
  take(arguments.steps, options.steps);
  take(arguments.calibration_steps, options.calibration_steps);
  take(arguments.calibration_images, options.calibration_images);
  take(arguments.percentile, options.percentile);
  if (arguments.threshold_scale) {
    options.threshold_scale = *arguments.threshold_scale;
    options.sweep.clear();
  }
  if (!arguments.sweep.empty()) {
    options.sweep = arguments.sweep;
    options.threshold_scale = 1.0;
    options.scaled_search = false;
  }
  take(arguments.scaled_search, options.scaled_search);
  const bool scales = arguments.threshold_scale || !arguments.preset.empty();
  if (options.scaled_search && (!scales || !options.sweep.empty())) {
    fail("--scaled-search requires --threshold-scale");
  }
  take(arguments.copy_readout, options.copy_readout);
  if (!arguments.reset.empty()) {
    options.reset = arguments.reset == "soft" ? Reset::soft : Reset::hard;
  }
  if (!arguments.encoder.empty()) {
    options.encoder = encoder_from_name(arguments.encoder, "--encoder");
  }
  return options;
}

Json report(const Conversion& conversion, const ConversionOptions& options,
            const std::string& out) {
  Json stages = Json::array();
  for (const ConvertedStage& stage : conversion.stages) {
    stages.push_back(
        {{"name", stage.name}, {"threshold", stage.threshold}, {"scale", stage.scale}});
  }
  Json sweep = Json::array();
  for (const ScaleTrial& point : conversion.sweep) {
    sweep.push_back({{"threshold_scale", point.threshold_scale}, {"accuracy", point.accuracy}});
  }
  return {{"method", options.method},
          {"run", out},
          {"steps", options.steps},
          {"encoder", encoder_name(conversion.encoder.kind)},
          {"threshold_scale", conversion.threshold_scale},
          {"stages", stages},
          {"sweep", sweep}};
}

void print(const Conversion& conversion, int64_t steps, const std::string& out) {
  fmt::print("{}: {} steps, encoder {}, thresholds times {:g}\n", out, steps,
             encoder_name(conversion.encoder.kind), conversion.threshold_scale);
  for (const ScaleTrial& point : conversion.sweep) {
    fmt::print("  thresholds times {:<5g} {:6.2f} % of validation images\n", point.threshold_scale,
               point.accuracy);
  }
  fmt::print("  {:<8} {:>10}  {}\n", "stage", "threshold",
             "activation that one spike per step stands for");
  for (const ConvertedStage& stage : conversion.stages) {
    fmt::print("  {:<8} {:>10.4f}  {:.4f}\n", stage.name, stage.threshold, stage.scale);
  }
}

int convert_run(const ConvertArguments& arguments) {
  set_threads(arguments.threads);
  ConversionOptions options = options_of(arguments);
  const RunPaths from{arguments.run};
  const RunPaths to{arguments.out};
  RunConfig config = read_run_settings(from);
  const RunModel ann = load_run_model(from);
  expect_network_of(from, config, ann.network.spec());
  expect_room_for_run(to, false);
  options.seed = static_cast<uint64_t>(config.train.seed);

  if (arguments.data) config.data.dir = std::filesystem::absolute(*arguments.data).string();
  DatasetOptions wanted = dataset_options(config);
  wanted.need_test = false;
  AnalysisProgress progress(arguments.json);
  DatasetSplits data = open_run_data(config, config.data.dir, wanted, arguments.cache, nullptr);
  fit_data_to_model(ann, arguments.run, config.data.name, data);
  const Split split = split_training(data.train.size(), config.data.validation);
  options.progress = std::ref(progress);
  const Conversion conversion =
      convert(ann.network, encoder_for(ann, config, data),
              {data.train, split.train, split.validation}, options, arguments.run);
  if (conversion.stopped) return kInterrupted;

  const RunConfig settings =
      converted_settings(config, conversion, options,
                         std::filesystem::path(arguments.run).lexically_normal().string());
  write_converted_run(to, settings, conversion, ann.card.value_or(card_of(config, data)));
  if (arguments.json) {
    fmt::print("{}\n", report(conversion, options, arguments.out).dump(2));
  } else {
    print(conversion, options.steps, arguments.out);
  }
  return kDone;
}

}  // namespace

void add_convert(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("convert", "Convert a trained ANN into a spiking network");
  auto arguments = std::make_shared<ConvertArguments>();
  std::string methods = "one of";
  for (const ConversionMethod& method : conversion_methods()) {
    methods += fmt::format("\n{}: {} ({})", method.name, method.meaning, method.source);
  }
  command->add_option("run", arguments->run, "directory of the ANN's run")->required();
  command->add_option("--preset", arguments->preset,
                      fmt::format("a published conversion, one of {}; the options below replace "
                                  "its values",
                                  fmt::join(conversion_preset_names(), ", ")));
  command->add_option("--method", arguments->method, methods)
      ->check(CLI::IsMember(kind_names(conversion_methods())));
  command->add_option("--out", arguments->out, "directory of the new run")->required();
  command->add_option("--data", arguments->data, "directory of the data set");
  command->add_option("--steps", arguments->steps, "time steps of the new network; default: 100")
      ->check(positive());
  command
      ->add_option("--calibration-steps", arguments->calibration_steps,
                   "time steps used to find the thresholds; 0: as many as --steps")
      ->check(not_negative());
  command
      ->add_option("--calibration-images", arguments->calibration_images,
                   "number of training images used to find the thresholds, and of validation "
                   "images used by --sweep; default: 512")
      ->check(positive());
  command->add_option("--percentile", arguments->percentile,
                      "percentile of activations or weighted inputs to use instead of the maximum; "
                      "default: 100, for rueckauer 99.9");
  auto* scale = command->add_option("--threshold-scale", arguments->threshold_scale,
                                    "factor on every threshold; default: 1");
  command
      ->add_option(
          "--sweep", arguments->sweep,
          "try these factors instead and keep the best on validation images, such as 1,0.9,0.8")
      ->delimiter(',')
      ->excludes(scale);
  // Absent flags keep the preset's value, which CLI11 does not do for a std::optional.
  auto flags = std::make_shared<std::pair<bool, bool>>(false, false);
  auto* scaled_search = command->add_flag(
      "--scaled-search", flags->first,
      "spike-norm and rmp: scale the earlier thresholds already while the later ones are found");
  auto* copy_readout = command->add_flag(
      "--copy-readout", flags->second,
      "leave the weights of the readout as they are, for hybrid training of summed voltages; "
      "otherwise its mean voltages approach the ANN's logits");
  command->add_option("--reset", arguments->reset, "soft or hard; default: the method's")
      ->check(CLI::IsMember({"soft", "hard"}));
  command->add_option("--encoder", arguments->encoder,
                      "direct, poisson-signed or poisson-unsigned; default: the method's");
  command->add_option("--threads", arguments->threads, "number of threads; 0: one per core")
      ->check(not_negative());
  add_cache_option(*command, arguments->cache);
  command->add_flag("--json", arguments->json, "print JSON");
  command->footer(
      "Example:\n  bntt convert runs/ann --method rmp --steps 200 --sweep 1,0.9,0.8 --out "
      "runs/rmp\n  "
      "bntt eval runs/rmp --at-steps 10,20,50,100,200\n  bntt convert runs/ann --preset rathi "
      "--steps 50 --out runs/converted\nTo train an ANN for runs/ann:\n  bntt train "
      "--preset ann-fashion-mnist --out runs/ann");
  command->callback([arguments, flags, scaled_search, copy_readout, &action] {
    if (scaled_search->count() > 0) arguments->scaled_search = flags->first;
    if (copy_readout->count() > 0) arguments->copy_readout = flags->second;
    action = [arguments] { return convert_run(*arguments); };
  });
}

}  // namespace bntt::cli
