#include "layers/loss.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/fail.h"
#include "base/kinds.h"

namespace bntt {
namespace {

/// The label as a distribution over the classes, smoothed.
struct Target {
  int64_t label = 0;
  double others = 0.0;
  double own = 1.0;

  Target(int64_t of_image, int64_t classes, double smoothing)
      : label(of_image),
        others(smoothing / static_cast<double>(classes)),
        own(1.0 - smoothing + others) {}
  double operator[](int64_t k) const { return k == label ? own : others; }
};

void expect_share(const char* what, double value, bool one_too) {
  if (value >= 0.0 && (value < 1.0 || (one_too && value == 1.0))) return;
  fail("loss: {} is {}, expected 0 {} 1", what, value, one_too ? "to" : "to less than");
}

void expect_fitting(const Buffer<float>& logits, std::span<const int64_t> labels) {
  if (labels.empty() || logits.empty() || logits.size() % std::ssize(labels) != 0) {
    fail("loss: {} logits for {} labels, expected the same number of logits per label",
         logits.size(), labels.size());
  }
  const int64_t classes = logits.size() / std::ssize(labels);
  for (const int64_t label : labels) {
    if (label < 0 || label >= classes) {
      fail("loss: label {} is out of range, expected 0 to {}", label, classes - 1);
    }
  }
}

int64_t count_correct(const Buffer<float>& logits, std::span<const int64_t> labels) {
  const int64_t classes = logits.size() / std::ssize(labels);
  int64_t correct = 0;
  for (int64_t image = 0; image < std::ssize(labels); ++image) {
    const float* z = logits.data() + image * classes;
    correct += std::max_element(z, z + classes) - z == labels[image] ? 1 : 0;
  }
  return correct;
}

Loss of_cross_entropy(const LossOptions& options, const Outputs& outputs,
                      std::span<const int64_t> labels) {
  return cross_entropy(outputs.logits, labels, options.smoothing);
}

/// Σ over batch and classes of (z_k − q_k)², divided by `count`.
Loss squared_distance(const LossOptions& options, const Outputs& outputs,
                      std::span<const int64_t> labels, double count) {
  const Buffer<float>& logits = outputs.logits;
  const int64_t classes = logits.size() / std::ssize(labels);
  Loss result{.correct = count_correct(logits, labels), .gradient = Buffer<float>(logits.size())};
  for (int64_t i = 0; i < logits.size(); ++i) {
    const Target target(labels[i / classes], classes, options.smoothing);
    const double distance = static_cast<double>(logits[i]) - target[i % classes];
    result.loss += distance * distance / count;
    result.gradient[i] = static_cast<float>(2.0 * distance / count);
  }
  return result;
}

// Like PyTorch's MSELoss.
Loss mean_squared_distance(const LossOptions& options, const Outputs& outputs,
                           std::span<const int64_t> labels) {
  return squared_distance(options, outputs, labels, static_cast<double>(outputs.logits.size()));
}

Loss summed_squared_distance(const LossOptions& options, const Outputs& outputs,
                             std::span<const int64_t> labels) {
  return squared_distance(options, outputs, labels, 1.0);
}

// TET (Deng et al. 2022): (1 − η) · mean over the steps of the cross-entropy of each step's output
// + η · mean of (z − φ)². The steps are treated as a larger batch.
Loss of_every_step(const LossOptions& options, const Outputs& outputs,
                   std::span<const int64_t> labels) {
  const Buffer<float>& logits = outputs.step_logits;
  if (logits.empty() || logits.size() % outputs.logits.size() != 0) {
    fail("loss tet: {} logits of steps, expected a multiple of the {} logits", logits.size(),
         outputs.logits.size());
  }
  const int64_t steps = logits.size() / outputs.logits.size();
  std::vector<int64_t> labels_of_steps;
  for (int64_t step = 0; step < steps; ++step) {
    labels_of_steps.insert(labels_of_steps.end(), labels.begin(), labels.end());
  }
  Loss result = cross_entropy(logits, labels_of_steps, options.smoothing);
  result.correct = count_correct(outputs.logits, labels);
  result.of_steps = true;
  const double share = options.tet_share;
  const auto count = static_cast<double>(logits.size());
  double squares = 0.0;
  for (int64_t i = 0; i < logits.size(); ++i) {
    const double distance = static_cast<double>(logits[i]) - options.tet_target;
    squares += distance * distance / count;
    result.gradient[i] =
        static_cast<float>((1.0 - share) * result.gradient[i] + share * 2.0 * distance / count);
  }
  result.loss = (1.0 - share) * result.loss + share * squares;
  return result;
}

constexpr LossEntry kLosses[] = {
    {"cross-entropy", "softmax cross-entropy of the logits (the paper's)", of_cross_entropy},
    {"mse", "mean squared distance of the logits from the one-hot label", mean_squared_distance},
    {"sse", "the squared distance summed over batch and classes (Lee 2020)",
     summed_squared_distance},
    {"tet", "mean of the cross-entropies of the steps, plus a squared distance (TET)",
     of_every_step},
};

}  // namespace

std::span<const LossEntry> loss_table() { return kLosses; }

std::vector<KindInfo> loss_kinds() { return kinds_of<LossEntry>(kLosses); }

const LossEntry& checked_loss(const LossOptions& options) {
  expect_share("the smoothing", options.smoothing, false);
  expect_share("the share of the squared distance", options.tet_share, true);
  if (!std::isfinite(options.tet_target)) {
    fail("loss: the target is {}, expected a finite number", options.tet_target);
  }
  return find_kind<LossEntry>("loss", options.kind, kLosses);
}

Loss loss_of(const LossOptions& options, const Outputs& outputs, std::span<const int64_t> labels) {
  const LossEntry& loss = checked_loss(options);
  expect_fitting(outputs.logits, labels);
  return loss.compute(options, outputs, labels);
}

Loss cross_entropy(const Buffer<float>& logits, std::span<const int64_t> labels, double smoothing) {
  expect_fitting(logits, labels);
  expect_share("the smoothing", smoothing, false);
  const auto batch = static_cast<int64_t>(labels.size());
  const int64_t classes = logits.size() / batch;
  Loss result{.correct = count_correct(logits, labels), .gradient = Buffer<float>(logits.size())};
  for (int64_t image = 0; image < batch; ++image) {
    const Target target(labels[image], classes, smoothing);
    const float* z = logits.data() + image * classes;
    const double largest = *std::max_element(z, z + classes);
    double sum = 0.0;
    double mean = 0.0;  // of z − largest, weighted by the target
    for (int64_t k = 0; k < classes; ++k) {
      const double distance = static_cast<double>(z[k]) - largest;
      sum += std::exp(distance);
      mean += target[k] * distance;
    }
    result.loss += std::log(sum) - mean;
    for (int64_t k = 0; k < classes; ++k) {
      const double probability = std::exp(static_cast<double>(z[k]) - largest) / sum;
      result.gradient[image * classes + k] =
          static_cast<float>((probability - target[k]) / static_cast<double>(batch));
    }
  }
  result.loss /= static_cast<double>(batch);
  return result;
}

}  // namespace bntt
