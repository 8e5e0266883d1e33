#include "layers/norms/layer_norm.h"

#include <cmath>

#include "base/fail.h"
#include "layers/norms/norm_checks.h"

namespace bntt {
namespace {

void expect_single_images(const RowSplit& split) {
  if (split.images_per_row != 1) {
    fail("norm 'layer': rows of {} images, expected single ones", split.images_per_row);
  }
}

}  // namespace

NormTrace LayerNorm::from_batch(const RowMoments& moments, int64_t first_step,
                                std::span<Statistic> statistics) const {
  return from_running(moments, first_step, statistics);
}

NormTrace LayerNorm::from_running(const RowMoments& moments, int64_t /*first_step*/,
                                  std::span<const Statistic> /*statistics*/) const {
  expect_moments(moments, channels());
  expect_single_images(moments.split);
  const RowSplit& split = moments.split;
  const auto pixels = static_cast<double>(split.pixels);
  NormTrace trace{split.batch, Buffer<float>(split.size()), Buffer<float>(split.size())};
  for (int64_t step = 0; step < split.steps; ++step) {
    for (int64_t image = 0; image < split.batch; ++image) {
      const int64_t at = split.at(step, image);
      double mean = 0.0;
      for (int64_t c = 0; c < channels(); ++c) mean += moments.mean[at + c];
      mean /= static_cast<double>(channels());
      double squared = 0.0;
      for (int64_t c = 0; c < channels(); ++c) {
        const double distance = moments.mean[at + c] - mean;
        squared += moments.squared_deviations[at + c] + pixels * distance * distance;
      }
      const double variance = squared / (pixels * static_cast<double>(channels()));
      for (int64_t c = 0; c < channels(); ++c) {
        trace.mean[at + c] = static_cast<float>(mean);
        trace.inverse_deviation[at + c] =
            static_cast<float>(1.0 / std::sqrt(variance + spec_.epsilon));
      }
    }
  }
  return trace;
}

// Like batch norm, where the group is the channels and pixels of one image at one step.
NormGradient LayerNorm::backward(const NormTrace& trace, const RowGradientSums& sums,
                                 int64_t first_step, NormMode mode,
                                 std::span<Parameter> parameters) const {
  expect_norm_mode("norm", mode);
  expect_sums(sums, channels());
  expect_single_images(sums.split);
  const RowSplit& split = sums.split;
  expect_trace(trace, split.steps, split.batch, channels());
  const auto samples = static_cast<double>(split.pixels * channels());
  NormGradient result{Buffer<float>(split.size()), Buffer<float>(split.size()),
                      Buffer<float>(split.size())};
  std::vector<float> gain(channels());
  std::vector<float> shift(channels());
  for (int64_t step = 0; step < split.steps; ++step) {
    affine(first_step + step, parameters, {gain.data(), shift.data()});
    for (int64_t image = 0; image < split.batch; ++image) {
      const int64_t at = split.at(step, image);
      const float* gradient = sums.gradient.data() + sums.at(step, image);
      const float* gradient_unit = sums.gradient_times_unit.data() + sums.at(step, image);
      add_gradient(first_step + step, {gradient_unit, gradient}, parameters);
      double sum = 0.0;
      double sum_unit = 0.0;
      for (int64_t c = 0; c < channels(); ++c) {
        sum += static_cast<double>(gain[c]) * gradient[c];
        sum_unit += static_cast<double>(gain[c]) * gradient_unit[c];
      }
      for (int64_t c = 0; c < channels(); ++c) {
        const double inverse = trace.inverse_deviation[at + c];
        result.scale[at + c] = static_cast<float>(gain[c] * inverse);
        result.slope[at + c] = static_cast<float>(inverse * sum_unit / samples);
        result.offset[at + c] = static_cast<float>(inverse * sum / samples);
      }
    }
  }
  return result;
}

}  // namespace bntt
