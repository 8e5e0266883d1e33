#pragma once

#include <cmath>
#include <memory>
#include <ostream>
#include <random>
#include <vector>

#include "layers/norms/norm.h"

namespace bntt::testing {

/// Every norm, by name. A new one is added here and meets the whole contract.
struct NamedNorm {
  const char* name;
  std::string kind;
};
inline void PrintTo(const NamedNorm& norm, std::ostream* out) { *out << norm.name; }
inline const std::vector<NamedNorm>& every_norm() {
  static const std::vector<NamedNorm> norms = {
      {"none", "none"}, {"bntt", "bntt"}, {"bn", "bn"}, {"bn_time", "bn-time"}, {"layer", "layer"}};
  return norms;
}

/// A norm between currents x and outputs y = γ x̂, both [step, batch, pixel, channel], as a stage
/// uses it.
class NormBench {
 public:
  static constexpr int64_t kRunSteps = 4;

  NormBench(std::string kind, int64_t first_step, int64_t steps)
      : norm_(make_norm({.kind = kind, .epsilon = 1e-4F, .momentum = 0.1F}, kChannels, kRunSteps)),
        first_step_(first_step),
        // Two images to a row leave an odd last one.
        split_{steps, 3, 5, kChannels, norm_->per_image() ? 1 : 2},
        random_(7) {
    gain_ = numbers(norm_->gain_rows() * kChannels, 1.0, 0.3);
    const int64_t kept = norm_->statistics_rows() * kChannels;
    running_ = {"norm", norm_->statistics_rows(), Buffer<float>(kept), Buffer<float>(kept)};
    for (float& mean : running_.mean) mean = static_cast<float>(number(0.0, 0.5));
    for (float& variance : running_.variance) variance = static_cast<float>(number(2.0, 0.5));
  }

  const Norm& norm() const { return *norm_; }
  const RowSplit& split() const { return split_; }
  RunningStatistics& running() { return running_; }
  std::vector<double>& gain() { return gain_; }
  int64_t size() const { return split_.steps * split_.batch * split_.pixels * kChannels; }

  double number(double mean, double spread) {
    return std::uniform_real_distribution<double>(mean - spread, mean + spread)(random_);
  }
  std::vector<double> numbers(int64_t count, double mean, double spread) {
    std::vector<double> values(static_cast<std::size_t>(count));
    for (double& value : values) value = number(mean, spread);
    return values;
  }

  RowMoments moments(const std::vector<double>& x) const {
    RowMoments result{split_, Buffer<float>(split_.size()), Buffer<float>(split_.size())};
    for (int64_t step = 0; step < split_.steps; ++step) {
      for (int64_t row = 0; row < split_.rows_per_step(); ++row) {
        for (int64_t c = 0; c < kChannels; ++c) {
          double mean = 0.0;
          double squared = 0.0;
          for_row(step, row, c, [&](int64_t i) { mean += x[i]; });
          mean /= static_cast<double>(split_.samples_in(row));
          for_row(step, row, c, [&](int64_t i) { squared += (x[i] - mean) * (x[i] - mean); });
          result.mean[split_.at(step, row) + c] = static_cast<float>(mean);
          result.squared_deviations[split_.at(step, row) + c] = static_cast<float>(squared);
        }
      }
    }
    return result;
  }

  /// With `running`, which follows the batch when the mode says so.
  NormTrace trace(const std::vector<double>& x, NormMode mode, RunningStatistics& running) const {
    return mode == NormMode::batch ? norm_->from_batch(moments(x), first_step_, running)
                                   : norm_->from_running(moments(x), first_step_, running);
  }
  NormTrace trace(const std::vector<double>& x, NormMode mode) const {
    RunningStatistics copy = running_;
    return trace(x, mode, copy);
  }

  int64_t trace_at(const NormTrace& trace, int64_t step, int64_t image) const {
    return (step * trace.rows_per_step + (trace.rows_per_step > 1 ? image : 0)) * kChannels;
  }
  double unit(const NormTrace& trace, const std::vector<double>& x, int64_t i) const {
    const int64_t at = trace_at(trace, step_of(i), image_of(i)) + i % kChannels;
    return (x[i] - trace.mean[at]) * trace.inverse_deviation[at];
  }
  int64_t gain_at(int64_t i) const {
    const int64_t row = norm_->gain_rows() > 1 ? first_step_ + step_of(i) : 0;
    return row * kChannels + i % kChannels;
  }
  std::vector<double> output(const std::vector<double>& x, NormMode mode) const {
    const NormTrace coefficients = trace(x, mode);
    std::vector<double> y(x.size());
    for (int64_t i = 0; i < size(); ++i) {
      y[i] = unit(coefficients, x, i) * (gain_.empty() ? 1.0 : gain_[gain_at(i)]);
    }
    return y;
  }

  struct Gradients {
    std::vector<double> current;
    std::vector<double> gain;
  };
  /// For ∂L/∂y = `arriving`.
  Gradients backward(const std::vector<double>& x, const std::vector<double>& arriving,
                     NormMode mode) const {
    const NormTrace coefficients = trace(x, mode);
    RowGradientSums sums{split_, Buffer<float>::zeros(split_.size()),
                         Buffer<float>::zeros(split_.size())};
    for (int64_t step = 0; step < split_.steps; ++step) {
      for (int64_t row = 0; row < split_.rows_per_step(); ++row) {
        for (int64_t c = 0; c < kChannels; ++c) {
          double sum = 0.0;
          double sum_unit = 0.0;
          for_row(step, row, c, [&](int64_t i) {
            sum += arriving[i];
            sum_unit += arriving[i] * unit(coefficients, x, i);
          });
          sums.gradient[sums.at(step, row) + c] = static_cast<float>(sum);
          sums.gradient_times_unit[sums.at(step, row) + c] = static_cast<float>(sum_unit);
        }
      }
    }
    const std::vector<float> gain(gain_.begin(), gain_.end());
    std::vector<float> gain_gradient(gain_.size(), 0.0F);
    const NormGradient rows =
        norm_->backward(coefficients, sums, first_step_, mode, gain.data(), gain_gradient.data());
    Gradients result{std::vector<double>(x.size()), {gain_gradient.begin(), gain_gradient.end()}};
    for (int64_t i = 0; i < size(); ++i) {
      const int64_t at = trace_at(coefficients, step_of(i), image_of(i)) + i % kChannels;
      result.current[i] = rows.scale[at] * arriving[i] - rows.slope[at] * unit(coefficients, x, i) -
                          rows.offset[at];
    }
    return result;
  }

  static constexpr int64_t kChannels = 3;

 private:
  int64_t frame() const { return split_.pixels * kChannels; }
  int64_t step_of(int64_t i) const { return i / (split_.batch * frame()); }
  int64_t image_of(int64_t i) const { return i / frame() % split_.batch; }

  template <typename Visit>
  void for_row(int64_t step, int64_t row, int64_t channel, const Visit& visit) const {
    const int64_t first = row * split_.images_per_row;
    for (int64_t image = first; image < first + split_.images_in(row); ++image) {
      for (int64_t pixel = 0; pixel < split_.pixels; ++pixel) {
        visit(((step * split_.batch + image) * split_.pixels + pixel) * kChannels + channel);
      }
    }
  }

  std::unique_ptr<Norm> norm_;
  int64_t first_step_;
  RowSplit split_;
  std::mt19937 random_;
  std::vector<double> gain_;
  RunningStatistics running_;
};

}  // namespace bntt::testing
