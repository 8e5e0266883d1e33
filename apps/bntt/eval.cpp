#include <fmt/format.h>

#include <new>

#include "analyse/exit_rule.h"
#include "analyse/inference.h"
#include "analysis.h"
#include "base/fail.h"
#include "base/files.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/threads.h"
#include "command.h"
#include "data_options.h"
#include "interrupt.h"
#include "progress.h"
#include "train/memory_need.h"
#include "train/model_card.h"
#include "train/run_settings.h"

namespace bntt::cli {
namespace {

struct EvalArguments {
  std::string run;
  std::optional<std::string> data;
  std::string split = "test";
  std::string weights = "best";
  int64_t steps = 0;
  std::vector<int64_t> at_steps;
  std::optional<double> exit_threshold;
  std::optional<double> exit_confidence;
  std::optional<double> exit_margin;
  std::optional<double> window_threshold;
  int64_t limit = 0;
  std::optional<int64_t> seed;
  int threads = 0;
  std::string predictions;
  bool json = false;
  CacheArguments cache;
};

/// What images could have gone through, and the steps that they took of it.
struct Measurement {
  Evaluation result;
  double mean_steps = 0.0;
  Inference details;  ///< image by image, with --predictions

  std::vector<double> density(const Network& network) const {
    const auto idle = static_cast<double>(result.steps - result.active_steps);
    std::vector<double> densities = result.density(network);
    for (double& density : densities) {
      density *= static_cast<double>(result.active_steps) / (mean_steps - idle);
    }
    return densities;
  }
};

void expect_step_gains(const Network& network, const std::string& run, const char* option) {
  if (!has_step_gains(network)) {
    fail("{}: its network has no gamma per step, which {} needs", run, option);
  }
}

int64_t last_step(const EvalArguments& arguments, const Network& network) {
  if (!arguments.exit_threshold) return arguments.steps;
  expect_step_gains(network, arguments.run, "--exit-threshold");
  return exit_step(network, *arguments.exit_threshold);
}

Measurement measure(const EvalArguments& arguments, const Network& network, const ImageSet& images,
                    const EvaluateOptions& options) {
  const bool by_sample = arguments.exit_confidence || arguments.exit_margin;
  const SampleRange all{0, images.size()};
  const bool keep = !arguments.predictions.empty();
  if (!by_sample && !arguments.window_threshold && !keep) {
    Evaluation result = evaluate(network, images, all, options);
    const auto steps = static_cast<double>(result.steps);
    return {std::move(result), steps, {}};
  }
  InferenceOptions inference{
      .steps = options.steps, .keep_probabilities = keep, .progress = options.progress};
  if (by_sample) {
    inference.sample_exit = arguments.exit_confidence ? SampleExit::confidence : SampleExit::margin;
    inference.limit = arguments.exit_confidence.value_or(arguments.exit_margin.value_or(1.0));
  }
  if (arguments.window_threshold) {
    expect_step_gains(network, arguments.run, "--window-threshold");
    inference.windows = layer_windows(network, *arguments.window_threshold);
  }
  Inference run = infer(network, {images, all, options.encoder, options.seed}, inference);
  const double mean_steps = run.mean_steps();
  return {{.sums = run.sums,
           .steps = run.steps,
           .active_steps = active_steps_until(network.spec(), run.steps),
           .activity = std::move(run.activity)},
          mean_steps,
          std::move(run)};
}

/// A row per image: index, file, label, prediction, probability of the prediction, steps taken, and
/// the probability of every class. Classes go by their names, where the data set has them.
std::string predictions_csv(const ImageSet& images, const Inference& run) {
  const auto class_name = [&](int64_t label) {
    return label < std::ssize(images.class_names) ? images.class_names[label]
                                                  : fmt::format("{}", label);
  };
  std::string text = "index,file,label,prediction,probability,steps";
  for (int64_t k = 0; k < images.classes; ++k) text += "," + csv_field("p:" + class_name(k));
  text += "\n";
  for (int64_t i = 0; i < std::ssize(run.predictions); ++i) {
    const float* probabilities = run.probabilities.data() + i * images.classes;
    const int64_t prediction = run.predictions[i];
    text += fmt::format("{},{},{},{},{},{}", i,
                        csv_field(images.files.empty() ? "" : images.files[i].string()),
                        csv_field(class_name(images.labels[i])), csv_field(class_name(prediction)),
                        probabilities[prediction], run.steps_taken[i]);
    for (int64_t k = 0; k < images.classes; ++k) text += fmt::format(",{}", probabilities[k]);
    text += "\n";
  }
  return text;
}

Json stopped_report(const Evaluation& result) {
  Json rows = Json::array();
  for (const StoppedEvaluation& stop : result.stopped) {
    rows.push_back({{"steps", stop.steps},
                    {"accuracy", stop.sums.accuracy()},
                    {"loss", stop.sums.mean_loss()},
                    {"spikes_per_image", stop.spikes_per_image}});
  }
  return rows;
}

Json report(const Network& network, const Measurement& measured, double images_per_second) {
  const Evaluation& result = measured.result;
  Json stages = Json::array();
  const std::vector<double> densities = measured.density(network);
  for (std::size_t i = 0; i < densities.size(); ++i) {
    stages.push_back({{"name", network.stages()[i].name},
                      {"density", densities[i]},
                      {"spikes_per_step", result.activity.spikes[i]}});
  }
  return {{"accuracy", result.accuracy()},
          {"images", result.sums.images},
          {"steps", result.steps},
          {"mean_steps", measured.mean_steps},
          {"loss", result.sums.mean_loss()},
          {"spikes_per_image", result.spikes_per_image()},
          {"images_per_second", images_per_second},
          {"at_steps", stopped_report(result)},
          {"stages", stages}};
}

/// What an evaluation needs. It is filled in on the way, so that memory that runs out can be
/// explained with all that is known by then.
struct Evaluated {
  int64_t program_bytes = held_memory_bytes();  ///< before anything is read
  RunConfig config;
  std::optional<RunModel> model;
  DatasetSplits data;

