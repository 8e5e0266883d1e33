#include "analyse/batch_inference.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>

#include "base/check.h"
#include "base/threads.h"
#include "model/step_work.h"
#include "model/stopping.h"

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

/// Of the softmax of scale · logits.
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

bool passes(const InferenceOptions& options, const Answer& answer) {
  switch (options.sample_exit) {
    case SampleExit::none:
      return false;
    case SampleExit::confidence:
      return answer.confidence >= options.limit;
    case SampleExit::margin:
      return answer.margin >= options.limit;
  }
  return false;
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

void record(const Answer& answer, int64_t at, Trajectory& trajectory) {
  trajectory.predictions[at] = static_cast<int32_t>(answer.prediction);
  trajectory.confidence[at] = static_cast<float>(answer.confidence);
  trajectory.margin[at] = static_cast<float>(answer.margin);
}

}  // namespace

/// Images that run together, and where they stand in their batch.
class BatchInference::Group {
 public:
  Group(const BatchInference& of, Batch batch, int64_t first)
      : of_(of), batch_(std::move(batch)), state_{.prepared = of.start_.prepared} {
    of.network_.restart(state_, batch_.size());
    places_.resize(batch_.size());
    std::iota(places_.begin(), places_.end(), first);
  }

  const ChainState& state() const { return state_; }
  const std::vector<int64_t>& places() const { return places_; }

