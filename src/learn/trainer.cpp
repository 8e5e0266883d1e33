#include "bntt/trainer.h"

#include <limits>
#include <optional>
#include <utility>

#include "base/fail.h"
#include "base/shuffle.h"
#include "layers/loss.h"
#include "learn/training_step.h"
#include "model/card_check.h"

namespace bntt {

struct Trainer::State {
  Network network;
  InputSpec input;
  TrainerOptions options;
  std::unique_ptr<Optimizer> optimizer;
  TrainingLength length;
  int64_t samples = 0;  // number in the first call of run; 0: not called yet
  int64_t epoch = 0;
  int64_t batch = 0;  // done in this epoch
  LossSums of_epoch;
  std::vector<int64_t> order;  // of this epoch; empty: not yet drawn
  bool running = false;

  void begin(const Samples& given);
  StepProgress take_step(Samples& given);
  EpochProgress finish_epoch();
};

namespace {

void expect_count(const char* what, int64_t value, int64_t smallest, int64_t largest) {
  if (value >= smallest && value <= largest) return;
  fail("trainer: {} is {}, expected {} to {}", what, value, smallest, largest);
}

// encode checks the contents of a batch, and the loss its labels.
void expect_batch(const Batch& batch, int64_t size, const MapShape& shape) {
  if (batch.size() != size || std::ssize(batch.labels) != size) {
    fail("trainer: a batch has {} ids and {} labels, expected {} of each", batch.sample_ids.size(),
         batch.labels.size(), size);
  }
  if (batch.shape != shape) {
    fail("trainer: a batch has samples of {}x{}x{}, but the network reads {}x{}x{}",
         batch.shape.channels, batch.shape.height, batch.shape.width, shape.channels, shape.height,
         shape.width);
  }
}

/// Sets the flag while a run is in progress.
class RunGuard {
 public:
  explicit RunGuard(bool& flag) : flag_(flag) {
    if (flag) fail("trainer: run was called by one of its own callbacks");
    flag_ = true;
  }
  RunGuard(const RunGuard&) = delete;
  RunGuard& operator=(const RunGuard&) = delete;
  ~RunGuard() { flag_ = false; }

 private:
  bool& flag_;
};

}  // namespace

Trainer::Trainer(Network network, InputSpec input, TrainerOptions options) {
  expect_count("epochs", options.epochs, 0, 1'000'000);
  expect_count("batch", options.batch, 1, 1 << 20);
  const TrainingLength length{.epochs = options.epochs};
  (void)learning_rate_at(options.learning_rate, 0, length);  // throws for invalid options
  (void)checked_loss(options.loss);
  (void)classes_of(network.spec());  // throws for a network that was moved from
  expect_input_fits(input, network.spec());
  network.set_precision(options.precision);
  auto optimizer = make_optimizer(network, options.optimizer);
  state_ = std::make_unique<State>(State{.network = std::move(network),
                                         .input = std::move(input),
                                         .options = std::move(options),
                                         .optimizer = std::move(optimizer),
                                         .length = length});
}

Trainer::Trainer(Trainer&&) noexcept = default;
Trainer& Trainer::operator=(Trainer&&) noexcept = default;
Trainer::~Trainer() = default;

const Trainer::State& Trainer::state() const {
  if (state_ == nullptr) fail("trainer: was moved from");
  return *state_;
}

Trainer::State& Trainer::state() { return const_cast<State&>(std::as_const(*this).state()); }

const Network& Trainer::network() const { return state().network; }
int64_t Trainer::epochs_done() const { return state().epoch; }
int64_t Trainer::steps_done() const { return state().optimizer->steps_done(); }

void Trainer::State::begin(const Samples& given) {
  const int64_t size = given.size();
  expect_count("the number of samples", size, options.batch, std::numeric_limits<uint32_t>::max());
  if (samples != 0 && size != samples) {
    fail("trainer: there are {} samples, but training began with {}", size, samples);
  }
  samples = size;
  length.steps_per_epoch = size / options.batch;
}

StepProgress Trainer::State::take_step(Samples& given) {
  const auto draws_of = static_cast<uint32_t>(epoch);
  if (order.empty()) order = shuffled(0, samples, input.seed, draws_of);
  const auto size = static_cast<std::size_t>(options.batch);
  const auto numbers = std::span(order).subspan(static_cast<std::size_t>(batch) * size, size);
  const Batch taken = given.batch(numbers, draws_of);
  expect_batch(taken, options.batch, network.spec().input);
  const int64_t step = epoch * length.steps_per_epoch + batch;
  const double learning_rate = learning_rate_at(options.learning_rate, step, length);
  const StepResult result = train_step(taken,
                                       {.encoder = input.encoder,
                                        .loss = options.loss,
                                        .seed = input.seed,
                                        .epoch = draws_of,
                                        .learning_rate = learning_rate,
                                        .observe = {}},
                                       network, *optimizer);
  if (result.diverged) {
    throw TrainingDiverged(fmt::format("trainer: {}; try a smaller learning rate than {}",
                                       divergence_text(*result.diverged, epoch + 1, step + 1),
                                       options.learning_rate.learning_rate));
  }
  ++batch;
  of_epoch += result.sums;
  return {.epoch = epoch + 1,
          .epochs = length.epochs,
          .batch = batch,
          .batches = length.steps_per_epoch,
          .step = step + 1,
          .steps = length.epochs * length.steps_per_epoch,
          .learning_rate = learning_rate,
          .sums = result.sums};
}

EpochProgress Trainer::State::finish_epoch() {
  ++epoch;
  batch = 0;
  order.clear();
  return {.epoch = epoch, .epochs = length.epochs, .sums = std::exchange(of_epoch, {})};
}

TrainEnd Trainer::run(Samples& samples, const TrainerCallbacks& callbacks) {
  State& now = state();
  const RunGuard guard(now.running);
  now.begin(samples);
  while (now.epoch < now.length.epochs) {
    const StepProgress progress = now.take_step(samples);
    // Before callbacks, which may throw: training can continue from here whatever they do.
    std::optional<EpochProgress> epoch;
    if (now.batch == now.length.steps_per_epoch) epoch = now.finish_epoch();
    if (callbacks.step) callbacks.step(progress);
    if (epoch && callbacks.epoch) callbacks.epoch(*epoch);
    const bool stop = callbacks.stop && callbacks.stop();
    if (stop && now.epoch < now.length.epochs) return TrainEnd::stopped;
  }
  return TrainEnd::finished;
}

Model Trainer::model(ModelCard card) const {
  card.input = state().input;
  card.training.epochs = state().epoch;
  return {state().network.copy(), std::move(card)};
}

}  // namespace bntt
