#include <algorithm>
#include <cmath>

#include "bntt/batch_norms.h"
#include "layers/norms/norm_checks.h"

namespace bntt {
namespace {

struct GroupMoments {
  double mean = 0.0;
  double squared_deviations = 0.0;
  double samples = 0.0;
};

// Merges the rows of steps [begin, end): Σ M2_r + Σ n_r (μ_r − μ)².
GroupMoments merge(const RowMoments& moments, int64_t begin, int64_t end, int64_t channel) {
  const RowSplit& split = moments.split;
  GroupMoments group;
  double sum = 0.0;
  for (int64_t step = begin; step < end; ++step) {
    for (int64_t row = 0; row < split.rows_per_step(); ++row) {
      const auto samples = static_cast<double>(split.samples_in(row));
      sum += samples * moments.mean[split.at(step, row) + channel];
      group.samples += samples;
    }
  }
  group.mean = sum / group.samples;
  for (int64_t step = begin; step < end; ++step) {
    for (int64_t row = 0; row < split.rows_per_step(); ++row) {
      const int64_t at = split.at(step, row) + channel;
      const double distance = moments.mean[at] - group.mean;
      group.squared_deviations += moments.squared_deviations[at] +
                                  static_cast<double>(split.samples_in(row)) * distance * distance;
    }
  }
  return group;
}

void follow(float& running, double newest, float momentum) {
  running = static_cast<float>((1.0 - momentum) * running + momentum * newest);
}

}  // namespace

std::vector<StatisticDeclaration> BatchNorm::statistics() const {
  const std::vector<int64_t> shape = rows_shape(statistics_per_step());
  return {{"running_mean", shape, 0.0F}, {"running_var", shape, 1.0F}};
}

NormTrace BatchNorm::from_batch(const RowMoments& moments, int64_t first_step,
                                std::span<Statistic> statistics) const {
  expect_moments(moments, channels());
  const int64_t steps = moments.split.steps;
  const int64_t last_row = checked_row(first_step + steps - 1, statistics_per_step());
  expect_statistics(statistics, 2, last_row + channels());
  const int64_t group_steps = all_steps_together() ? steps : 1;
  Buffer<float>& running_mean = statistics[0].value;
  Buffer<float>& running_variance = statistics[1].value;
  NormTrace trace{1, Buffer<float>(steps * channels()), Buffer<float>(steps * channels())};
  for (int64_t begin = 0; begin < steps; begin += group_steps) {
    const int64_t row = checked_row(first_step + begin, statistics_per_step());
    for (int64_t c = 0; c < channels(); ++c) {
      const GroupMoments group = merge(moments, begin, begin + group_steps, c);
      const double variance = group.squared_deviations / group.samples;
      for (int64_t step = begin; step < begin + group_steps; ++step) {
        trace.mean[step * channels() + c] = static_cast<float>(group.mean);
        trace.inverse_deviation[step * channels() + c] =
            static_cast<float>(1.0 / std::sqrt(variance + spec_.epsilon));
      }
      // Normalising uses the biased variance, the running one is unbiased, as in the authors' code.
      const double unbiased = group.squared_deviations / std::max(1.0, group.samples - 1.0);
      follow(running_mean[row + c], group.mean, spec_.momentum);
      follow(running_variance[row + c], unbiased, spec_.momentum);
    }
  }
  return trace;
}

NormTrace BatchNorm::from_running(const RowMoments& moments, int64_t first_step,
                                  std::span<const Statistic> statistics) const {
  expect_split(moments.split, channels());
  const int64_t steps = moments.split.steps;
  const int64_t last_row = checked_row(first_step + steps - 1, statistics_per_step());
  expect_statistics(statistics, 2, last_row + channels());
  const Buffer<float>& running_mean = statistics[0].value;
  const Buffer<float>& running_variance = statistics[1].value;
  NormTrace trace{1, Buffer<float>(steps * channels()), Buffer<float>(steps * channels())};
  for (int64_t step = 0; step < steps; ++step) {
    const int64_t row = checked_row(first_step + step, statistics_per_step());
    for (int64_t c = 0; c < channels(); ++c) {
      trace.mean[step * channels() + c] = running_mean[row + c];
      trace.inverse_deviation[step * channels() + c] = static_cast<float>(
          1.0 / std::sqrt(static_cast<double>(running_variance[row + c]) + spec_.epsilon));
    }
  }
  return trace;
}

// With g = gain · ∂L/∂y the gradient of x̂, and means over the m samples of the group (the paper's
// Appendix A):
//   ∂L/∂x = (g − mean(g) − x̂ mean(g x̂)) / √(σ² + ε);   ∂L/∂gain = Σ ∂L/∂y · x̂.
// With fixed statistics, ∂L/∂x = g / √(σ² + ε).
NormGradient BatchNorm::backward(const NormTrace& trace, const RowGradientSums& sums,
                                 int64_t first_step, NormMode mode,
                                 std::span<Parameter> parameters) const {
  expect_norm_mode("norm", mode);
  expect_sums(sums, channels());
  const RowSplit& split = sums.split;
  const int64_t steps = split.steps;
  expect_trace(trace, steps, 1, channels());
  const int64_t group_steps = all_steps_together() ? steps : 1;
  NormGradient result{Buffer<float>(steps * channels()), Buffer<float>::zeros(steps * channels()),
                      Buffer<float>::zeros(steps * channels())};
  std::vector<float> gain(steps * channels());
  std::vector<float> shift(channels());
  std::vector<float> gain_gradient(channels());
  std::vector<float> shift_gradient(channels());
  for (int64_t begin = 0; begin < steps; begin += group_steps) {
    std::vector<double> sum(channels(), 0.0);
    std::vector<double> sum_unit(channels(), 0.0);
    for (int64_t step = begin; step < begin + group_steps; ++step) {
      float* gain_of_step = gain.data() + step * channels();
      affine(first_step + step, parameters, {gain_of_step, shift.data()});
      for (int64_t c = 0; c < channels(); ++c) {
        double of_step = 0.0;
        double of_step_unit = 0.0;
        for (int64_t row = 0; row < split.rows_per_step(); ++row) {
          of_step += sums.gradient[sums.at(step, row) + c];
          of_step_unit += sums.gradient_times_unit[sums.at(step, row) + c];
        }
        gain_gradient[c] = static_cast<float>(of_step_unit);
        shift_gradient[c] = static_cast<float>(of_step);
        sum[c] += gain_of_step[c] * of_step;
        sum_unit[c] += gain_of_step[c] * of_step_unit;
      }
      add_gradient(first_step + step, {gain_gradient.data(), shift_gradient.data()}, parameters);
    }
    const auto samples = static_cast<double>(group_steps * split.batch * split.pixels);
    for (int64_t step = begin; step < begin + group_steps; ++step) {
      for (int64_t c = 0; c < channels(); ++c) {
        const int64_t at = step * channels() + c;
        const double inverse = trace.inverse_deviation[at];
        result.scale[at] = static_cast<float>(gain[at] * inverse);
        if (mode == NormMode::batch) {
          result.slope[at] = static_cast<float>(inverse * sum_unit[c] / samples);
          result.offset[at] = static_cast<float>(inverse * sum[c] / samples);
        }
      }
    }
  }
  return result;
}

}  // namespace bntt