  const ImageSet& images(const EvalArguments& arguments) const {
    return arguments.split == "test" ? data.test : data.train;
  }
};

int64_t samples_to_read(const EvalArguments& arguments, const Evaluated& known) {
  const ImageSet& images = known.images(arguments);
  if (images.size() > 0) return images.stored ? 0 : images.size();
  const DatasetInfo info = dataset_info(known.config.data.name);
  const int64_t all = arguments.split == "test" ? info.test_samples : info.train_samples;
  return arguments.limit > 0 ? std::min(all, arguments.limit) : all;
}

[[noreturn]] void fail_without_memory(const EvalArguments& arguments, const Evaluated& known) {
  const std::string program = bytes_text(known.program_bytes);
  if (!known.model) {
    fail("{}: not enough memory to read its network, besides {} for the program", arguments.run,
         program);
  }
  const Network& network = known.model->network;
  const int64_t batch = images_per_batch(network, std::min(network.spec().steps, kStepsPerWindow));
  const int64_t running = evaluation_bytes(network.spec(), batch);
  const ImageSet& images = known.images(arguments);
  const int64_t sample_bytes =
      images.size() > 0 ? images.sample_bytes() : network.spec().input.size();
  const int64_t reading = reading_bytes(samples_to_read(arguments, known), sample_bytes);
  fail(
      "{}: not enough memory: the program takes {}, {}the network and {} images at once about {}; "
      "{} {} in all",
      arguments.run, program,
      reading > 0 ? fmt::format("reading the images about {}, ", bytes_text(reading)) : "", batch,
      bytes_text(running), reading > 0 || images.stored ? "about" : "more than",
      bytes_text(known.program_bytes + running + reading));
}

int eval(const EvalArguments& arguments, Evaluated& known) {
  const RunPaths paths{arguments.run};
  known.config = read_run_settings(paths);
  const RunConfig& config = known.config;
  known.model =
      load_run_model(paths, arguments.weights == "last" ? RunWeights::last : RunWeights::best);
  const RunModel& model = *known.model;
  const Network& network = model.network;
  expect_network_of(paths, config, network.spec());
  if (!arguments.predictions.empty()) prepare_output(arguments.predictions);
  const bool on_test = arguments.split == "test";
  DatasetOptions options = dataset_options(config);
  options.need_train = !on_test;
  options.need_test = on_test;
  options.limit_train = on_test ? 0 : arguments.limit;
  options.limit_test = on_test ? arguments.limit : 0;
  Progress progress;
  DatasetSplits& data = known.data;
  data = open_run_data(config, arguments.data.value_or(config.data.dir), options, arguments.cache,
                       arguments.json ? nullptr : &progress);
  fit_data_to_model(model, arguments.run, config.data.name, data);
  const ImageSet& images = known.images(arguments);

  catch_interrupts();
  Rate rate;
  int64_t done_before = 0;
  const Measurement measured =
      measure(arguments, network, images,
              {.encoder = encoder_for(model, config, data),
               .seed = static_cast<uint64_t>(arguments.seed.value_or(config.train.seed)),
               .steps = last_step(arguments, network),
               .at_steps = arguments.at_steps,
               .progress = [&](int64_t done) {
                 rate.add(done - done_before);
                 done_before = done;
                 if (!arguments.json) {
                   progress.bar(arguments.split, done, images.size(),
                                fmt::format("{:.0f} images/s", rate.per_second()),
                                rate.seconds_for(images.size() - done));
                 }
                 return interrupted();
               }});
  if (interrupted()) return kInterrupted;
  if (!arguments.predictions.empty()) {
    write_text_atomically(arguments.predictions, predictions_csv(images, measured.details));
  }

  const double speed = rate.per_second();
  if (arguments.json) {
    fmt::print("{}\n", report(network, measured, speed).dump(2));
    return kDone;
  }
  const Evaluation& result = measured.result;
  const std::string steps = measured.mean_steps < static_cast<double>(result.steps)
                                ? fmt::format("{:.2f} of {}", measured.mean_steps, result.steps)
                                : fmt::format("{}", result.steps);
  progress.line(fmt::format(
      "accuracy {:.2f} % on {} {} images, {} steps, {:.0f} spikes per image, {:.0f} images/s",
      result.accuracy(), result.sums.images, arguments.split, steps, result.spikes_per_image(),
      speed));
  for (const StoppedEvaluation& stop : result.stopped) {
    progress.line(fmt::format("  after {:>5} steps {:6.2f} %  {:>10.0f} spikes per image",
                              stop.steps, stop.sums.accuracy(), stop.spikes_per_image));
  }
  const std::vector<double> densities = measured.density(network);
  for (std::size_t i = 0; i < densities.size(); ++i) {
    progress.line(fmt::format("  {:<8} {:6.2f} % of neuron-steps fire", network.stages()[i].name,
                              100.0 * densities[i]));
  }
  return kDone;
}

int eval(const EvalArguments& arguments) {
  Evaluated known;
  try {
    set_threads(arguments.threads);
    return eval(arguments, known);
  } catch (const std::bad_alloc&) {
    fail_without_memory(arguments, known);
  }
}

}  // namespace

void add_eval(CLI::App& app, Action& action) {
  auto* command =
      app.add_subcommand("eval", "Measure the accuracy of a trained network on the test images");
  auto arguments = std::make_shared<EvalArguments>();
  command->add_option("run", arguments->run, "directory of the run")->required();
  command->add_option("--data", arguments->data, "directory of the data set");
  command->add_option("--split", arguments->split, "test or train")
      ->check(CLI::IsMember({"test", "train"}))
      ->capture_default_str();
  command->add_option("--weights", arguments->weights, "best (highest validation accuracy) or last")
      ->check(CLI::IsMember({"best", "last"}))
      ->capture_default_str();
  command->add_option("--steps", arguments->steps, "stop after N steps; 0: all")
      ->check(not_negative());
  command
      ->add_option("--exit-threshold", arguments->exit_threshold,
                   "stop after the last step at which a mean gamma reaches X (the paper's rule)")
      ->excludes("--steps");
  command
      ->add_option("--exit-confidence", arguments->exit_confidence,
                   "stop each image when its softmax confidence reaches X")
      ->check(CLI::Range(0.0, 1.0));
  command
      ->add_option("--exit-margin", arguments->exit_margin,
                   "stop each image when its softmax margin reaches X")
      ->check(CLI::Range(0.0, 1.0))
      ->excludes("--exit-confidence");
  command->add_option("--window-threshold", arguments->window_threshold,
                      "skip each layer at steps where its mean |gamma| is below X");
  command->add_option("--limit", arguments->limit, "use only the first N images; 0: all")
      ->check(not_negative());
  command->add_option("--seed", arguments->seed, "seed of the input spikes; default: the run's");
  command->add_option("--threads", arguments->threads, "number of threads; 0: one per core")
      ->check(not_negative());
  add_cache_option(*command, arguments->cache);
  command->add_option("--predictions", arguments->predictions,
                      "write a CSV file with a row per image: label, prediction, probabilities, "
                      "steps taken");
  command
      ->add_option(
          "--at-steps", arguments->at_steps,
          "also report the accuracy after these numbers of steps, such as 10,20,50, in one pass")
      ->delimiter(',')
      ->check(positive())
      ->excludes("--exit-confidence")
      ->excludes("--exit-margin")
      ->excludes("--window-threshold")
      ->excludes("--predictions");
  command->add_flag("--json", arguments->json, "print JSON");
  command->footer(
      "Example:\n  bntt eval runs/demo --limit 1000 --json\n  bntt eval runs/demo --predictions "
      "predictions.csv\n  bntt eval runs/converted --at-steps 10,20,50,100,200,500");
  command->callback([arguments, &action] { action = [arguments] { return eval(*arguments); }; });
}

}  // namespace bntt::cli
