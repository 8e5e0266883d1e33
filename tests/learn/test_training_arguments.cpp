// A wrong argument of a public function is an Error. Run under the sanitizers by scripts/check.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "halves.h"

namespace bntt {
namespace {

using testing::direct_input;
using testing::Halves;
using testing::small_network;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

Buffer<float> zeros(int64_t size) { return Buffer<float>::zeros(size); }

TEST(LossArguments, AreChecked) {
  const Buffer<float> logits = zeros(6);
  const Buffer<float> steps = zeros(18);
  const std::vector<int64_t> labels = {0, 2};
  EXPECT_NO_THROW(cross_entropy(logits, labels));
  EXPECT_THROW(cross_entropy(logits, {}), Error);
  EXPECT_THROW(cross_entropy({}, labels), Error);
  EXPECT_THROW(cross_entropy(zeros(5), labels), Error);
  for (const int64_t label : {int64_t{-1}, int64_t{3}, kHuge}) {
    EXPECT_THROW(cross_entropy(logits, std::vector<int64_t>{0, label}), Error) << label;
  }
  for (const double smoothing : {-0.1, 1.0, kNan, kInfinity}) {
    EXPECT_THROW(cross_entropy(logits, labels, smoothing), Error) << smoothing;
  }
  for (const KindInfo& kind : loss_kinds()) {
    EXPECT_NO_THROW(loss_of({.kind = kind.name}, {logits, steps}, labels)) << kind.name;
    EXPECT_THROW(loss_of({.kind = kind.name}, {logits, steps}, {}), Error) << kind.name;
    EXPECT_THROW(loss_of({.kind = kind.name, .smoothing = 2.0}, {logits, steps}, labels), Error);
    EXPECT_THROW(loss_of({.kind = kind.name, .tet_share = -1.0}, {logits, steps}, labels), Error);
    EXPECT_THROW(loss_of({.kind = kind.name, .tet_target = kNan}, {logits, steps}, labels), Error);
  }
  EXPECT_THROW(loss_of({.kind = "tet"}, {logits, {}}, labels), Error);
  EXPECT_THROW(loss_of({.kind = "tet"}, {logits, zeros(7)}, labels), Error);
  EXPECT_THROW(loss_of({.kind = "tets"}, {logits, steps}, labels), Error);
}

TEST(OptimizerArguments, AreChecked) {
  Network network(small_network(), 1);
  const auto refused = [&](auto change) {
    OptimizerOptions options;
    change(options);
    EXPECT_THROW(make_optimizer(network, options), Error);
  };
  refused([](OptimizerOptions& o) { o.kind = "sdg"; });
  for (const double wrong : {-0.1, 1.0, kNan}) {
    refused([&](OptimizerOptions& o) { o.momentum = wrong; });
    refused([&](OptimizerOptions& o) { o.beta1 = wrong; });
    refused([&](OptimizerOptions& o) { o.beta2 = wrong; });
  }
  for (const double wrong : {-1.0, kNan, kInfinity}) {
    refused([&](OptimizerOptions& o) { o.weight_decay = wrong; });
    refused([&](OptimizerOptions& o) { o.clip_norm = wrong; });
    refused([&](OptimizerOptions& o) { o.epsilon = wrong; });
    refused([&](OptimizerOptions& o) { o.dense_rate_factor = wrong; });
  }
  refused([](OptimizerOptions& o) { o.epsilon = 0.0; });

  for (const KindInfo& kind : optimizer_kinds()) {
    const auto optimizer = make_optimizer(network, {.kind = kind.name});
    EXPECT_THROW(optimizer->set_steps_done(-1), Error);
    Network fresh(small_network(), 1);
    EXPECT_THROW(optimizer->step(fresh, 0.1), Error) << "no gradients yet";
    const auto with_gradients = [](Network trained) {
      for (Parameter& parameter : trained.parameters()) {
        parameter.gradient = zeros(parameter.value.size());
      }
      return trained;
    };
    Network ready = with_gradients(Network(small_network(), 1));
    EXPECT_NO_THROW(optimizer->step(ready, 0.1));
    for (const double rate : {-0.1, kNan, kInfinity}) {
      EXPECT_THROW(optimizer->step(ready, rate), Error) << rate;
    }
    NetworkSpec larger = small_network();
    std::get<Dense>(larger.stages[2]).features = 11;
    Network other = with_gradients(Network(larger, 1));
    EXPECT_THROW(optimizer->step(other, 0.1), Error) << "another network";
    optimizer->memories().front().values.pop_back();
    EXPECT_THROW(optimizer->step(ready, 0.1), Error) << "a memory is missing";
    optimizer->memories().clear();
    EXPECT_THROW(optimizer->step(ready, 0.1), Error) << "all are";
  }
}

TEST(LearningRateArguments, AreChecked) {
  const TrainingLength length{.epochs = 10, .steps_per_epoch = 5};
  const auto refused = [&](auto change) {
    LearningRateOptions options;
    change(options);
    EXPECT_THROW(learning_rate_at(options, 0, length), Error);
  };
  using Options = LearningRateOptions;
  refused([](Options& o) { o.schedule = "stairs"; });
  refused([](Options& o) { o.drops = {0.5, 0.5}; });
  refused([](Options& o) { o.drops = {1.0}; });
  refused([](Options& o) { o.drops = {kNan}; });
  refused([](Options& o) { o.drop_factor = 0.0; });
  refused([](Options& o) { o.one_cycle_rise = 1.0; });
  refused([](Options& o) { o.one_cycle_start_divisor = 0.5; });
  refused([](Options& o) { o.one_cycle_end_divisor = kNan; });
  refused([](Options& o) {
    o.schedule = "one-cycle";
    o.warmup_epochs = 1.0;
  });
  for (const double wrong : {-1.0, kNan, kInfinity}) {
    refused([&](Options& o) { o.learning_rate = wrong; });
    refused([&](Options& o) { o.final_learning_rate = wrong; });
    refused([&](Options& o) { o.cosine_epochs = wrong; });
    refused([&](Options& o) { o.warmup_epochs = wrong; });
  }
  EXPECT_THROW(learning_rate_at({}, -1, length), Error);
  EXPECT_THROW(learning_rate_at({}, 0, {.epochs = -1}), Error);
  EXPECT_THROW(learning_rate_at({}, 0, {.epochs = 1, .steps_per_epoch = 0}), Error);
  for (const KindInfo& kind : schedule_kinds()) {
    for (const int64_t step : {int64_t{0}, int64_t{49}, int64_t{50}, kHuge}) {
      EXPECT_TRUE(std::isfinite(learning_rate_at({.schedule = kind.name}, step, length)));
    }
  }
}

TEST(SampleArguments, AreChecked) {
  const Halves halves(4);
  const auto refused = [&](auto change) {
    Images images = halves.images();
    std::vector<int64_t> labels = halves.labels;
    change(images, labels);
    EXPECT_THROW(LabelledImages(images, labels), Error);
  };
  refused([](Images&, auto& labels) { labels.pop_back(); });
  refused([](Images&, auto& labels) { labels[0] = -1; });
  refused([](Images& images, auto&) { images.count = 0; });
  refused([](Images& images, auto&) { images.count = kHuge; });
  refused([](Images& images, auto&) { images.width = kHuge; });
  refused([](Images& images, auto&) { images.height = -8; });
  refused([](Images& images, auto&) { images.channels = 0; });
  refused([](Images& images, auto&) { images.pixels = {}; });
  LabelledImages samples(halves.images(), halves.labels);
  for (const int64_t number : {int64_t{-1}, int64_t{4}, kHuge}) {
    EXPECT_THROW(samples.batch(std::vector<int64_t>{number}, 0), Error) << number;
  }
  EXPECT_EQ(samples.batch({}, 0).size(), 0);
}

/// Gives the batch that a test wants.
class WrongSamples final : public Samples {
 public:
  WrongSamples(LabelledImages& images, std::function<void(Batch&)> change)
      : images_(images), change_(std::move(change)) {}
  int64_t size() const override { return images_.size(); }
  Batch batch(std::span<const int64_t> samples, uint32_t epoch) override {
    Batch batch = images_.batch(samples, epoch);
    change_(batch);
    return batch;
  }

