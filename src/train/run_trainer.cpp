#include "train/run_trainer.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/fail.h"
#include "base/files.h"
#include "base/json.h"
#include "kernels/unpack.h"
#include "model/break_even_values.h"
#include "train/break_even_table.h"
#include "train/epoch_warnings.h"
#include "train/model_card.h"
#include "train/run_settings.h"
#include "train/schedule.h"
#include "train/step_options.h"

namespace bntt {
namespace {

std::vector<double> stage_densities(const Network& network, const Trace& trace) {
  std::vector<double> densities;
  for (std::size_t i = 0; i < trace.stages.size(); ++i) {
    const auto* spikes = std::get_if<SpikeTrain>(&trace.stages[i].output);
    if (spikes == nullptr || network.stages()[i].readout) continue;
    const int64_t fired = kernels::count_spikes(spikes->words().data(), spikes->words().size());
    densities.push_back(
        static_cast<double>(fired) /
        static_cast<double>(spikes->steps() * spikes->batch() * spikes->shape().size()));
  }
  return densities;
}

Json stage_gains(const Network& network) {
  Json gains = Json::object();
  for (std::size_t i = 0; i < network.stages().size(); ++i) {
    if (network.gain(i) != nullptr) gains[network.stages()[i].name] = mean_gain(network, i);
  }
  return gains;
}

}  // namespace

RunTrainer::RunTrainer(RunConfig config, const DatasetSplits& data, RunPaths paths, bool resume,
                       RunLock lock, TrainClock clock)
    : config_(std::move(config)),
      data_(data),
      paths_(std::move(paths)),
      lock_(std::move(lock)),
      split_(split_training(data.train.size(), config_.data.validation)),
      card_(card_of(config_, data)),
      network_(network_of(config_, data.train.shape, data.train.classes),
               static_cast<uint64_t>(config_.train.seed)),
      optimizer_(make_optimizer(network_, optimizer_options(config_.train))) {
  if (split_.train.size() < config_.train.batch) {
    fail("train.batch is {}, expected at most the {} training images", config_.train.batch,
         split_.train.size());
  }
  expect_frames(data.train, active_steps(network_.spec()));
  expect_window_settings(config_.train, network_, constant_input());
  network_.set_precision(config_.train.precision);
  network_.set_break_even(chosen_break_even(config_.train.break_even, network_.stages()));
  const auto* given = std::get_if<std::vector<double>>(&config_.train.break_even);
  if (given == nullptr || given->empty()) {
    config_.train.break_even = break_even_values(network_.break_even());
    card_ = card_of(config_, data_);  // its settings contain the numbers too
  }
  if (!lock_.held()) {
    expect_room_for_run(paths_, resume);
    std::error_code error;
    std::filesystem::create_directories(paths_.directory, error);
    if (error) fail("{}: cannot be created: {}", paths_.directory.string(), error.message());
    lock_ = RunLock(paths_.directory);
  }
  const bool begun = resume && std::filesystem::exists(paths_.checkpoint());
  if (begun) {
    go_on();
  } else {
    begin(resume);
  }
  position_.images = data_.train.size();
  position_.settings = lasting_settings(config_);
  metrics_.emplace(paths_.metrics(), position_.metrics_bytes);
  times_.emplace(paths_.times(), position_.step, clock ? std::move(clock) : process_clock());
  // From here on the run no longer needs the one that it started from.
  if (!begun && taken_) save();
}

void RunTrainer::begin(bool resume) {
  if (!config_.train.from.empty()) {
    taken_ = start_from(load_start(config_.train.from), config_.train.from, network_);
  }
  begin_run_directory(paths_, config_, resume);
}

void RunTrainer::go_on() {
  const std::string origin = paths_.checkpoint().string();
  const TensorFile file = load_checkpoint(paths_, paths_.checkpoint());
  expect_network_of(paths_, config_, checkpoint_network(file, origin));
  unpack_network(file, origin, network_);
  if (network_.quantised()) {
    fail("{}: its weights are int8, which cannot be trained: resume the run that it was made of",
         origin);
  }
  position_ = unpack_training(file, origin, network_, *optimizer_);
  expect_unedited_settings(paths_, position_.settings);
  expect_same_images(origin);
  expect_same_classes(card_in(file, origin).value_or(card_), origin);
  expect_epochs_left();
  change_epochs(paths_, config_.train.epochs);
}

void RunTrainer::expect_epochs_left() const {
  const int64_t begun = position_.epoch + (position_.batch > 0 ? 1 : 0);
  if (config_.train.epochs < begun) {
    fail("{}: train.epochs is {}, but the run is already in epoch {}", paths_.directory.string(),
         config_.train.epochs, begun);
  }
}

// A different number of images means different batches: the run would not continue where it
// stopped, or would look for a batch that does not exist.
void RunTrainer::expect_same_images(const std::string& origin) const {
  const int64_t images = data_.train.size();
  if (position_.images > 0 && position_.images != images) {
    fail("{}: the run was trained with {} training samples of {}, but there are {} now", origin,
         position_.images, config_.data.name, images);
  }
  if (position_.batch > steps_per_epoch()) {
    fail("{}: the run was trained with at least {} training samples of {}, but there are {} now",
         origin, position_.batch * config_.train.batch, config_.data.name, split_.train.size());
  }
}

void RunTrainer::expect_same_classes(const ModelCard& begun, const std::string& origin) const {
  for (std::size_t i = 0; i < std::min(begun.class_names.size(), card_.class_names.size()); ++i) {
    if (begun.class_names[i] == card_.class_names[i]) continue;
    fail("{}: class {} of the run is '{}', but '{}' in {} now", origin, i, begun.class_names[i],
         card_.class_names[i], config_.data.name);
  }
}

int64_t RunTrainer::steps_per_epoch() const { return split_.train.size() / config_.train.batch; }

TrainEnd RunTrainer::run(const TrainHooks& hooks) {
  if (position_.epoch < config_.train.epochs) {
    TrainLoader loader(data_.train, split_.train,
                       {.batch = config_.train.batch,
                        .seed = static_cast<uint64_t>(config_.train.seed),
                        .augmentation = augmentation_of(config_.data)},
                       {.epoch = static_cast<uint32_t>(position_.epoch), .batch = position_.batch});
    while (position_.epoch < config_.train.epochs) {
      train_batch(loader.next(), hooks);
      const bool epoch_done = position_.batch == steps_per_epoch();
      if (epoch_done) finish_epoch(hooks);
      const bool stop = hooks.stop && hooks.stop();
      if (epoch_done || stop || position_.step % config_.run.checkpoint_steps == 0) save();
      if (stop && position_.epoch < config_.train.epochs) return TrainEnd::stopped;
    }
  }
  if (!std::filesystem::exists(paths_.checkpoint())) save();  // a run of zero epochs
  return TrainEnd::finished;
}

void RunTrainer::train_batch(const Batch& batch, const TrainHooks& hooks) {
  const double learning_rate = learning_rate_at(config_.train, position_.step, steps_per_epoch());
  const bool logged = position_.step == 0 || (position_.step + 1) % config_.run.log_steps == 0;
  const bool ends_epoch = position_.batch + 1 == steps_per_epoch();
  const LossOptions loss = loss_options(config_.train);
  TrainingStep step{.encoder = card_.input.encoder,
                    .loss = loss,
                    .seed = static_cast<uint64_t>(config_.train.seed),
                    .epoch = static_cast<uint32_t>(position_.epoch),
                    .learning_rate = learning_rate,
                    .observe = {}};
  if (logged || ends_epoch) {
    step.observe = [&](const Trace& trace) { densities_ = stage_densities(network_, trace); };
  }
  const StepResult result = train_step(batch, step, network_, *optimizer_);
  if (result.diverged) fail_as_diverged(*result.diverged);

  position_.since_log += result.sums;
  position_.since_epoch += result.sums;
  ++position_.batch;
  ++position_.step;
  const StepReport report{.epoch = position_.epoch + 1,
                          .epochs = config_.train.epochs,
                          .batch = position_.batch,
                          .batches = steps_per_epoch(),
                          .step = position_.step,
                          .steps = config_.train.epochs * steps_per_epoch(),
                          .learning_rate = learning_rate,
                          .recent = position_.since_log,
                          .logged = logged};
  if (logged) log_step(learning_rate);
  if (hooks.step) hooks.step(report);
}

void RunTrainer::fail_as_diverged(const NonFinite& diverged) const {
  throw TrainingDiverged(
      fmt::format("{}: {}; try a smaller train.learning_rate than {}", paths_.directory.string(),
                  divergence_text(diverged, position_.epoch + 1, position_.step + 1),
                  config_.train.learning_rate));
}

void RunTrainer::log_step(double learning_rate) {
  metrics_->append(Json{
      {"kind", "step"},
      {"step", position_.step},
      {"epoch", position_.epoch + 1},
      {"loss", position_.since_log.mean_loss()},
      {"accuracy", position_.since_log.accuracy()},
      {"learning_rate", learning_rate},
      {"density",
       densities_}}.dump());
  position_.since_log = {};
}

EvaluateOptions RunTrainer::evaluate_options(const char* what, int64_t images,
                                             const TrainHooks& hooks) const {
  return {.encoder = card_.input.encoder,
          .seed = static_cast<uint64_t>(config_.train.seed),
          .progress = [=, &hooks](int64_t done) {
            if (hooks.evaluating) hooks.evaluating(what, done, images);
            return false;
          }};
}

bool RunTrainer::constant_input() const { return card_.input.encoder.kind == EncoderKind::direct; }

std::optional<WindowSwitch> RunTrainer::learn_windows(int64_t epoch) {
  const auto result =
      switch_steps_off(config_.train, epoch, constant_input(), network_, *optimizer_);
  if (result && result->switched > 0) {
    // The best network so far does more work than the run is to leave.
    position_.best_accuracy = TrainPosition{}.best_accuracy;
    position_.best_epoch = 0;
  }
  return result;
}

void RunTrainer::finish_epoch(const TrainHooks& hooks) {
  EpochReport report{.epoch = position_.epoch + 1, .train = position_.since_epoch};
  report.windows = learn_windows(report.epoch);
  Json line{{"kind", "epoch"},
            {"epoch", report.epoch},
            {"step", position_.step},
            {"train_loss", report.train.mean_loss()},
            {"train_accuracy", report.train.accuracy()}};
  if (report.windows) {
    line["windows"] = {{"threshold", report.windows->threshold},
                       {"switched", report.windows->switched},
                       {"work", report.windows->work}};
  }
  if (split_.validation.size() > 0) {
    const int64_t images = split_.validation.size();
    report.validation = evaluate(network_, data_.train, split_.validation,
                                 evaluate_options("validation", images, hooks));
    line["validation_loss"] = report.validation->sums.mean_loss();
    line["validation_accuracy"] = report.validation->accuracy();
    line["spikes_per_image"] = report.validation->spikes_per_image();
    line["density"] = report.validation->density(network_);
    report.best = report.validation->accuracy() > position_.best_accuracy;
    if (report.best) {
      position_.best_accuracy = report.validation->accuracy();
      position_.best_epoch = report.epoch;
      card_.training.epochs = report.epoch;
      card_.training.validation_accuracy = report.validation->accuracy();
      card_.training.validation_images = images;
      write_tensors(paths_.best(), pack_model(network_, card_));
    }
    line["best"] = report.best;
  }
  report.warnings =
      epoch_warnings(config_.train, network_, report.train,
                     report.validation ? report.validation->density(network_) : densities_);
  if (!report.warnings.empty()) line["warnings"] = report.warnings;
  line["gamma"] = stage_gains(network_);
  metrics_->append(line.dump());
  times_->epoch_done(report.epoch, position_.step);
  ++position_.epoch;
  position_.batch = 0;
  position_.since_epoch = {};
  if (hooks.epoch) hooks.epoch(report);
}

void RunTrainer::save() {
  metrics_->sync();
  times_->checkpoint_next(position_.epoch + 1, position_.step);
  times_->sync();
  position_.metrics_bytes = metrics_->bytes();
  card_.training.epochs = position_.epoch;
  card_.training.validation_accuracy.reset();
  card_.training.validation_images = 0;
  save_checkpoint(paths_, pack_checkpoint(network_, card_, optimizer_.get(), &position_));
}

Evaluation RunTrainer::test(const TrainHooks& hooks) {
  const Network chosen = load_run_network(paths_);
  Evaluation result = evaluate(chosen, data_.test, {0, data_.test.size()},
                               evaluate_options("test", data_.test.size(), hooks));
  metrics_->append(Json{{"kind", "test"},
                        {"weights", position_.best_epoch > 0 ? "best" : "last"},
                        {"images", result.sums.images},
                        {"loss", result.sums.mean_loss()},
                        {"accuracy", result.accuracy()},
                        {"spikes_per_image", result.spikes_per_image()},
                        {"density", result.density(chosen)}}
                       .dump());
  metrics_->sync();
  return result;
}

std::vector<double> mean_gain(const Network& network, std::size_t stage) {
  const Parameter* gain = network.gain(stage);
  const int64_t channels = network.stages()[stage].output.channels;
  std::vector<double> means;
  for (int64_t first = 0; first < gain->value.size(); first += channels) {
    const float* row = gain->value.data() + first;
    means.push_back(std::accumulate(row, row + channels, 0.0) / static_cast<double>(channels));
  }
  return means;
}

}  // namespace bntt
