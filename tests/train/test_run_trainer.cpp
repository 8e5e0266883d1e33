#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/json.h"
#include "base/threads.h"
#include "corner_data.h"
#include "fixtures.h"
#include "layers/loss.h"
#include "learn/schedules.h"
#include "small_networks.h"
#include "train/metrics.h"
#include "train/run_settings.h"
#include "train/run_trainer.h"
#include "train/schedule.h"

namespace bntt {
namespace {

using ::testing::AllOf;
using testing::bytes_of;
using testing::corner_data;
using testing::corner_images;
using ::testing::HasSubstr;
using testing::refusal;
using testing::same_numbers;
using testing::small_config;
using ::testing::StartsWith;
using testing::TemporaryDirectory;

constexpr int64_t kAllSteps = 9;

struct RunBytes {
  std::string checkpoint, best, metrics, settings;
  bool operator==(const RunBytes&) const = default;
};

RunBytes read_run(const RunPaths& paths) {
  return {bytes_of(paths.checkpoint()), bytes_of(paths.best()), bytes_of(paths.metrics()),
          bytes_of(paths.settings())};
}

class TrainerRuns : public ::testing::Test {
 protected:
  // Threads that wait for one another crawl when other tests use the cores.
  TrainerRuns() { set_threads(1); }

  RunPaths paths(const std::string& name) const { return {directory_.path() / name}; }

  /// Trains up to `stop_at` steps of the run in all; true when it reached the end.
  bool train(const std::string& name, int64_t stop_at = kAllSteps, bool resume = false) {
    RunTrainer trainer(config_, data_, paths(name), resume);
    TrainHooks hooks;
    int64_t step = trainer.position().step;
    hooks.step = [&](const StepReport& report) { step = report.step; };
    hooks.stop = [&] { return step >= stop_at; };
    if (trainer.run(hooks) == TrainEnd::stopped) return false;
    trainer.test({});
    return true;
  }

  void expect_resumed_like_whole(const std::string& name) {
    ASSERT_TRUE(train("whole" + name));
    ASSERT_FALSE(train("stopped" + name, 5));
    ASSERT_TRUE(train("stopped" + name, kAllSteps, true));
    EXPECT_EQ(read_run(paths("stopped" + name)), read_run(paths("whole" + name)));
  }

