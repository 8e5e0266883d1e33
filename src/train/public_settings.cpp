#include "base/fail.h"
#include "base/files.h"
#include "bntt/data/settings.h"
#include "model/break_even_values.h"
#include "train/break_even_table.h"
#include "train/config.h"
#include "train/model_card.h"
#include "train/presets.h"
#include "train/run_settings.h"
#include "train/schedule.h"
#include "train/step_options.h"

namespace bntt {

struct Settings::Contents {
  RunConfig config;
  bool of_run = false;  // read from a run, which keeps its number of steps
};

Settings::Settings() : Settings(Contents{}) {}
Settings::Settings(Contents contents)
    : contents_(std::make_unique<Contents>(std::move(contents))) {}
Settings::Settings(const Settings& other) : Settings(*other.contents_) {}
Settings& Settings::operator=(const Settings& other) {
  *contents_ = Contents(*other.contents_);
  return *this;
}
Settings::~Settings() = default;

Settings Settings::read(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    return Settings(Contents{.config = read_run_settings({path}), .of_run = true});
  }
  return from_toml(read_text(path), path.string());
}

Settings Settings::from_toml(std::string_view text, const std::string& origin) {
  return Settings(Contents{.config = config_from_toml(text, origin)});
}

Settings Settings::preset(std::string_view name) {
  return from_toml(preset_text(name), "preset " + std::string(name));
}

std::vector<std::string> Settings::preset_names() { return bntt::preset_names(); }

NetworkSpec Settings::network_from_toml(const std::string& text, const std::string& origin) {
  return bntt::network_from_toml(text, origin);
}

std::string Settings::network_to_toml(const NetworkSpec& spec) { return bntt::to_toml(spec); }

void Settings::set(std::string_view setting) {
  apply_setting(contents_->config, setting, "settings");
}

std::string Settings::to_toml() const { return bntt::to_toml(contents_->config); }

Dataset Settings::open_data(const std::filesystem::path& directory,
                            const std::filesystem::path& cache) {
  RunConfig config = contents_->config;
  if (config.data.name.empty()) fail("settings: data.name is missing");
  if (!directory.empty()) config.data.dir = std::filesystem::absolute(directory).string();
  if (config.data.bin_us > 0 && !contents_->of_run) set_steps(config, steps_of_bins(config));
  DatasetOptions options = dataset_options(config);
  options.cache.directory = cache;
  Dataset data(open_dataset(config.data.name, config.data.dir, options));
  keep_measured_statistics(data.splits(), config);
  const NetworkSpec spec = network_of(config, data.shape(), data.classes());
  config.train.break_even =
      break_even_values(chosen_break_even(config.train.break_even, plan_stages(spec)));
  (void)encoder_for(config, data.splits());  // throws if it does not fit
  contents_->config = std::move(config);
  return data;
}

namespace {

TrainingSplit split_of(const RunConfig& config) {
  const AugmentationSpec changes = augmentation_of(config.data);
  return {.validation = config.data.validation,
          .pad = changes.pad,
          .flip = changes.flip,
          .cutout = changes.cutout,
          .seed = static_cast<uint64_t>(config.train.seed)};
}

}  // namespace

DatasetSamples Settings::training_samples(const Dataset& data) const {
  return data.train(split_of(contents_->config));
}

DatasetSamples Settings::validation_samples(const Dataset& data) const {
  return data.validation(split_of(contents_->config));
}

Network Settings::network(const Dataset& data) const {
  const RunConfig& config = contents_->config;
  Network network(network_of(config, data.shape(), data.classes()),
                  static_cast<uint64_t>(config.train.seed));
  network.set_break_even(chosen_break_even(config.train.break_even, network.stages()));
  network.set_precision(config.train.precision);
  return network;
}

ModelCard Settings::card(const Dataset& data) const {
  return card_of(contents_->config, data.splits());
}

TrainerOptions Settings::trainer_options() const {
  const TrainConfig& train = contents_->config.train;
  const auto refuse = [](const char* key) {
    fail("settings: a Trainer does not support {}: use bntt train", key);
  };
  if (!train.from.empty()) refuse("train.from");
  if (train.window_threshold) refuse("train.window_threshold");
  if (train.window_work) refuse("train.window_work");
  return {.epochs = train.epochs,
          .batch = train.batch,
          .loss = loss_options(train),
          .optimizer = optimizer_options(train),
          .learning_rate = learning_rate_options(train),
          .precision = train.precision};
}

}  // namespace bntt
