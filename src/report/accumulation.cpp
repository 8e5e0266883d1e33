#include "report/accumulation.h"

#include <algorithm>
#include <cmath>

#include "report/png.h"

namespace bntt {
namespace {

uint8_t brightness(double value) {
  return static_cast<uint8_t>(std::lround(255.0 * std::clamp(value, 0.0, 1.0)));
}

/// Spikes of one image summed over the steps so far: [y, x, channel].
class Accumulation {
 public:
  Accumulation(const SpikeTrain& spikes, bool sum_channels)
      : spikes_(spikes),
        shape_{.channels = sum_channels ? 1 : spikes.shape().channels,
               .height = spikes.shape().height,
               .width = spikes.shape().width},
        sums_(shape_.size()) {}

  const MapShape& shape() const { return shape_; }
  const std::vector<double>& sums() const { return sums_; }
  double largest() const { return *std::max_element(sums_.begin(), sums_.end()); }

  void advance_to(int64_t step) {
    const MapShape& map = spikes_.shape();
    for (; step_ < step; ++step_) {
      for (int64_t y = 0; y < map.height; ++y) {
        for (int64_t x = 0; x < map.width; ++x) {
          for (int64_t c = 0; c < map.channels; ++c) {
            const int64_t channel = shape_.channels == 1 ? 0 : c;
            sums_[(y * map.width + x) * shape_.channels + channel] +=
                spikes_.value(step_, 0, y, x, c);
          }
        }
      }
    }
  }

 private:
  const SpikeTrain& spikes_;
  MapShape shape_;
  std::vector<double> sums_;
  int64_t step_ = 0;
};

Json drawn(const Accumulation& sum, int64_t steps, double low, double high) {
  std::vector<uint8_t> pixels;
  pixels.reserve(sum.sums().size());
  for (const double value : sum.sums()) pixels.push_back(brightness((value - low) / (high - low)));
  return {{"steps", steps}, {"image", png_data_uri(pixels, sum.shape())}};
}

}  // namespace

std::vector<int64_t> shown_steps(int64_t steps) {
  std::vector<int64_t> shown;
  for (int64_t count = 1; count < steps; count *= 2) shown.push_back(count);
  shown.push_back(steps);
  return shown;
}

Json accumulated_input(const SpikeTrain& spikes) {
  const bool with_sign = spikes.planes() > 1;
  Json pictures = Json::array();
  Accumulation sum(spikes, false);
  for (const int64_t steps : shown_steps(spikes.steps())) {
    sum.advance_to(steps);
    const auto most = static_cast<double>(steps);
    pictures.push_back(drawn(sum, steps, with_sign ? -most : 0.0, most));
  }
  return pictures;
}

Json accumulated_stage(const SpikeTrain& spikes) {
  Accumulation all(spikes, true);
  all.advance_to(spikes.steps());
  const double most = std::max(1.0, all.largest());
  Json pictures = Json::array();
  Accumulation sum(spikes, true);
  for (const int64_t steps : shown_steps(spikes.steps())) {
    sum.advance_to(steps);
    pictures.push_back(drawn(sum, steps, 0.0, most));
  }
  return pictures;
}

}  // namespace bntt
