#include "classical/hots.h"

#include <cmath>

#include "base/fail.h"
#include "base/random.h"

namespace bntt {
namespace {

void check(const HotsOptions& options) {
  const std::size_t layers = options.prototypes.size();
  if (layers == 0 || options.radius.size() != layers || options.tau_us.size() != layers) {
    fail(
        "hots: prototypes has {} entries, radius {} and tau_us {}, expected one of each for every "
        "layer",
        layers, options.radius.size(), options.tau_us.size());
  }
}

std::vector<float> random_prototype(int64_t entries, uint64_t seed, int64_t layer, int64_t k) {
  std::vector<float> values;
  double squares = 0.0;
  for (int64_t i = 0; i < entries; ++i) {
    const auto bits = draw4(seed, Purpose::weights,
                            {.sample = static_cast<uint32_t>(k),
                             .step = static_cast<uint32_t>(layer),
                             .block = static_cast<uint32_t>(i / 4)});
    values.push_back(uniform01(bits[i % 4]));
    squares += static_cast<double>(values.back()) * values.back();
  }
  for (float& value : values) value = static_cast<float>(value / std::sqrt(squares));
  return values;
}

}  // namespace

/// One recording passing through the layers. The memory of event times starts empty.
class Hots::Pass {
 public:
  Pass(const Hots& hots, int64_t layers) : hots_(hots) {
    for (int64_t l = 0; l < layers; ++l) {
      surfaces_.emplace_back(hots.sensor_, TimeSurfaces::Options{.radius = hots.options_.radius[l],
                                                                 .polarities = hots.polarities(l),
                                                                 .tau_us = hots.options_.tau_us[l],
                                                                 .cutoff = hots.options_.cutoff});
    }
  }

  /// The surface of an event in a layer, or null if it is filtered out.
  const SparseSurface* surface(int64_t layer, const Event& event, int64_t polarity) {
    surfaces_[layer].surface_at(event.x, event.y, polarity, event.time_us, surface_);
    const bool dropped = hots_.options_.filter && surface_.size <= 2 * hots_.options_.radius[layer];
    return dropped ? nullptr : &surface_;
  }

  /// The event's polarity after the first `layers` layers, if it is not filtered out.
  std::optional<int64_t> follow(const Event& event, int64_t layers) {
    int64_t polarity = event.on ? 1 : 0;
    for (int64_t l = 0; l < layers; ++l) {
      const SparseSurface* seen = surface(l, event, polarity);
      if (seen == nullptr) return std::nullopt;
      polarity = hots_.layers_[l].winner(*seen);
    }
    return polarity;
  }

 private:
  const Hots& hots_;
  std::vector<TimeSurfaces> surfaces_;
  SparseSurface surface_;
};

Hots::Hots(const SensorSize& sensor, const HotsOptions& options)
    : sensor_(sensor), options_(options) {
  check(options);
  for (std::size_t l = 0; l < options.prototypes.size(); ++l) {
    const int64_t side = 2 * options.radius[l] + 1;
    layers_.emplace_back(options.prototypes[l], side * side * polarities(static_cast<int64_t>(l)));
  }
}

int64_t Hots::polarities(int64_t index) const {
  return index == 0 ? 2 : options_.prototypes[index - 1];
}

Hots::Learning::Learning(Hots& hots, int64_t layer, uint64_t seed)
    : hots_(hots), layer_(layer), started_(0) {
  if (hots.options_.start == HotsStart::surfaces) return;
  HotsLayer& learned = hots_.layers_[layer];
  for (; started_ < learned.prototypes(); ++started_) {
    learned.set_prototype(started_, random_prototype(learned.entries(), seed, layer, started_), 0);
  }
}

void Hots::Learning::add(const Recording& recording) {
  Pass pass(hots_, layer_ + 1);
  for (const Event& event : recording.events) {
    const std::optional<int64_t> polarity = pass.follow(event, layer_);
    if (!polarity) continue;
    const SparseSurface* surface = pass.surface(layer_, event, *polarity);
    if (surface != nullptr) take(*surface);
  }
}

void Hots::Learning::take(const SparseSurface& surface) {
  HotsLayer& learned = hots_.layers_[layer_];
  if (started_ == learned.prototypes()) {
    learned.learn(surface);
    return;
  }
  std::vector<float> first(static_cast<std::size_t>(learned.entries()));
  for (std::size_t i = 0; i < surface.used_indices().size(); ++i) {
    first[surface.indices[i]] = surface.values[i];
  }
  learned.set_prototype(started_++, first, 1);
}

std::vector<Hots::Output> Hots::outputs(const Recording& recording, int64_t layers) const {
  Pass pass(*this, layers);
  std::vector<Output> result;
  for (const Event& event : recording.events) {
    if (const std::optional<int64_t> k = pass.follow(event, layers)) {
      result.push_back({.time_us = event.time_us, .x = event.x, .y = event.y, .prototype = *k});
    }
  }
  return result;
}

std::vector<double> Hots::histogram(const Recording& recording) const {
  Pass pass(*this, layers());
  std::vector<double> counts(static_cast<std::size_t>(bins()));
  for (const Event& event : recording.events) {
    if (const std::optional<int64_t> k = pass.follow(event, layers())) ++counts[*k];
  }
  return counts;
}

}  // namespace bntt
