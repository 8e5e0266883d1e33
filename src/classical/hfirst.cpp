#include "classical/hfirst.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>

#include "classical/noise_filter.h"

namespace bntt {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::min() / 2;
constexpr double kWeightLength = 100.0;

template <typename Number>
Number leaked(Number voltage, Number leak) {
  const Number left = std::max(std::abs(voltage) - leak, Number{0});
  return voltage < 0 ? -left : left;
}

int64_t blocks(int64_t pixels, int64_t side) { return (pixels + side - 1) / side; }

}  // namespace

int64_t milliseconds(int64_t time_us) {
  return std::llround(static_cast<double>(time_us) / 1000.0);
}

HfirstS1::HfirstS1(const SensorSize& sensor, const HfirstOptions& options, const GaborBank& bank)
    : sensor_(sensor),
      options_(options),
      bank_(bank),
      voltage_(static_cast<std::size_t>(sensor.width * sensor.height * GaborBank::kOrientations)),
      update_ms_(static_cast<std::size_t>(sensor.width * sensor.height), kNever),
      spike_ms_(update_ms_) {}

void HfirstS1::feed(int64_t x, int64_t y, int64_t time_ms, std::vector<OrientedSpike>& spikes) {
  constexpr int64_t kRadius = GaborBank::kRadius;
  constexpr int64_t kLargestLeak = 1 << 20;  // more than any voltage
  const int64_t last_y = std::min(sensor_.height - 1, y + kRadius);
  const int64_t last_x = std::min(sensor_.width - 1, x + kRadius);
  for (int64_t py = std::max<int64_t>(0, y - kRadius); py <= last_y; ++py) {
    for (int64_t px = std::max<int64_t>(0, x - kRadius); px <= last_x; ++px) {
      const int64_t pixel = py * sensor_.width + px;
      if (time_ms - spike_ms_[pixel] <= options_.refractory_ms) continue;
      const int64_t since_ms = std::min(kLargestLeak, time_ms - update_ms_[pixel]);
      const auto leak = static_cast<int32_t>(std::min(kLargestLeak, options_.s1_leak * since_ms));
      update_ms_[pixel] = time_ms;
      int32_t* voltage = voltage_.data() + pixel * GaborBank::kOrientations;
      const int32_t* weights = bank_.row(static_cast<int>(x - px), static_cast<int>(y - py));
      for (int k = 0; k < GaborBank::kOrientations; ++k) {
        voltage[k] = leaked(voltage[k], leak) + weights[k];
      }
      const int32_t* highest = std::max_element(voltage, voltage + GaborBank::kOrientations);
      if (*highest <= options_.s1_threshold) continue;
      spikes.push_back({.time_ms = time_ms, .x = px, .y = py, .orientation = highest - voltage});
      std::fill_n(voltage, GaborBank::kOrientations, 0);
      spike_ms_[pixel] = time_ms;
    }
  }
}

int64_t HfirstS1::voltage(int64_t x, int64_t y, int64_t orientation) const {
  return voltage_[(y * sensor_.width + x) * GaborBank::kOrientations + orientation];
}

HfirstC1::HfirstC1(const SensorSize& sensor, const HfirstOptions& options)
    : options_(options),
      columns_(blocks(sensor.width, options.block)),
      rows_(blocks(sensor.height, options.block)),
      spike_ms_(static_cast<std::size_t>(columns_ * rows_), kNever) {}

bool HfirstC1::pass(const OrientedSpike& spike) {
  int64_t& last = spike_ms_[spike.y / options_.block * columns_ + spike.x / options_.block];
  if (spike.time_ms - last <= options_.refractory_ms) return false;
  last = spike.time_ms;
  return true;
}

int64_t HfirstC1::index(const OrientedSpike& spike) const {
  const int64_t block = spike.y / options_.block * columns_ + spike.x / options_.block;
  return block * GaborBank::kOrientations + spike.orientation;
}

HfirstFront::HfirstFront(const SensorSize& sensor, const HfirstOptions& options)
    : sensor_(sensor),
      options_(options),
      columns_(blocks(sensor.width, options.block)),
      rows_(blocks(sensor.height, options.block)) {}

std::vector<BlockSpike> HfirstFront::spikes(const Recording& recording) const {
  std::array s1 = {HfirstS1(sensor_, options_, bank_), HfirstS1(sensor_, options_, bank_)};
  HfirstC1 c1(sensor_, options_);
  std::vector<OrientedSpike> oriented;
  std::vector<BlockSpike> passed;
  for (const Event& event : without_noise(recording, options_.noise_us)) {
    oriented.clear();
    s1[event.on ? 1 : 0].feed(event.x, event.y, milliseconds(event.time_us), oriented);
    for (const OrientedSpike& spike : oriented) {
      if (c1.pass(spike)) passed.push_back({.time_ms = spike.time_ms, .index = c1.index(spike)});
    }
  }
  return passed;
}

std::vector<double> hfirst_weights(std::span<const int64_t> counts) {
  double squares = 0.0;
  for (const int64_t count : counts) {
    squares += static_cast<double>(count) * static_cast<double>(count);
  }
  std::vector<double> weights;
  for (const int64_t count : counts) {
    weights.push_back(count == 0 ? -1.0
                                 : static_cast<double>(count) * kWeightLength / std::sqrt(squares));
  }
  return weights;
}

HfirstClassifier::HfirstClassifier(std::vector<std::vector<double>> weights,
                                   const HfirstOptions& options)
    : weights_(std::move(weights)), options_(options) {
  for (std::vector<double>& of_class : weights_) {
    for (double& weight : of_class) {
      if (weight < 1.0) weight = -1.0;
    }
  }
}

std::vector<int64_t> HfirstClassifier::votes(std::span<const BlockSpike> spikes) const {
  std::vector<double> voltage(weights_.size());
  std::vector<int64_t> votes(weights_.size());
  int64_t update_ms = kNever;
  int64_t spike_ms = kNever;
  for (const BlockSpike& spike : spikes) {
    if (spike.time_ms - spike_ms <= options_.refractory_ms) continue;
    const double leak = options_.s2_leak * static_cast<double>(spike.time_ms - update_ms);
    update_ms = spike.time_ms;
    bool fired = false;
    for (std::size_t k = 0; k < voltage.size(); ++k) {
      voltage[k] = leaked(voltage[k], leak) + weights_[k][spike.index];
      if (voltage[k] <= options_.s2_threshold) continue;
      // Classes that cross the threshold together all fire. C2 pools a map of one neuron per class
      // with the same refractory time, so every spike passes.
      ++votes[k];
      fired = true;
    }
    if (!fired) continue;
    std::ranges::fill(voltage, 0.0);
    spike_ms = spike.time_ms;
  }
  return votes;
}

int64_t most_votes(std::span<const int64_t> votes) {
  const auto most = std::ranges::max_element(votes);
  return most == votes.end() || *most == 0 ? -1 : most - votes.begin();
}

}  // namespace bntt
