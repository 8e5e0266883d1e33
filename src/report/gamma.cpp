#include "report/gamma.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "train/trainer.h"

namespace bntt {
namespace {

struct Bins {
  double low = 0.0;
  double high = 1.0;
  int64_t count = 40;

  int64_t of(float value) const {
    const double place = (value - low) / (high - low) * static_cast<double>(count);
    return std::clamp<int64_t>(static_cast<int64_t>(std::floor(place)), 0, count - 1);
  }
};

// All steps of a stage share their bins, so that ridges can be compared. Rounded to tenths.
Bins bins_for(const Buffer<float>& gains, int64_t count) {
  float low = 0.0F;
  float high = 0.1F;
  for (const float gain : gains) {
    if (!std::isfinite(gain)) continue;  // of a run that diverged
    low = std::min(low, gain);
    high = std::max(high, gain);
  }
  return {
      .low = std::floor(10.0 * low) / 10.0, .high = std::ceil(10.0 * high) / 10.0, .count = count};
}

Json histogram(const Buffer<float>& gains, int64_t channels, int64_t count) {
  const Bins bins = bins_for(gains, count);
  Json rows = Json::array();
  for (int64_t first = 0; first < gains.size(); first += channels) {
    std::vector<int64_t> counts(bins.count);
    for (int64_t c = first; c < first + channels; ++c) {
      if (std::isfinite(gains[c])) ++counts[bins.of(gains[c])];
    }
    rows.push_back(counts);
  }
  return {{"low", bins.low}, {"high", bins.high}, {"counts", rows}};
}

}  // namespace

Json gamma_document(const Network& network, int64_t bins) {
  Json layers = Json::array();
  for (std::size_t i = 0; i < network.stages().size(); ++i) {
    const Parameter* gain = network.gain(i);
    if (gain == nullptr) continue;
    const StagePlan& plan = network.stages()[i];
    Json means = mean_gain(network, i);
    const bool shared = means.size() == 1 && network.spec().steps > 1;
    for (int64_t step = 0; !shared && step < static_cast<int64_t>(means.size()); ++step) {
      const bool active = step >= plan.first_step && step < plan.first_step + plan.active_steps;
      if (!active) means[step] = nullptr;
    }
    layers.push_back({{"name", plan.name},
                      {"channels", plan.output.channels},
                      {"shared", shared},
                      {"first_step", plan.first_step},
                      {"active_steps", plan.active_steps},
                      {"mean", means},
                      {"histogram", histogram(gain->value, plan.output.channels, bins)}});
  }
  return layers;
}

}  // namespace bntt
