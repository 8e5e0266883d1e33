#include "bench/our_engine.h"

#include <algorithm>
#include <chrono>

#include "base/threads.h"
#include "layers/loss.h"

namespace bntt::bench {
namespace {

/// Adds the seconds of its lifetime.
class Seconds {
 public:
  explicit Seconds(double& sum) : sum_(sum) {}
  Seconds(const Seconds&) = delete;
  Seconds& operator=(const Seconds&) = delete;
  ~Seconds() {
    sum_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  double& sum_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

OurEngine::OurEngine(const Job& job)
    : job_(job), workload_(unpack_workload(job.network, job.images)), sgd_(workload_.network, {}) {
  set_threads(static_cast<int>(job.threads));
  if (job.kind != Kind::infer) return;
  const Network& network = workload_.network;
  state_ = network.start(job.batch);
  if (job.rule == Rule::windows) rule_.windows = band_windows(network, job.share);
  if (job.rule == Rule::at_rest) rule_.windows = closed_windows(network);
  if (job.rule == Rule::sample_exit) {
    const Batch images = slice(workload_.images, 0, images_per_unit(job.kind, job.batch));
    rule_.sample_exit = SampleExit::confidence;
    rule_.limit = exit_limit(workload_, images, job.share);
    leaving_.emplace(network, workload_.encoder, kSeed, rule_);
  }
}

void OurEngine::warm_up() {
  run_unit();
  fastest_ = {};
}

void OurEngine::run_unit() {
  now_ = {.whole = 0.0};
  {
    const Seconds timer(now_.whole);
    const StageClock clock;
    if (job_.kind == Kind::train) {
      train();
    } else {
      infer();
    }
    now_.stages = clock.seconds();
  }
  if (now_.whole < fastest_.whole) fastest_ = std::move(now_);
}

Signal OurEngine::encode_timed(const Batch& batch) {
  const Seconds timer(now_.encode);
  return encode(batch, active_steps(workload_.network.spec()), workload_.encoder, kSeed,
                kEvaluationEpoch);
}

void OurEngine::train() {
  Network& network = workload_.network;
  const Batch batch = slice(workload_.images, 0, job_.batch);
  network.set_precision(job_.precision);
  Trace trace = network.forward(encode_timed(batch), NormMode::batch, Keep::for_backward);
  Loss loss;
  {
    const Seconds timer(now_.loss);
    loss = cross_entropy(trace.logits, batch.labels);
  }
  if (density_.stages.empty()) {
    density_ = density_of(network, trace);
    input_ = trace.input;
  }
  network.backward(std::move(trace), loss.gradient);
  {
    const Seconds timer(now_.sgd);
    sgd_.step(network, 0.0);
  }
}

void OurEngine::infer() {
  const Network& network = workload_.network;
  const int64_t images = images_per_unit(job_.kind, job_.batch);
  const bool counting = density_.stages.empty();
  Activity activity;
  for (int64_t first = 0; first < images; first += job_.batch) {
    infer(slice(workload_.images, first, job_.batch), counting ? &activity : nullptr);
  }
  if (!counting) return;
  density_ = density_of(network, activity);
  mean_steps_ /= static_cast<double>(images);
}

void OurEngine::infer(const Batch& batch, Activity* activity) {
  const Network& network = workload_.network;
  if (!leaving_) {
    Signal input = encode_timed(batch);
    network.restart(state_, job_.batch);
    network.advance(input, state_, AdvanceOptions{.activity = activity, .windows = &rule_.windows});
    network.logits(state_);
    input_ = std::move(input);
    return;
  }
  const BatchAnswers answers = leaving_->run(batch);
  if (activity == nullptr) return;
  add_activity(answers.activity, *activity);
  for (const int64_t steps : answers.steps_taken) mean_steps_ += static_cast<double>(steps);
  input_ = encode_timed(batch);
}

Json OurEngine::report() const {
  // From the fastest unit, whose rate is reported: means would not add up to it.
  std::vector<StageCost> stages = stage_costs(workload_.network, fastest_.stages, density_, input_,
                                              images_per_unit(job_.kind, job_.batch));
  const auto add = [&](const char* name, double seconds) {
    stages.push_back({.name = name, .phases = {{.name = name, .seconds = seconds}}});
  };
  add("encode", fastest_.encode);
  if (job_.kind == Kind::train) {
    add("loss", fastest_.loss);
    add("sgd", fastest_.sgd);
  }
  return {
      {"density", density_.mean}, {"mean_steps", mean_steps_}, {"stages", write_fields(stages)}};
}

}  // namespace bntt::bench
