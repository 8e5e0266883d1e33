#include "classical/hats.h"

#include <cmath>
#include <cstdlib>

#include "base/fail.h"
#include "classical/noise_filter.h"

namespace bntt {
namespace {

/// Events of one polarity that later events may still see, oldest first.
class Memory {
 public:
  void forget_before(int64_t time_us) {
    while (first_ < events_.size() && events_[first_].time_us < time_us) ++first_;
    if (first_ > 64 && 2 * first_ > events_.size()) {
      events_.erase(events_.begin(), events_.begin() + static_cast<std::ptrdiff_t>(first_));
      first_ = 0;
    }
  }
  void add(const Event& event) { events_.push_back(event); }
  std::span<const Event> events() const { return std::span(events_).subspan(first_); }

 private:
  std::vector<Event> events_;
  std::size_t first_ = 0;
};

struct SurfaceEntry {
  int64_t offset = 0;
  double value = 0.0;
};

int64_t cells(int64_t pixels, const HatsOptions& options) {
  return options.grid == HatsGrid::ceil ? (pixels + options.cell - 1) / options.cell
                                        : pixels / options.cell;
}

/// Writes what `event` sees to `surface`.
void look_back(const Event& event, std::span<const Event> seen, const HatsOptions& options,
               std::vector<SurfaceEntry>& surface) {
  const int64_t radius = options.radius;
  const int64_t side = 2 * radius + 1;
  surface.clear();
  for (const Event& before : seen) {
    if (options.ties == HatsTies::hidden && before.time_us == event.time_us) break;
    const int64_t dx = before.x - event.x;
    const int64_t dy = before.y - event.y;
    if (std::abs(dx) > radius || std::abs(dy) > radius) continue;
    surface.push_back(
        {.offset = (dy + radius) * side + dx + radius,
         .value = std::exp(-static_cast<double>(event.time_us - before.time_us) / options.tau_us)});
  }
  if (options.self == HatsSelf::counted) {
    surface.push_back({.offset = radius * side + radius, .value = 1.0});
  }
}

}  // namespace

Hats::Hats(const SensorSize& sensor, const HatsOptions& options)
    : options_(options),
      columns_(cells(sensor.width, options)),
      rows_(cells(sensor.height, options)) {
  if (columns_ < 1 || rows_ < 1) {
    fail(
        "hats: a sensor of {}x{} pixels is smaller than one cell of {}, expected a smaller "
        "hats.cell",
        sensor.width, sensor.height, options.cell);
  }
}

int64_t Hats::features() const {
  return columns_ * rows_ * polarities() * surface_side() * surface_side();
}

std::vector<double> Hats::surfaces(const std::vector<Event>& events) const {
  const int64_t planes = columns_ * rows_ * polarities();
  const int64_t surface_size = surface_side() * surface_side();
  const bool by_cell = options_.memory == HatsMemory::cell;
  std::vector<double> sums(static_cast<std::size_t>(planes * surface_size));
  std::vector<int64_t> counts(static_cast<std::size_t>(planes));
  std::vector<Memory> memories(static_cast<std::size_t>(by_cell ? planes : polarities()));
  std::vector<SurfaceEntry> surface;
  for (const Event& event : events) {
    const int64_t column = event.x / options_.cell;
    const int64_t row = event.y / options_.cell;
    if (column >= columns_ || row >= rows_) continue;
    const int64_t polarity = event.on && !options_.merge_polarities ? 1 : 0;
    const int64_t plane = (row * columns_ + column) * polarities() + polarity;
    Memory& memory = memories[by_cell ? plane : polarity];
    memory.forget_before(event.time_us - options_.window_us);
    look_back(event, memory.events(), options_, surface);
    const double weight = options_.divisor == HatsDivisor::neighbours && !surface.empty()
                              ? 1.0 / static_cast<double>(surface.size())
                              : 1.0;
    for (const SurfaceEntry& entry : surface) {
      sums[plane * surface_size + entry.offset] += weight * entry.value;
    }
    ++counts[plane];
    memory.add(event);
  }
  if (options_.divisor == HatsDivisor::neighbours) return sums;
  for (int64_t plane = 0; plane < planes; ++plane) {
    int64_t divisor = counts[plane];
    if (options_.divisor == HatsDivisor::cell && polarities() == 2) divisor += counts[plane ^ 1];
    for (int64_t i = 0; i < surface_size && divisor > 0; ++i) {
      sums[plane * surface_size + i] /= static_cast<double>(divisor);
    }
  }
  return sums;
}

SparseFeatures Hats::extract(const Recording& recording) const {
  SparseFeatures features =
      sparse_features(surfaces(without_noise(recording, options_.denoise_us)));
  if (options_.normalise == HatsNormalise::length) normalise_length(features);
  return features;
}

}  // namespace bntt
