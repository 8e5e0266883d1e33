#include "layers/norms/norm_checks.h"

#include <algorithm>

#include "base/fail.h"

namespace bntt {
namespace {

void expect_size(const char* what, int64_t size, int64_t expected) {
  if (size != expected) fail("norm: {} has {} numbers, expected {}", what, size, expected);
}

}  // namespace

void expect_split(const RowSplit& split, int64_t channels) {
  if (split.steps < 1 || split.batch < 1 || split.pixels < 1 || split.images_per_row < 1) {
    fail("norm: {} steps of {} images of {} pixels in rows of {} images, expected at least 1 each",
         split.steps, split.batch, split.pixels, split.images_per_row);
  }
  if (split.channels != channels || channels < 1) {
    fail("norm: rows of {} channels, expected {}", split.channels, std::max<int64_t>(1, channels));
  }
}

void expect_norm_mode(const char* where, NormMode mode) {
  if (mode == NormMode::batch || mode == NormMode::running) return;
  fail("{}: mode is {}, which is not a value of NormMode", where, static_cast<int>(mode));
}

void expect_moments(const RowMoments& moments, int64_t channels) {
  expect_split(moments.split, channels);
  expect_size("the mean of the rows", moments.mean.size(), moments.split.size());
  expect_size("the squared deviation of the rows", moments.squared_deviations.size(),
              moments.split.size());
}

void expect_sums(const RowGradientSums& sums, int64_t channels) {
  expect_split(sums.split, channels);
  expect_size("the gradient of the rows", sums.gradient.size(), sums.split.size());
  expect_size("the gradient of the rows times x̂", sums.gradient_times_unit.size(),
              sums.split.size());
}

void expect_trace(const NormTrace& trace, int64_t steps, int64_t rows_per_step, int64_t channels) {
  if (trace.rows_per_step != rows_per_step) {
    fail("norm: the trace has {} rows per step, expected {}", trace.rows_per_step, rows_per_step);
  }
  const int64_t size = steps * rows_per_step * channels;
  expect_size("the mean of the trace", trace.mean.size(), size);
  expect_size("the inverse deviation of the trace", trace.inverse_deviation.size(), size);
}

void expect_statistics(std::span<const Statistic> statistics, std::size_t count, int64_t size) {
  if (statistics.size() < count) {
    fail("norm: {} running statistics, expected {}", statistics.size(), count);
  }
  for (const Statistic& statistic : statistics.first(count)) {
    if (statistic.value.size() < size) {
      fail("norm: the running statistic '{}' has {} numbers, expected at least {}", statistic.name,
           statistic.value.size(), size);
    }
  }
}

}  // namespace bntt
