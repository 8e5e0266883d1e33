#include <fmt/format.h>

#include "base/fail.h"
#include "base/json.h"
#include "base/threads.h"
#include "command.h"
#include "data_options.h"
#include "interrupt.h"
#include "progress.h"
#include "train/run_settings.h"
#include "train/trainer.h"

namespace bntt::cli {
namespace {

struct EvalArguments {
  std::string run;
  std::optional<std::string> data;
  std::string split = "test";
  std::string weights = "best";
  int64_t steps = 0;
  int64_t limit = 0;
  std::optional<int64_t> seed;
  int threads = 0;
  bool json = false;
  CacheArguments cache;
};

Json report(const Network& network, const Evaluation& result, double images_per_second) {
  Json stages = Json::array();
  const std::vector<double> densities = result.density(network);
  for (std::size_t i = 0; i < densities.size(); ++i) {
    stages.push_back({{"name", network.stages()[i].name},
                      {"density", densities[i]},
                      {"spikes_per_step", result.activity.spikes[i]}});
  }
  return {{"accuracy", result.accuracy()},
          {"images", result.sums.images},
          {"steps", result.steps},
          {"loss", result.sums.mean_loss()},
          {"spikes_per_image", result.spikes_per_image()},
          {"images_per_second", images_per_second},
          {"stages", stages}};
}

int eval(const EvalArguments& arguments) {
  set_threads(arguments.threads);
  const RunPaths paths{arguments.run};
  const RunConfig config = read_run_settings(paths);
  const Network network =
      load_run_network(paths, arguments.weights == "last" ? RunWeights::last : RunWeights::best);
  const bool on_test = arguments.split == "test";
  DatasetOptions options = dataset_options(config);
  options.need_train = !on_test;
  options.need_test = on_test;
  options.limit_train = on_test ? 0 : arguments.limit;
  options.limit_test = on_test ? arguments.limit : 0;
  Progress progress;
  const DatasetSplits data =
      open_run_data(config, arguments.data.value_or(config.data.dir), options, arguments.cache,
                    arguments.json ? nullptr : &progress);
  const ImageSet& images = on_test ? data.test : data.train;
  if (images.shape != network.spec().input || images.classes != classes_of(network.spec())) {
    fail("{}: its network is not for the data set {}", arguments.run, config.data.name);
  }

  catch_interrupts();
  Rate rate;
  int64_t done_before = 0;
  const Evaluation result =
      evaluate(network, images, {0, images.size()},
               {.encoder = encoder_for(config, data),
                .seed = static_cast<uint64_t>(arguments.seed.value_or(config.train.seed)),
                .steps = arguments.steps,
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

  const double speed = rate.per_second();
  if (arguments.json) {
    fmt::print("{}\n", report(network, result, speed).dump(2));
    return kDone;
  }
  progress.line(fmt::format(
      "accuracy {:.2f} % on {} {} images, {} steps, {:.0f} spikes per image, {:.0f} images/s",
      result.accuracy(), result.sums.images, arguments.split, result.steps,
      result.spikes_per_image(), speed));
  const std::vector<double> densities = result.density(network);
  for (std::size_t i = 0; i < densities.size(); ++i) {
    progress.line(fmt::format("  {:<8} {:6.2f} % of neuron-steps fire", network.stages()[i].name,
                              100.0 * densities[i]));
  }
  return kDone;
}

}  // namespace

void add_eval(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("eval", "Measure a trained network; every image is counted");
  auto arguments = std::make_shared<EvalArguments>();
  command->add_option("run", arguments->run, "directory of the run")->required();
  command->add_option("--data", arguments->data, "directory of the data set");
  command->add_option("--split", arguments->split, "test or train")
      ->check(CLI::IsMember({"test", "train"}));
  command->add_option("--weights", arguments->weights, "best (by validation) or last")
      ->check(CLI::IsMember({"best", "last"}));
  command->add_option("--steps", arguments->steps, "stop after N steps; 0: all")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--limit", arguments->limit, "use the first N images")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--seed", arguments->seed, "of the input spikes; default: the run's");
  command->add_option("--threads", arguments->threads, "0: one per core")
      ->check(CLI::NonNegativeNumber);
  add_cache_option(*command, arguments->cache);
  command->add_flag("--json", arguments->json, "print JSON");
  command->footer("Example:\n  bntt eval runs/demo --limit 1000 --json");
  command->callback([arguments, &action] { action = [arguments] { return eval(*arguments); }; });
}

}  // namespace bntt::cli