  void advance(const AdvanceOptions& options) {
    const int64_t steps = std::min(of_.steps_per_window(), of_.active_steps_ - state_.steps_done);
    if (of_.encoder_.kind == EncoderKind::direct) {
      if (!constant_input_) constant_input_ = encoded(steps);
      std::get<DenseTrain>(*constant_input_).steps = steps;
      of_.network_.advance(*constant_input_, state_, options);
    } else {
      of_.network_.advance(encoded(steps), state_, options);
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
    return encode(batch_, steps, of_.encoder_, of_.seed_, kEvaluationEpoch, state_.steps_done);
  }

  const BatchInference& of_;
  Batch batch_;
  ChainState state_;
  std::vector<int64_t> places_;
  std::optional<Signal> constant_input_;
};

BatchInference::BatchInference(const Network& network, const EncoderSpec& encoder, uint64_t seed,
                               const InferenceOptions& options)
    : network_(network),
      encoder_(encoder),
      seed_(seed),
      options_(options),
      active_steps_(active_steps_until(network.spec(), options.steps)),
      classes_(classes_of(network.spec())),
      start_(network.start(1)),
      counter_(network, options.windows) {
  BNTT_CHECK(!(options.keep_trajectory && options.sample_exit != SampleExit::none));
}

void add_activity(const Activity& more, Activity& sum) {
  if (more.spikes.empty()) return;
  sum.spikes.resize(more.spikes.size(), std::vector<int64_t>(more.spikes.front().size(), 0));
  for (std::size_t i = 0; i < more.spikes.size(); ++i) {
    std::ranges::transform(more.spikes[i], sum.spikes[i], sum.spikes[i].begin(), std::plus());
  }
  sum.images += more.images;
}

bool BatchInference::step_by_step() const {
  return options_.keep_trajectory || options_.sample_exit != SampleExit::none;
}

int64_t BatchInference::steps_per_window() const {
  return step_by_step() ? 1 : std::min(active_steps_, kStepsPerWindow);
}

int64_t BatchInference::run_steps(int64_t local_steps) const {
  return network_.spec().steps - bntt::active_steps(network_.spec()) + local_steps;
}

// A state that is carried from window to window should stay in cache; where weights are large, a
// few images should share them.
int64_t BatchInference::images_together(int64_t images) const {
  constexpr int64_t kCachedFloats = 1 << 19;
  constexpr int64_t kFewest = 16;
  constexpr int64_t kMost = 64;
  if (active_steps_ <= steps_per_window()) return images;
  const int64_t together = std::clamp(kCachedFloats / neurons_of(network_), kFewest, kMost);
  // As many groups for every thread.
  const int64_t rounds = (images + together * threads() - 1) / (together * threads());
  return images < threads() ? images : (images + rounds * threads() - 1) / (rounds * threads());
}

BatchAnswers BatchInference::run(const Batch& batch) {
  BatchAnswers answers{.predictions = std::vector<int64_t>(batch.size()),
                       .steps_taken = std::vector<int64_t>(batch.size()),
                       .logits = Buffer<float>(batch.size() * classes_),
                       .trajectory = {.first_step = run_steps(1)}};
  if (options_.keep_trajectory) {
    Trajectory& trajectory = answers.trajectory;
    trajectory.steps = active_steps_;
    trajectory.predictions.resize(batch.size() * active_steps_);
    trajectory.confidence.resize(trajectory.predictions.size());
    trajectory.margin.resize(trajectory.predictions.size());
  }
  const Clock::time_point start = Clock::now();
  const int64_t together = images_together(batch.size());
  const int64_t groups = (batch.size() + together - 1) / together;
  std::vector<Activity> activities(static_cast<std::size_t>(groups));
  double counting = 0.0;
  const auto run_one = [&](int64_t i) {
    const int64_t first = i * together;
    return run_group(batch, first, std::min(together, batch.size() - first), activities[i],
                     answers);
  };
  // Where windows are single steps, each thread takes groups of its own, rather than all of them a
  // part of every stage of every step. The loops inside then run on that thread alone.
  const bool apart = groups > 1 || !step_feeds_all_threads(network_, batch.size());
  if (step_by_step() && apart && !options_.count_work) {
    parallel_for(groups, [&](int64_t i) { run_one(i); });
  } else {
    for (int64_t i = 0; i < groups; ++i) counting += run_one(i);
  }
  for (const Activity& activity : activities) add_activity(activity, answers.activity);
  answers.seconds = seconds_since(start) - counting;
  return answers;
}

double BatchInference::run_group(const Batch& batch, int64_t first, int64_t count,
                                 Activity& activity, BatchAnswers& answers) {
  double counting = 0.0;
  AdvanceOptions advance{
      .activity = &activity,
      .windows = &options_.windows,
      .same_input = encoder_.kind == EncoderKind::direct && active_steps_ > steps_per_window()};
  if (options_.count_work) {
    counter_.begin_batch();
    advance.observe = [&](std::size_t stage, int64_t first_step,
                          const std::vector<const Signal*>& inputs, const Signal&) {
      const Clock::time_point start = Clock::now();
      counter_.count(stage, first_step, inputs);
      counting += seconds_since(start);
    };
  }
  std::vector<int64_t> images(static_cast<std::size_t>(count));
  std::iota(images.begin(), images.end(), first);
  Group group(*this, kept(batch, images), first);
  while (!group.places().empty()) {
    group.advance(advance);
    finish_images(group, answers);
  }
  return counting;
}

void BatchInference::finish_images(Group& group, BatchAnswers& answers) const {
  const int64_t done = group.state().steps_done;
  const int64_t taken = run_steps(done);
  const Buffer<float> logits = network_.logits(group.state());
  // The voltage divided by the steps so far, on the scale of a whole run's logits.
  const float judged_scale = static_cast<float>(network_.spec().steps) / static_cast<float>(taken);
  const float final_scale = stopped_logit_scale(network_.spec(), taken);
  std::vector<int64_t> staying;
  for (std::size_t i = 0; i < group.places().size(); ++i) {
    const int64_t place = group.places()[i];
    const std::span<const float> own =
        logits.span().subspan(i * classes_, static_cast<std::size_t>(classes_));
    const Answer answer = answer_of(own, judged_scale);
    if (options_.keep_trajectory)
      record(answer, place * active_steps_ + done - 1, answers.trajectory);
    if (done < active_steps_ && !passes(options_, answer)) {
      staying.push_back(static_cast<int64_t>(i));
      continue;
    }
    answers.predictions[place] = answer.prediction;
    answers.steps_taken[place] = taken;
    for (int64_t k = 0; k < classes_; ++k) {
      answers.logits[place * classes_ + k] = own[k] * final_scale;
    }
  }
  if (staying.size() < group.places().size()) group.keep(staying);
}

}  // namespace bntt
