#include "analyse/run.h"

#include <algorithm>

#include "train/model_card.h"
#include "train/run_settings.h"

namespace bntt {

OpenRun open_run(const std::filesystem::path& directory, const OpenRunOptions& options) {
  const RunPaths paths{directory};
  RunConfig config = read_run_settings(paths);
  RunModel model = load_run_model(paths, options.weights);
  expect_network_of(paths, config, model.network.spec());
  DatasetOptions wanted = dataset_options(config);
  wanted.need_train = options.need_validation;
  wanted.need_test = true;
  wanted.limit_test = options.limit;
  wanted.cache = options.cache;
  DatasetSplits data =
      open_dataset(config.data.name, options.data.value_or(config.data.dir), wanted);
  fit_data_to_model(model, directory.string(), config.data.name, data);
  SampleRange validation;
  if (options.need_validation) {
    validation = split_training(data.train.size(), config.data.validation).validation;
    if (options.limit > 0) {
      validation.end = std::min(validation.end, validation.begin + options.limit);
    }
  }
  EncoderSpec encoder = encoder_for(model, config, data);
  const auto seed = static_cast<uint64_t>(options.seed.value_or(config.train.seed));
  const SampleRange test{0, data.test.size()};
  return {
      std::move(config), std::move(model.network), std::move(data), std::move(encoder), seed, test,
      validation};
}

bool is_spiking(const Network& network) {
  return std::ranges::any_of(network.stages(), [](const StagePlan& plan) { return plan.spikes(); });
}

}  // namespace bntt
