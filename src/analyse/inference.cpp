#include "analyse/inference.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>

#include "base/check.h"
#include "data/loader.h"
#include "layers/loss.h"

namespace bntt {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Answer {
  int64_t prediction = 0;
  double confidence = 0.0;
  double margin = 0.0;
};

/// Based on the softmax of scale · logits.
Answer answer_of(std::span<const float> logits, float scale) {
  const auto largest = std::ranges::max_element(logits);
  double sum = 0.0;
  double second = 0.0;
  for (auto z = logits.begin(); z != logits.end(); ++z) {
    const double weight = std::exp(static_cast<double>(scale) * (*z - *largest));
    sum += weight;
    if (z != largest) second = std::max(second, weight);
  }
  return {largest - logits.begin(), 1.0 / sum, (1.0 - second) / sum};
}

Batch kept(const Batch& batch, std::span<const int64_t> images) {
  Batch result{.shape = batch.shape, .frames = batch.frames};
  for (const int64_t image : images) {
    result.sample_ids.push_back(batch.sample_ids[image]);
    result.labels.push_back(batch.labels[image]);
  }
  const auto keep = [&](const auto& from, auto& to) {
    const int64_t size = from.size() / batch.size();
    to = std::remove_cvref_t<decltype(to)>(result.size() * size);
    for (int64_t i = 0; i < result.size(); ++i) {
      std::copy_n(from.data() + images[i] * size, size, to.data() + i * size);
    }
  };
  keep(batch.images, result.images);
  keep(batch.counts, result.counts);
  return result;
}

/// The images of one batch that are still running, and their positions in it.
class RunningBatch {
 public:
  RunningBatch(const Network& network, const Sample& sample, Batch batch, int64_t window,
               int64_t active_steps, ChainState& state)
      : network_(network),
        sample_(sample),
        batch_(std::move(batch)),
        window_(window),
        active_steps_(active_steps),
        state_(state),
        places_(batch_.size()) {
    network.restart(state_, batch_.size());
    std::iota(places_.begin(), places_.end(), 0);
  }

  const ChainState& state() const { return state_; }
  const std::vector<int64_t>& places() const { return places_; }

  void advance(const AdvanceOptions& options) {
    const int64_t steps = std::min(window_, active_steps_ - state_.steps_done);
    if (sample_.encoder.kind == EncoderKind::direct) {
      if (!constant_input_) constant_input_ = encoded(steps);
      std::get<DenseTrain>(*constant_input_).steps = steps;
      network_.advance(*constant_input_, state_, options);
    } else {
      network_.advance(encoded(steps), state_, options);
    }
  }

  void keep(const std::vector<int64_t>& images) {
    if (images.empty()) {
      places_.clear();
      return;
    }
    keep_images(state_, images);
    batch_ = kept(batch_, images);
    if (constant_input_) constant_input_ = keep_images(*constant_input_, images);
    std::vector<int64_t> places;
    for (const int64_t image : images) places.push_back(places_[image]);
    places_ = std::move(places);
  }

 private:
  Signal encoded(int64_t steps) const {
    return encode(batch_, steps, sample_.encoder, sample_.seed, kEvaluationEpoch,
                  state_.steps_done);
  }

  const Network& network_;
  const Sample& sample_;
  Batch batch_;
  int64_t window_;
  int64_t active_steps_;
  ChainState& state_;
  std::vector<int64_t> places_;
  std::optional<Signal> constant_input_;
};

/// One call of infer.
class InferenceRun {
 public:
  InferenceRun(const Network& network, const Sample& sample, const InferenceOptions& options)
      : network_(network),
        sample_(sample),
        options_(options),
        active_steps_(active_steps_until(network.spec(), options.steps)),
        classes_(classes_of(network.spec())),
        state_(network.start(1)),
        counter_(network, options.windows) {
    BNTT_CHECK(!(options.keep_trajectory && options.sample_exit != SampleExit::none));
    expect_frames(sample.images, active_steps_);
    result_.steps = run_steps(active_steps_);
    result_.trajectory.first_step = run_steps(1);
    result_.trajectory.steps = options.keep_trajectory ? active_steps_ : 0;
  }

  Inference run() {
    const int64_t window = step_by_step() ? 1 : std::min(active_steps_, kStepsPerWindow);
    const EvalLoader loader(sample_.images, sample_.range, images_per_batch(network_, window));
    for (int64_t i = 0; i < loader.batches(); ++i) {
      run_batch(loader.batch(i), window);
      if (options_.progress && options_.progress(result_.sums.images)) break;
    }
    if (options_.count_work) result_.work = counter_.take();
    return std::move(result_);
  }

 private:
  bool step_by_step() const {
    return options_.keep_trajectory || options_.sample_exit != SampleExit::none;
  }
  int64_t run_steps(int64_t local_steps) const {
    return network_.spec().steps - active_steps(network_.spec()) + local_steps;
  }

