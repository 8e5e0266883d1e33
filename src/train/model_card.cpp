#include "train/model_card.h"

#include "base/fail.h"
#include "data/class_names.h"
#include "model/old_files.h"
#include "train/evaluate.h"
#include "train/run_settings.h"

namespace bntt {
namespace {

/// `own` are those of the data set itself.
ChannelStatistics statistics_for(const DataConfig& config, const ChannelStatistics& own,
                                 int64_t channels) {
  ChannelStatistics statistics =
      config.normalisation.empty() ? own : dataset_normalisation(config.normalisation);
  if (config.mean) statistics.mean = *config.mean;
  if (config.deviation) statistics.deviation = *config.deviation;
  const auto expect_channels = [&](const std::string& what, const std::vector<float>& values) {
    if (std::ssize(values) != channels) {
      fail("{} has {} channels, expected {}", what, values.size(), channels);
    }
  };
  const bool named = !config.normalisation.empty();
  const std::string source = fmt::format("data.normalisation: '{}'", config.normalisation);
  expect_channels(named && !config.mean ? source : "data.mean", statistics.mean);
  expect_channels(named && !config.deviation ? source : "data.deviation", statistics.deviation);
  return statistics;
}

InputSpec input_of(const RunConfig& config, EncoderSpec encoder) {
  const DatasetOptions options = dataset_options(config);
  return {.encoder = std::move(encoder),
          .seed = static_cast<uint64_t>(config.train.seed),
          .fit = options.fit,
          .events = options.events};
}

TrainingRecord record_of(RunConfig config) {
  // The location of the data and how often files are written are not properties of the model.
  config.data.dir.clear();
  config.run = {};
  return {.data = config.data.name, .settings = to_toml(config)};
}

/// Built from the settings of a run whose files were written by version 0.1.
ModelCard old_run_card(const std::filesystem::path& file, const Network& network) {
  const RunPaths paths{file.parent_path()};
  if (!std::filesystem::exists(paths.settings())) {
    fail(
        "{}: is a file of version 0.1, which does not say how its input is encoded: expected {} "
        "beside it",
        file.string(), paths.settings().filename().string());
  }
  return card_of_settings(read_run_settings(paths), network);
}

const bool kOldFilesAreReadable = set_old_card_reader(old_run_card);

}  // namespace

EncoderSpec encoder_for(const RunConfig& config, const DatasetSplits& data) {
  const EncoderKind kind = config.encoder.kind;
  const bool events = data.train.kind == SampleKind::events;
  if (events != (kind == EncoderKind::events)) {
    fail("encoder.kind is {}, but the data set {} holds {}", encoder_name(kind), config.data.name,
         events ? "event recordings" : "images");
  }
  if (events) return {.kind = kind, .normalisation = {}};
  return {
      .kind = kind,
      .normalisation = statistics_for(config.data, data.normalisation, data.train.shape.channels)};
}

ModelCard card_of(const RunConfig& config, const DatasetSplits& data) {
  return {.input = input_of(config, encoder_for(config, data)),
          .class_names = data.train.class_names,
          .training = record_of(config)};
}

ModelCard card_of_settings(const RunConfig& config, const Network& network) {
  EncoderSpec encoder{.kind = config.encoder.kind, .normalisation = {}};
  if (encoder.kind != EncoderKind::events) {
    const ChannelStatistics own = config.data.name.empty()
                                      ? ChannelStatistics{}
                                      : dataset_info(config.data.name).normalisation;
    encoder.normalisation = statistics_for(config.data, own, network.spec().input.channels);
  }
  return {.input = input_of(config, std::move(encoder)),
          .class_names = {},
          .training = record_of(config)};
}

void fit_data_to_model(const RunModel& model, const std::string& origin, const std::string& name,
                       DatasetSplits& data) {
  const ImageSet& set = data.test.size() > 0 ? data.test : data.train;
  const std::vector<std::string> names =
      model.card ? model.card->class_names : std::vector<std::string>();
  expect_fitting_data(model.network.spec(), set, names, origin, name);
  if (!model.card) return;
  for (ImageSet* split : {&data.train, &data.test}) {
    if (split->size() > 0) match_classes(*split, model.card->class_names, origin);
  }
}

EncoderSpec encoder_for(const RunModel& model, const RunConfig& config, const DatasetSplits& data) {
  return model.card ? model.card->input.encoder : encoder_for(config, data);
}

}  // namespace bntt