  TemporaryDirectory directory_;
  DatasetSplits data_ = corner_data();
  RunConfig config_ = small_config();
};

TEST_F(TrainerRuns, StoppedAtAnyStepAndResumedGiveTheSameBytes) {
  ASSERT_TRUE(train("whole"));
  const RunBytes whole = read_run(paths("whole"));
  ASSERT_FALSE(whole.checkpoint.empty());
  ASSERT_FALSE(whole.best.empty());
  for (int64_t stop = 1; stop < kAllSteps; ++stop) {
    const std::string name = "stopped-" + std::to_string(stop);
    ASSERT_FALSE(train(name, stop));
    EXPECT_NE(bytes_of(paths(name).checkpoint()), whole.checkpoint);
    ASSERT_TRUE(train(name, kAllSteps, true));
    EXPECT_EQ(read_run(paths(name)), whole) << "stopped after step " << stop;
  }
}

TEST_F(TrainerRuns, StoppedAfterEveryStepGiveTheSameBytes) {
  ASSERT_TRUE(train("whole"));
  for (int64_t stop = 1; stop < kAllSteps; ++stop) ASSERT_FALSE(train("halting", stop, stop > 1));
  ASSERT_TRUE(train("halting", kAllSteps, true));
  EXPECT_EQ(read_run(paths("halting")), read_run(paths("whole")));
}

// What happened after the last checkpoint is lost, and its traces in the metrics are cut off.
TEST_F(TrainerRuns, KilledAfterACheckpointGiveTheSameBytes) {
  ASSERT_TRUE(train("whole"));
  ASSERT_FALSE(train("killed", 4));
  std::ofstream(paths("killed").metrics(), std::ios::app)
      << "{\"kind\":\"step\",\"step\":5}\n{\"ki";
  ASSERT_TRUE(train("killed", kAllSteps, true));
  EXPECT_EQ(read_run(paths("killed")), read_run(paths("whole")));
}

TEST_F(TrainerRuns, KilledBeforeTheFirstCheckpointStartAnew) {
  ASSERT_TRUE(train("whole"));
  std::filesystem::create_directory(paths("killed").directory);
  std::ofstream(paths("killed").metrics()) << "{\"kind\":\"step\"}\n";
  ASSERT_TRUE(train("killed", kAllSteps, true));
  EXPECT_EQ(read_run(paths("killed")), read_run(paths("whole")));
}

TEST_F(TrainerRuns, AFinishedRunResumedStaysAsItIs) {
  ASSERT_TRUE(train("whole"));
  const RunBytes whole = read_run(paths("whole"));
  ASSERT_TRUE(train("whole", kAllSteps, true));
  EXPECT_EQ(read_run(paths("whole")), whole);
}

TEST_F(TrainerRuns, ThreadsDoNotChangeTheBytes) {
  ASSERT_TRUE(train("one"));
  set_threads(2);
  ASSERT_TRUE(train("two"));
  EXPECT_EQ(read_run(paths("one")), read_run(paths("two")));
}

TEST_F(TrainerRuns, ThreadsDoNotChangeTheBytesOfTheOtherOptions) {
  config_.train.optimizer = "adam";
  config_.train.learning_rate = 0.01;
  config_.train.schedule = "cosine";
  config_.train.loss = "tet";
  config_.model.dropout = 0.3F;
  config_.model.dropout_per_step = true;
  ASSERT_TRUE(train("one"));
  set_threads(2);
  ASSERT_TRUE(train("two"));
  EXPECT_EQ(read_run(paths("one")), read_run(paths("two")));
}

TEST_F(TrainerRuns, DropoutTrainsAndResumes) {
  ASSERT_TRUE(train("without"));
  config_.model.dropout = 0.4F;
  for (const bool per_step : {false, true}) {
    config_.model.dropout_per_step = per_step;
    expect_resumed_like_whole(std::to_string(static_cast<int>(per_step)));
  }
  EXPECT_NE(read_run(paths("whole0")).metrics, read_run(paths("without")).metrics);
  EXPECT_NE(read_run(paths("whole0")).metrics, read_run(paths("whole1")).metrics);
}

TEST_F(TrainerRuns, TheSeedChangesTheBytes) {
  ASSERT_TRUE(train("one"));
  config_.train.seed = 2;
  ASSERT_TRUE(train("two"));
  EXPECT_NE(read_run(paths("one")).checkpoint, read_run(paths("two")).checkpoint);
}

TEST_F(TrainerRuns, TheBestEpochByValidationIsWritten) {
  config_.train.epochs = 6;
  std::string best_weights;
  int64_t best_epoch = 0;
  double best_accuracy = -1.0;
  {
    RunTrainer trainer(config_, data_, paths("run"), false);
    TrainHooks hooks;
    hooks.epoch = [&](const EpochReport& report) {
      ASSERT_TRUE(report.validation.has_value());
      EXPECT_EQ(report.validation->sums.images, 4);
      EXPECT_EQ(report.best, report.validation->accuracy() > best_accuracy);
      if (!report.best) return;
      best_accuracy = report.validation->accuracy();
      best_epoch = report.epoch;
      best_weights = bytes_of(paths("run").best());
    };
    ASSERT_EQ(trainer.run(hooks), TrainEnd::finished);
    EXPECT_EQ(trainer.position().best_epoch, best_epoch);
    EXPECT_EQ(trainer.position().best_accuracy, best_accuracy);
  }
  EXPECT_EQ(bytes_of(paths("run").best()), best_weights) << "not touched by later epochs";
  const Network chosen = load_run_network(paths("run"));
  const Network last = load_run_network(paths("run"), RunWeights::last);
  EXPECT_EQ(same_numbers(chosen, last), best_epoch == config_.train.epochs);
}

TEST_F(TrainerRuns, WithoutValidationTheLastWeightsCount) {
  config_.data.validation = 0.0;
  RunTrainer trainer(config_, data_, paths("run"), false);
  EXPECT_EQ(trainer.steps_per_epoch(), 4);
  ASSERT_EQ(trainer.run({}), TrainEnd::finished);
  EXPECT_FALSE(std::filesystem::exists(paths("run").best()));
  EXPECT_TRUE(same_numbers(load_run_network(paths("run")), trainer.network()));
}

TEST_F(TrainerRuns, MetricsTellTheWholeRun) {
  ASSERT_TRUE(train("run"));
  const std::vector<Json> steps = read_metrics(paths("run"), "step");
  ASSERT_EQ(steps.size(), 5U);  // the first, then every second
  EXPECT_EQ(steps.front().at("step"), 1);
  EXPECT_EQ(steps.back().at("step"), 8);
  for (const Json& line : steps) {
    EXPECT_GT(line.at("loss").get<double>(), 0.0);
    EXPECT_GE(line.at("accuracy").get<double>(), 0.0);
    EXPECT_LE(line.at("accuracy").get<double>(), 100.0);
    EXPECT_EQ(line.at("density").size(), 4U);
  }
  const std::vector<Json> epochs = read_metrics(paths("run"), "epoch");
  ASSERT_EQ(epochs.size(), 3U);
  EXPECT_EQ(epochs.back().at("step"), kAllSteps);
  EXPECT_EQ(epochs.back().at("gamma").at("conv1").size(), 3U);
  EXPECT_TRUE(epochs.front().at("best").get<bool>());
  const std::vector<Json> tests = read_metrics(paths("run"), "test");
  ASSERT_EQ(tests.size(), 1U);
  EXPECT_EQ(tests.front().at("images"), 10);
}

TEST_F(TrainerRuns, LearnCornersFarAboveChance) {
  config_.train.epochs = 12;
  config_.train.drops = {};
  config_.data.augment_pad = 0;
  config_.data.augment_flip = false;
  ASSERT_TRUE(train("run", 1000));
  EXPECT_GE(read_metrics(paths("run"), "test").front().at("accuracy").get<double>(), 60.0);
}

TEST_F(TrainerRuns, EveryNormTrainsAndResumes) {
  config_.model.norm_shift = true;
  for (const KindInfo& kind : norm_kinds()) {
    config_.model.norm = kind.name;
    expect_resumed_like_whole(kind.name);
  }
}

TEST_F(TrainerRuns, EveryNeuronTrainsAndResumes) {
  config_.model.leak = 0.5F;
  for (const KindInfo& kind : neuron_kinds()) {
    if (kind.name == "relu" || kind.name == "none") continue;
    config_.model.neuron = kind.name;
    expect_resumed_like_whole(kind.name);
  }
}

TEST_F(TrainerRuns, ThreadsDoNotChangeTheBytesOfAnyNeuron) {
  config_.model.leak = 0.5F;
  for (const KindInfo& kind : neuron_kinds()) {
    if (kind.name == "relu" || kind.name == "none") continue;
    config_.model.neuron = kind.name;
    set_threads(1);
    ASSERT_TRUE(train("one" + kind.name));
    set_threads(2);
    ASSERT_TRUE(train("two" + kind.name));
    EXPECT_EQ(read_run(paths("one" + kind.name)), read_run(paths("two" + kind.name))) << kind.name;
  }
}

TEST_F(TrainerRuns, EveryInitTrainsAndResumes) {
  for (const Init init :
       {Init::xavier, Init::he_fan_in, Init::he_fan_out, Init::vgg, Init::pytorch}) {
    config_.model.init = init;
    expect_resumed_like_whole(std::to_string(static_cast<int>(init)));
  }
  EXPECT_NE(read_run(paths("whole0")).checkpoint, read_run(paths("whole1")).checkpoint);
}

// Hybrid training's surrogate and Cao's floor; the gradient of a spike depends on the one before.
TEST_F(TrainerRuns, SpikeTimesAndFloorsTrainAndResume) {
  config_.model.surrogate = SurrogateKind::stdb;
  config_.model.surrogate_decay = 0.2F;
  config_.model.floor = -0.5F;
  config_.model.init = Init::he_fan_in;
  expect_resumed_like_whole("stdb");
  set_threads(2);
  ASSERT_TRUE(train("two"));
  EXPECT_EQ(read_run(paths("two")), read_run(paths("wholestdb")));
}

TEST_F(TrainerRuns, EveryOptimizerTrainsAndResumes) {
  config_.train.learning_rate = 0.01;
  config_.train.clip_norm = 1.0;
  for (const KindInfo& entry : optimizer_kinds()) {
    for (const bool amsgrad : {false, true}) {
      config_.train.optimizer = entry.name;
      config_.train.amsgrad = amsgrad;
      expect_resumed_like_whole(fmt::format("{}{}", entry.name, amsgrad));
    }
  }
}

TEST_F(TrainerRuns, DenseStagesWithARateOfTheirOwnTrainAndResume) {
  config_.train.dense_rate_factor = 0.1;
  expect_resumed_like_whole("tenth");
  config_.train.dense_rate_factor = 1.0;
  ASSERT_TRUE(train("equal"));
  EXPECT_NE(read_run(paths("equal")).checkpoint, read_run(paths("wholetenth")).checkpoint);
  // A rate of 0 keeps the first weights.
  config_.train.dense_rate_factor = 0.0;
  ASSERT_TRUE(train("kept"));
  const Network kept = load_run_network(paths("kept"), RunWeights::last);
  const Network drawn(network_of(config_, data_.train.shape, data_.train.classes),
                      static_cast<uint64_t>(config_.train.seed));
  for (std::size_t i = 0; i < kept.parameters().size(); ++i) {
    const Parameter& parameter = kept.parameters()[i];
    EXPECT_EQ(same_numbers(parameter.value, drawn.parameters()[i].value),
              parameter.name.starts_with("fc"))
        << parameter.name;
  }
}

TEST_F(TrainerRuns, EveryScheduleAndLossTrainsAndResumes) {
  config_.train.label_smoothing = 0.1;
  config_.model.readout_leak = 0.9F;
  config_.model.readout_votes = 3;
  for (std::size_t i = 0; i < std::max(schedule_table().size(), loss_table().size()); ++i) {
    const ScheduleEntry& schedule = schedule_table()[i % schedule_table().size()];
    config_.train.schedule = schedule.name;
    config_.train.warmup_epochs = schedule.warms_up ? 0.5 : 0.0;
    config_.train.loss = loss_table()[i % loss_table().size()].name;
    expect_resumed_like_whole(config_.train.schedule + config_.train.loss);
  }
}

TEST_F(TrainerRuns, EveryEncoderTrainsAndResumes) {
  config_.model.propagation = Propagation::delayed;
  config_.model.steps = 6;
  for (const EncoderKind kind : {EncoderKind::direct, EncoderKind::poisson_unsigned}) {
    config_.encoder.kind = kind;
    expect_resumed_like_whole(std::to_string(static_cast<int>(kind)));
  }
}

TEST_F(TrainerRuns, EveryPrecisionTrainsAndResumes) {
  for (const Precision precision : {Precision::fp32, Precision::mixed, Precision::bf16}) {
    config_.train.precision = precision;
    expect_resumed_like_whole(std::to_string(static_cast<int>(precision)));
  }
}

TEST_F(TrainerRuns, ARunOfNoEpochsLeavesACheckpoint) {
  config_.train.epochs = 0;
  RunTrainer trainer(config_, data_, paths("run"), false);
  EXPECT_EQ(trainer.run({}), TrainEnd::finished);
  EXPECT_TRUE(std::filesystem::exists(paths("run").checkpoint()));
}

TEST_F(TrainerRuns, ADirectoryWithARunIsRefused) {
  ASSERT_FALSE(train("run", 2));
  const RunBytes before = read_run(paths("run"));
  EXPECT_THAT(refusal([&] { RunTrainer(config_, data_, paths("run"), false); }),
              HasSubstr("already holds a run"));
  EXPECT_EQ(read_run(paths("run")), before);
}

TEST_F(TrainerRuns, ARunIsNotResumedWithAnotherNetwork) {
  ASSERT_FALSE(train("run", 2));
  const RunBytes before = read_run(paths("run"));
  config_.model.leak = 0.5F;
  EXPECT_THAT(refusal([&] { RunTrainer(config_, data_, paths("run"), true); }), HasSubstr("leak"));
  EXPECT_EQ(read_run(paths("run")), before);
}

TEST_F(TrainerRuns, ResumedWithoutItsMetricsAreRefused) {
  ASSERT_FALSE(train("run", 5));
  std::ofstream(paths("run").metrics(), std::ios::trunc) << "";
  EXPECT_THAT(refusal([&] { RunTrainer(config_, data_, paths("run"), true); }),
              HasSubstr("metrics.jsonl"));
}

TEST_F(TrainerRuns, WeightsThatAreNotFiniteEndTheRunAndKeepItsCheckpoint) {
  ASSERT_FALSE(train("run", 4));
  const RunBytes before = read_run(paths("run"));
  config_.train.learning_rate = 1e39;  // no float: weights become infinite or nan
  EXPECT_THAT(
      refusal([&] { train("run", kAllSteps, true); }),
      AllOf(StartsWith(paths("run").directory.string() + ": training has diverged: a number"),
            HasSubstr("in epoch 2, step 5; try a smaller train.learning_rate than 1e+39")));
  EXPECT_EQ(read_run(paths("run")), before);
  config_.train.learning_rate = 0.3;
  EXPECT_TRUE(train("run", kAllSteps, true)) << "what is kept can be resumed";
}

TEST_F(TrainerRuns, ALossThatIsNotFiniteEndsTheRunAndKeepsItsCheckpoint) {
  config_.model.neuron = "relu";
  config_.model.norm = "none";
  config_.model.steps = 1;
  config_.encoder.kind = EncoderKind::direct;
  config_.train.learning_rate = 1e-3;
  ASSERT_FALSE(train("run", 4));
  const RunBytes before = read_run(paths("run"));
  config_.data.deviation = {1e-38F};  // sums of such inputs are infinite
  EXPECT_THAT(refusal([&] { train("run", kAllSteps, true); }),
              AllOf(HasSubstr("training has diverged: the loss is nan"),
                    HasSubstr("in epoch 2, step 5; try a smaller train.learning_rate than 0.001")));
  EXPECT_EQ(read_run(paths("run")), before);
}

TEST_F(TrainerRuns, AreNotResumedWithAnotherNumberOfImages) {
  ASSERT_FALSE(train("run", 5));
  const RunBytes before = read_run(paths("run"));
  for (const int64_t images : {8, 15, 17}) {
    data_.train = corner_images(images, 0);
    EXPECT_EQ(
        refusal([&] { RunTrainer(config_, data_, paths("run"), true); }),
        fmt::format("{}: the run was trained with 16 training samples of mnist, but there are "
                    "{} now",
                    paths("run").checkpoint().string(), images));
    EXPECT_EQ(read_run(paths("run")), before);
  }
}

// Checkpoints did not always keep the number.
TEST_F(TrainerRuns, AreNotResumedWithoutTheirNextBatch) {
  ASSERT_FALSE(train("run", 5));
  TensorFile file = load_checkpoint(paths("run"), paths("run").checkpoint());
  Json position = Json::parse(file.metadata.at("bntt.position"));
  position.erase("images");
  file.metadata["bntt.position"] = position.dump();
  write_tensors(paths("run").checkpoint(), file);
  data_.train = corner_images(8, 0);
  EXPECT_THAT(refusal([&] { RunTrainer(config_, data_, paths("run"), true); }),
              HasSubstr("trained with at least 8 training samples of mnist, but there are 6 now"));
  data_ = corner_data();
  EXPECT_TRUE(train("run", kAllSteps, true));
}

// From the present position on, every step has the learning rate of a run of the new length.
TEST_F(TrainerRuns, AnExtendedRunFollowsTheScheduleOfItsNewLength) {
  config_.run.log_steps = 1;
  config_.train.epochs = 2;
  ASSERT_TRUE(train("run"));
  config_.train.epochs = 4;
  ASSERT_TRUE(train("run", 100, true));
  EXPECT_EQ(read_run_settings(paths("run")).train.epochs, 4);
  EXPECT_EQ(read_metrics(paths("run"), "epoch").size(), 4U);
  EXPECT_EQ(read_metrics(paths("run"), "test").size(), 1U) << "that of two epochs is gone";
  const std::vector<Json> steps = read_metrics(paths("run"), "step");
  ASSERT_EQ(steps.size(), 12U);
  for (int64_t step = 6; step < 12; ++step) {
    EXPECT_EQ(steps[step].at("learning_rate"), learning_rate_at(config_.train, step, 3));
  }
}

TEST_F(TrainerRuns, AnExtendedRunStoppedAtAnyStepGivesTheSameBytes) {
  config_.train.epochs = 2;
  ASSERT_TRUE(train("whole"));
  config_.train.epochs = 4;
  ASSERT_TRUE(train("whole", 100, true));
  for (int64_t stop = 6; stop < 12; ++stop) {
    const std::string name = "stopped-" + std::to_string(stop);
    config_.train.epochs = 2;
    ASSERT_TRUE(train(name));
    config_.train.epochs = 4;
    ASSERT_FALSE(train(name, stop, true));
    ASSERT_TRUE(train(name, 100, true));
    EXPECT_EQ(read_run(paths(name)), read_run(paths("whole"))) << "stopped after step " << stop;
  }
}

TEST_F(TrainerRuns, ARunIsNotMadeShorterThanItIs) {
  ASSERT_FALSE(train("run", 5));
  const RunBytes before = read_run(paths("run"));
  config_.train.epochs = 1;
  EXPECT_THAT(refusal([&] { RunTrainer(config_, data_, paths("run"), true); }),
              HasSubstr("train.epochs is 1, but the run is already in epoch 2"));
  EXPECT_EQ(read_run(paths("run")), before);
  config_.train.epochs = 2;
  EXPECT_TRUE(train("run", kAllSteps, true));
}

TEST_F(TrainerRuns, StartedFromAnotherRunTheyBeginWithItsWeights) {
  ASSERT_TRUE(train("source"));
  config_.train.from = paths("source").directory.string();
  config_.train.seed = 7;
  RunTrainer trainer(config_, data_, paths("fine"), false);
  EXPECT_TRUE(same_numbers(trainer.network(), load_run_network(paths("source"))));
  EXPECT_TRUE(same_numbers(load_run_network(paths("fine")), trainer.network()))
      << "a checkpoint is there at once";
  EXPECT_EQ(trainer.position().step, 0);
}

TEST_F(TrainerRuns, StartedFromAnotherRunAndResumedGiveTheSameBytes) {
  ASSERT_TRUE(train("source"));
  config_.train.from = paths("source").directory.string();
  config_.model.steps = 5;
  ASSERT_TRUE(train("whole"));
  const RunBytes whole = read_run(paths("whole"));
  // Killed between run.toml and the first checkpoint: the source is read again.
  std::filesystem::create_directory(paths("killed").directory);
  std::ofstream(paths("killed").settings()) << whole.settings;
  ASSERT_TRUE(train("killed", kAllSteps, true));
  EXPECT_EQ(read_run(paths("killed")), whole);
  // Later it is not needed.
  ASSERT_FALSE(train("stopped", 1));
  std::filesystem::remove_all(paths("source").directory);
  ASSERT_TRUE(train("stopped", kAllSteps, true));
  EXPECT_EQ(read_run(paths("stopped")), whole);
}

TEST_F(TrainerRuns, SettingsThatWereEditedAreRefused) {
  ASSERT_FALSE(train("run", 2));
  const RunConfig begun = read_run_settings(paths("run"));
  RunConfig edited = begun;
  edited.train.learning_rate = 0.05;
  std::ofstream(paths("run").settings()) << to_toml(edited);
  EXPECT_EQ(refusal([&] { RunTrainer(edited, data_, paths("run"), true); }),
            paths("run").settings().string() +
                ": was changed after the run began: train.learning_rate is 0.05, expected 0.3 as "
                "in the checkpoint");
  edited = begun;
  edited.data.dir = "/elsewhere";
  std::ofstream(paths("run").settings()) << to_toml(edited);
  EXPECT_TRUE(train("run", kAllSteps, true)) << "data may move";
}

TEST_F(TrainerRuns, BelongToOneTrainerAtATime) {
  {
    RunTrainer owner(config_, data_, paths("run"), false);
    EXPECT_EQ(refusal([&] { RunTrainer(config_, data_, paths("run"), true); }),
              fmt::format("{}: process {} is working on this run; wait for it to end, or choose "
                          "another directory",
                          paths("run").directory.string(), getpid()));
  }
  EXPECT_FALSE(std::filesystem::exists(paths("run").lock()));
  EXPECT_TRUE(train("run", kAllSteps, true));
}

TEST_F(TrainerRuns, TooFewImagesForABatchAreRefused) {
  config_.train.batch = 13;
  EXPECT_EQ(refusal([&] { RunTrainer(config_, data_, paths("run"), false); }),
            "train.batch is 13, expected at most the 12 training images");
  EXPECT_FALSE(std::filesystem::exists(paths("run").directory));
}

TEST_F(TrainerRuns, AreTheTrainingOfTheLibrarysTrainer) {
  config_.data.validation = 0.0;
  config_.data.augment_pad = 0;
  config_.data.augment_flip = false;
  ASSERT_TRUE(train("run", 1000));  // without validation images an epoch has more steps
  const Model run = Model::load(paths("run").directory);

  const ImageSet& images = data_.train;
  LabelledImages samples({.pixels = {images.pixels.data(), images.pixels.size()},
                          .count = images.size(),
                          .height = images.shape.height,
                          .width = images.shape.width,
                          .channels = images.shape.channels},
                         images.labels);
  Network network(run.network().spec(), static_cast<uint64_t>(config_.train.seed));
  network.set_break_even(run.network().break_even());
  Trainer trainer(std::move(network), run.card().input,
                  {.epochs = config_.train.epochs,
                   .batch = config_.train.batch,
                   .learning_rate = learning_rate_options(config_.train),
                   .precision = config_.train.precision});
  trainer.run(samples);
  EXPECT_TRUE(testing::same_numbers(trainer.network(), run.network()));
}

}  // namespace
}  // namespace bntt