  void run_batch(Batch batch, int64_t window) {
    const std::vector<int64_t> labels = batch.labels;
    final_logits_ = Buffer<float>(static_cast<int64_t>(labels.size()) * classes_);
    first_image_ = static_cast<int64_t>(result_.predictions.size());
    result_.predictions.resize(first_image_ + labels.size());
    result_.steps_taken.resize(first_image_ + labels.size());
    if (options_.keep_trajectory) extend_trajectory(labels.size());
    counter_.begin_batch();

    double counting = 0.0;
    AdvanceOptions advance{.activity = &result_.activity,
                           .windows = &options_.windows,
                           .same_input = sample_.encoder.kind == EncoderKind::direct};
    if (options_.count_work) {
      advance.observe = [&](std::size_t stage, int64_t first,
                            const std::vector<const Signal*>& inputs, const Signal&) {
        const Clock::time_point start = Clock::now();
        counter_.count(stage, first, inputs);
        counting += seconds_since(start);
      };
    }
    const Clock::time_point start = Clock::now();
    RunningBatch running(network_, sample_, std::move(batch), window, active_steps_, state_);
    while (!running.places().empty()) {
      running.advance(advance);
      finish_images(running);
    }
    result_.seconds += seconds_since(start) - counting;

    if (options_.keep_probabilities) append_probabilities(labels.size());
    const Loss loss = cross_entropy(final_logits_, labels);
    result_.sums.loss += loss.loss * static_cast<double>(labels.size());
    result_.sums.correct += loss.correct;
    result_.sums.images += static_cast<int64_t>(labels.size());
  }

  void append_probabilities(std::size_t images) {
    for (std::size_t i = 0; i < images; ++i) {
      const float* logits = final_logits_.data() + static_cast<int64_t>(i) * classes_;
      const float largest = *std::max_element(logits, logits + classes_);
      double sum = 0.0;
      for (int64_t k = 0; k < classes_; ++k) {
        sum += std::exp(static_cast<double>(logits[k]) - largest);
      }
      for (int64_t k = 0; k < classes_; ++k) {
        const double weight = std::exp(static_cast<double>(logits[k]) - largest);
        result_.probabilities.push_back(static_cast<float>(weight / sum));
      }
    }
  }

  void extend_trajectory(std::size_t images) {
    const auto size = (first_image_ + images) * result_.trajectory.steps;
    result_.trajectory.predictions.resize(size);
    result_.trajectory.confidence.resize(size);
    result_.trajectory.margin.resize(size);
  }

  void finish_images(RunningBatch& running) {
    const int64_t done = running.state().steps_done;
    const int64_t taken = run_steps(done);
    const Buffer<float> logits = network_.logits(running.state());
    // The voltage divided by the steps so far, on the scale of a whole run's logits.
    const float judged_scale =
        static_cast<float>(network_.spec().steps) / static_cast<float>(taken);
    const float final_scale = stopped_logit_scale(network_.spec(), taken);
    std::vector<int64_t> staying;
    for (std::size_t i = 0; i < running.places().size(); ++i) {
      const int64_t place = running.places()[i];
      const std::span<const float> own =
          logits.span().subspan(i * classes_, static_cast<std::size_t>(classes_));
      const Answer answer = answer_of(own, judged_scale);
      if (options_.keep_trajectory) record(first_image_ + place, done - 1, answer);
      if (done < active_steps_ && !passes(answer)) {
        staying.push_back(static_cast<int64_t>(i));
        continue;
      }
      result_.predictions[first_image_ + place] = answer.prediction;
      result_.steps_taken[first_image_ + place] = taken;
      for (int64_t k = 0; k < classes_; ++k) {
        final_logits_[place * classes_ + k] = own[k] * final_scale;
      }
    }
    if (staying.size() < running.places().size()) running.keep(staying);
  }

  bool passes(const Answer& answer) const {
    switch (options_.sample_exit) {
      case SampleExit::none:
        return false;
      case SampleExit::confidence:
        return answer.confidence >= options_.limit;
      case SampleExit::margin:
        return answer.margin >= options_.limit;
    }
    return false;
  }

  void record(int64_t image, int64_t step, const Answer& answer) {
    Trajectory& trajectory = result_.trajectory;
    const int64_t at = image * trajectory.steps + step;
    trajectory.predictions[at] = static_cast<int32_t>(answer.prediction);
    trajectory.confidence[at] = static_cast<float>(answer.confidence);
    trajectory.margin[at] = static_cast<float>(answer.margin);
  }

  const Network& network_;
  const Sample& sample_;
  const InferenceOptions& options_;
  int64_t active_steps_;
  int64_t classes_;
  ChainState state_;
  WorkCounter counter_;
  Inference result_;
  Buffer<float> final_logits_;  // [image of the batch, class]
  int64_t first_image_ = 0;     // of the batch, in the result
};

}  // namespace

double Inference::mean_steps() const {
  const int64_t sum = std::accumulate(steps_taken.begin(), steps_taken.end(), int64_t{0});
  return steps_taken.empty() ? 0.0
                             : static_cast<double>(sum) / static_cast<double>(steps_taken.size());
}

double Inference::ms_per_image() const {
  return sums.images > 0 ? 1000.0 * seconds / static_cast<double>(sums.images) : 0.0;
}

Inference infer(const Network& network, const Sample& sample, const InferenceOptions& options) {
  return InferenceRun(network, sample, options).run();
}

}  // namespace bntt
