#pragma once

#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "bntt/norm.h"

namespace bntt::testing {

/// A norm between currents x and outputs y, both [step, batch, pixel, channel], as a stage uses it.
/// Its parameters and running statistics are those that it declares.
class NormBench {
 public:
  static constexpr int64_t kRunSteps = 4;
  static constexpr int64_t kChannels = 3;

  /// With β wherever the norm has an affine map.
  NormBench(const std::string& kind, int64_t first_step, int64_t steps)
      : norm_(make_norm({.kind = kind, .shift = kind != "none", .alpha = 0.7F},
                        {.channels = kChannels, .run_steps = kRunSteps, .threshold = 0.8F})),
        first_step_(first_step),
        // Two images to a row leave an odd last one.
        split_{steps, 3, 5, kChannels, norm_->per_image() ? 1 : 2},
        random_(7) {
    for (const ParameterDeclaration& declared : norm_->parameters()) {
      const int64_t size = size_of(declared.pytorch_shape);
      Parameter parameter{.name = declared.name,
                          .group = declared.group,
                          .pytorch_shape = declared.pytorch_shape,
                          .value = floats(size, 1.0, 0.3),
                          .gradient = Buffer<float>::zeros(size)};
      parameters_.push_back(std::move(parameter));
    }
    for (const StatisticDeclaration& declared : norm_->statistics()) {
      statistics_.push_back({declared.name, declared.pytorch_shape,
                             floats(size_of(declared.pytorch_shape), 2.0 * declared.start, 0.5)});
    }
  }

  const Norm& norm() const { return *norm_; }
  const RowSplit& split() const { return split_; }
  std::vector<Statistic>& statistics() { return statistics_; }
  std::vector<Parameter>& parameters() { return parameters_; }
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

  /// With `statistics`, which follow the batch when the mode says so.
  NormTrace trace(const std::vector<double>& x, NormMode mode,
                  std::vector<Statistic>& statistics) const {
    NormTrace result = mode == NormMode::batch
                           ? norm_->from_batch(moments(x), first_step_, statistics)
                           : norm_->from_running(moments(x), first_step_, statistics);
    norm_->fold(first_step_, parameters_, 1.0F, result);
    return result;
  }
  NormTrace trace(const std::vector<double>& x, NormMode mode) const {
    std::vector<Statistic> copy = statistics_;
    return trace(x, mode, copy);
  }

  int64_t trace_at(const NormTrace& trace, int64_t step, int64_t image) const {
    return (step * trace.rows_per_step + (trace.rows_per_step > 1 ? image : 0)) * kChannels;
  }
  double unit(const NormTrace& trace, const std::vector<double>& x, int64_t i) const {
    const int64_t at = trace_at(trace, step_of(i), image_of(i)) + i % kChannels;
    return (x[i] - trace.mean[at]) * trace.inverse_deviation[at];
  }
  std::vector<double> output(const std::vector<double>& x, NormMode mode) const {
    const NormTrace coefficients = trace(x, mode);
    std::vector<double> y(x.size());
    for (int64_t i = 0; i < size(); ++i) {
      const int64_t at = trace_at(coefficients, step_of(i), image_of(i)) + i % kChannels;
      y[i] = x[i] * coefficients.scale[at] + coefficients.shift[at];
    }
    return y;
  }

  /// For ∂L/∂y = `arriving`: returns ∂L/∂x, leaves the parameters' gradients in parameters().
  std::vector<double> backward(const std::vector<double>& x, const std::vector<double>& arriving,
                               NormMode mode) {
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
    for (Parameter& parameter : parameters_) parameter.gradient.fill(0.0F);
    const NormGradient rows = norm_->backward(coefficients, sums, first_step_, mode, parameters_);
    std::vector<double> result(x.size());
    for (int64_t i = 0; i < size(); ++i) {
      const int64_t at = trace_at(coefficients, step_of(i), image_of(i)) + i % kChannels;
      result[i] = rows.scale[at] * arriving[i] - rows.slope[at] * unit(coefficients, x, i) -
                  rows.offset[at];
    }
    return result;
  }

 private:
  Buffer<float> floats(int64_t count, double mean, double spread) {
    Buffer<float> values(count);
    for (float& value : values) value = static_cast<float>(number(mean, spread));
    return values;
  }
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
  std::vector<Parameter> parameters_;
  std::vector<Statistic> statistics_;
};

}  // namespace bntt::testing
