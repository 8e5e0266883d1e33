#include "classical/hots_layer.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"
#include "classical/surface_products.h"

namespace bntt {

TimeSurfaces::TimeSurfaces(const SensorSize& sensor, const Options& options)
    : options_(options),
      side_(2 * options.radius + 1),
      stride_((sensor.width + 2 * options.radius) * options.polarities),
      map_(static_cast<std::size_t>(stride_ * (sensor.height + 2 * options.radius))) {}

void TimeSurfaces::move_start(int64_t time_us) {
  constexpr double kFurthest = 60.0;    // exp(60) is 1e26, a float holds 3e38
  constexpr float kForgotten = 1e-30F;  // before numbers become subnormal and slow
  if (!begun_) {
    start_us_ = time_us;
    begun_ = true;
  }
  const double distance = static_cast<double>(time_us - start_us_) / options_.tau_us;
  if (distance < kFurthest) return;
  const auto factor = static_cast<float>(std::exp(-distance));
  for (float& value : map_) {
    value *= factor;
    if (value < kForgotten) value = 0.0F;
  }
  start_us_ = time_us;
}

void TimeSurfaces::surface_at(int64_t x, int64_t y, int64_t polarity, int64_t time_us,
                              SparseSurface& surface) {
  move_start(time_us);
  const double since = static_cast<double>(time_us - start_us_) / options_.tau_us;
  // The pixel's own position, and the first position of the surface around it.
  const int64_t corner = y * stride_ + x * options_.polarities;
  map_[corner + options_.radius * (stride_ + options_.polarities) + polarity] =
      static_cast<float>(std::exp(since));
  const auto factor = static_cast<float>(std::exp(-since));
  const auto cutoff = static_cast<float>(options_.cutoff);
  if (std::ssize(surface.indices) < entries()) {
    surface.indices.resize(static_cast<std::size_t>(entries()));
    surface.values.resize(surface.indices.size());
  }
  surface.size = gather_surface({.first = map_.data() + corner,
                                 .rows = side_,
                                 .row_entries = side_ * options_.polarities,
                                 .row_stride = stride_,
                                 .factor = factor,
                                 .cutoff = cutoff},
                                surface.indices.data(), surface.values.data());
}

double hots_rate(int64_t wins) { return 0.01 / (1.0 + static_cast<double>(wins) / 20000.0); }

HotsLayer::HotsLayer(int64_t prototypes, int64_t entries)
    : prototypes_(prototypes),
      entries_(entries),
      stride_(padded_prototypes(prototypes)),
      table_(static_cast<std::size_t>(entries * stride_)),
      scale_(static_cast<std::size_t>(prototypes), 1.0),
      square_(static_cast<std::size_t>(prototypes)),
      wins_(static_cast<std::size_t>(prototypes)) {
  BNTT_CHECK(prototypes >= 1 && prototypes <= kMostPrototypes);
}

std::vector<float> HotsLayer::prototype(int64_t k) const {
  std::vector<float> values;
  for (int64_t i = 0; i < entries_; ++i) {
    values.push_back(static_cast<float>(scale_[k] * table_[i * stride_ + k]));
  }
  return values;
}

void HotsLayer::set_prototype(int64_t k, std::span<const float> values, int64_t wins) {
  BNTT_CHECK(std::ssize(values) == entries_);
  double square = 0.0;
  for (int64_t i = 0; i < entries_; ++i) {
    column(k)[i * stride_] = values[i];
    square += static_cast<double>(values[i]) * values[i];
  }
  scale_[k] = 1.0;
  square_[k] = square;
  wins_[k] = wins;
}

HotsLayer::Match HotsLayer::match(const SparseSurface& surface) const {
  std::array<float, kMostPrototypes> products{};
  surface_products(surface.used_indices(), surface.used_values(), table_.data(), stride_,
                   products.data());
  // ‖C - S‖² = ‖C‖² - 2 C·S + ‖S‖²; the last term is the same for all.
  Match best;
  double least = 0.0;
  for (int64_t k = 0; k < prototypes_; ++k) {
    const double product = scale_[k] * products[k];
    const double distance = square_[k] - 2.0 * product;
    if (k > 0 && !(distance < least)) continue;
    best = {.k = k, .product = product};
    least = distance;
  }
  return best;
}

int64_t HotsLayer::winner(const SparseSurface& surface) const { return match(surface).k; }

int64_t HotsLayer::learn(const SparseSurface& surface) {
  constexpr double kSmallestScale = 1e-3;
  const auto [k, product] = match(surface);
  double surface_square = 0.0;
  for (const float value : surface.used_values()) {
    surface_square += static_cast<double>(value) * value;
  }
  const double rate = hots_rate(wins_[k]);
  const double lengths = std::sqrt(square_[k] * surface_square);
  const double cosine = lengths > 0.0 ? product / lengths : 0.0;
  const double kept = 1.0 - rate * cosine;
  scale_[k] *= kept;
  const double added = rate / scale_[k];
  float* table = column(k);
  const std::span<const int32_t> indices = surface.used_indices();
  const std::span<const float> values = surface.used_values();
  for (std::size_t i = 0; i < indices.size(); ++i) {
    table[indices[i] * stride_] += static_cast<float>(added * values[i]);
  }
  square_[k] = std::max(
      0.0, kept * kept * square_[k] + 2.0 * kept * rate * product + rate * rate * surface_square);
  ++wins_[k];
  if (scale_[k] < kSmallestScale) fold_scale(k);
  return k;
}

// Also recomputes the squared length, which has been updated incrementally until now.
void HotsLayer::fold_scale(int64_t k) { set_prototype(k, prototype(k), wins_[k]); }

}  // namespace bntt