 private:
  LabelledImages& images_;
  std::function<void(Batch&)> change_;
};

TEST(TrainerArguments, AreChecked) {
  const auto refused = [](auto change) {
    InputSpec input = direct_input();
    TrainerOptions options;
    change(input, options);
    EXPECT_THROW(Trainer(Network(small_network(), 1), input, options), Error);
  };
  refused([](InputSpec&, TrainerOptions& o) { o.epochs = -1; });
  refused([](InputSpec&, TrainerOptions& o) { o.epochs = kHuge; });
  refused([](InputSpec&, TrainerOptions& o) { o.batch = 0; });
  refused([](InputSpec&, TrainerOptions& o) { o.batch = kHuge; });
  refused([](InputSpec&, TrainerOptions& o) { o.loss.kind = ""; });
  refused([](InputSpec&, TrainerOptions& o) { o.precision = static_cast<Precision>(9); });
  refused([](InputSpec&, TrainerOptions& o) { o.optimizer.kind = ""; });
  refused([](InputSpec&, TrainerOptions& o) { o.learning_rate.schedule = ""; });
  refused([](InputSpec& input, TrainerOptions&) { input.encoder.normalisation.mean.clear(); });
  refused(
      [](InputSpec& input, TrainerOptions&) { input.encoder.kind = static_cast<EncoderKind>(99); });
}

TEST(TrainerArguments, SamplesAreChecked) {
  const Halves halves(8);
  LabelledImages right(halves.images(), halves.labels);
  const TrainerOptions options{.epochs = 1, .batch = 4};
  const auto trainer = [&] {
    return Trainer(Network(small_network(), 1), direct_input(), options);
  };
  const auto refused = [&](std::function<void(Batch&)> change) {
    WrongSamples wrong(right, std::move(change));
    Trainer trained = trainer();
    EXPECT_THROW(trained.run(wrong), Error);
    EXPECT_EQ(trained.run(right), TrainEnd::finished) << "training can go on";
  };
  refused([](Batch& batch) { batch.labels.pop_back(); });
  refused([](Batch& batch) { batch.labels[1] = 2; });
  refused([](Batch& batch) { batch.labels[1] = -1; });
  refused([](Batch& batch) { batch.sample_ids.push_back(1); });
  refused([](Batch& batch) { batch.shape.width = 7; });
  refused([](Batch& batch) { batch.images = Buffer<float>(3); });
  refused([](Batch& batch) { batch = Batch{}; });

  const Halves few(3);
  LabelledImages too_few(few.images(), few.labels);
  Trainer trained = trainer();
  EXPECT_THROW(trained.run(too_few), Error);
  const Halves more(12);
  LabelledImages others(more.images(), more.labels);
  EXPECT_EQ(trained.run(right), TrainEnd::finished);
  EXPECT_THROW(trained.run(others), Error) << "not as many as before";
  EXPECT_THROW(trained.model({.class_names = {"one"}}), Error);

  Trainer nested = trainer();
  const TrainerCallbacks calls_run{.step = [&](const StepProgress&) { nested.run(right); }};
  EXPECT_THROW(nested.run(right, calls_run), Error);

  Trainer moved = std::move(nested);
  EXPECT_THROW(nested.run(right), Error);  // NOLINT(bugprone-use-after-move)
  EXPECT_THROW((void)nested.network(), Error);
  EXPECT_EQ(moved.run(right), TrainEnd::finished);
}

}  // namespace
}  // namespace bntt
