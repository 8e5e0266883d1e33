#include "analyse/inference.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "data/loader.h"
#include "layers/loss.h"
#include "model/stopping.h"

namespace bntt {
namespace {

/// The softmax of each image's logits.
void append_probabilities(const BatchAnswers& answers, std::vector<float>& probabilities) {
  const auto images = std::ssize(answers.predictions);
  const int64_t classes = answers.logits.size() / images;
  for (int64_t i = 0; i < images; ++i) {
    const float* logits = answers.logits.data() + i * classes;
    const float largest = *std::max_element(logits, logits + classes);
    double sum = 0.0;
    for (int64_t k = 0; k < classes; ++k) sum += std::exp(static_cast<double>(logits[k]) - largest);
    for (int64_t k = 0; k < classes; ++k) {
      const double weight = std::exp(static_cast<double>(logits[k]) - largest);
      probabilities.push_back(static_cast<float>(weight / sum));
    }
  }
}

template <typename T>
void append(const std::vector<T>& more, std::vector<T>& all) {
  all.insert(all.end(), more.begin(), more.end());
}

void append(const Trajectory& more, Trajectory& all) {
  append(more.predictions, all.predictions);
  append(more.confidence, all.confidence);
  append(more.margin, all.margin);
}

void append(const BatchAnswers& answers, const std::vector<int64_t>& labels, Inference& result) {
  append(answers.predictions, result.predictions);
  append(answers.steps_taken, result.steps_taken);
  append(answers.trajectory, result.trajectory);
  add_activity(answers.activity, result.activity);
  result.seconds += answers.seconds;
  const Loss loss = cross_entropy(answers.logits, labels);
  result.sums.loss += loss.loss * static_cast<double>(labels.size());
  result.sums.correct += loss.correct;
  result.sums.images += static_cast<int64_t>(labels.size());
}

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
  BatchInference batches(network, sample.encoder, sample.seed, options);
  expect_frames(sample.images, batches.active_steps());
  Inference result{.steps = batches.run_steps(batches.active_steps())};
  result.trajectory.first_step = batches.run_steps(1);
  result.trajectory.steps = options.keep_trajectory ? batches.active_steps() : 0;
  const EvalLoader loader(sample.images, sample.range,
                          images_per_batch(network, batches.steps_per_window()));
  for (int64_t i = 0; i < loader.batches(); ++i) {
    const Batch batch = loader.batch(i);
    const BatchAnswers answers = batches.run(batch);
    append(answers, batch.labels, result);
    if (options.keep_probabilities) append_probabilities(answers, result.probabilities);
    if (options.progress && options.progress(result.sums.images)) break;
  }
  if (options.count_work) result.work = batches.take_work();
  return result;
}

}  // namespace bntt
