#include "classical/gabor_snn.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace bntt {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::min() / 2;

/// The neurons of all orientations at one pixel, for one polarity. They decay together.
struct Neurons {
  std::array<float, GaborBank::kOrientations> voltage{};
  std::array<int64_t, GaborBank::kOrientations> spike_us;
  int64_t update_us = kNever;

  Neurons() { spike_us.fill(kNever); }
};

}  // namespace

GaborSnn::GaborSnn(const SensorSize& sensor, const GaborSnnOptions& options)
    : sensor_(sensor),
      options_(options),
      columns_((sensor.width + options.cell - 1) / options.cell),
      rows_((sensor.height + options.cell - 1) / options.cell) {}

int64_t GaborSnn::features() const {
  return columns_ * rows_ * kPolarities * GaborBank::kOrientations;
}

std::vector<double> GaborSnn::spike_counts(const std::vector<Event>& events) const {
  constexpr int64_t kRadius = GaborBank::kRadius;
  std::vector<Neurons> neurons(
      static_cast<std::size_t>(kPolarities * sensor_.width * sensor_.height));  // [polarity, y, x]
  std::vector<double> counts(static_cast<std::size_t>(features()));
  for (const Event& event : events) {
    const int64_t polarity = event.on ? 1 : 0;
    const int64_t last_y = std::min<int64_t>(sensor_.height - 1, event.y + kRadius);
    const int64_t last_x = std::min<int64_t>(sensor_.width - 1, event.x + kRadius);
    for (int64_t y = std::max<int64_t>(0, event.y - kRadius); y <= last_y; ++y) {
      for (int64_t x = std::max<int64_t>(0, event.x - kRadius); x <= last_x; ++x) {
        Neurons& at = neurons[(polarity * sensor_.height + y) * sensor_.width + x];
        const auto since = static_cast<double>(event.time_us - at.update_us);
        const auto decay = static_cast<float>(std::exp(-since / options_.tau_us));
        at.update_us = event.time_us;
        const int32_t* weights =
            bank_.row(static_cast<int>(event.x - x), static_cast<int>(event.y - y));
        for (int k = 0; k < GaborBank::kOrientations; ++k) {
          at.voltage[k] *= decay;
          if (event.time_us - at.spike_us[k] <= options_.refractory_us) continue;
          at.voltage[k] += static_cast<float>(weights[k]);
          if (at.voltage[k] < options_.threshold) continue;
          at.voltage[k] = 0.0F;
          at.spike_us[k] = event.time_us;
          const int64_t cell = (y / options_.cell) * columns_ + x / options_.cell;
          ++counts[(cell * kPolarities + polarity) * GaborBank::kOrientations + k];
        }
      }
    }
  }
  return counts;
}

SparseFeatures GaborSnn::extract(const Recording& recording) const {
  SparseFeatures features = sparse_features(spike_counts(recording.events));
  normalise_length(features);
  return features;
}

}  // namespace bntt
