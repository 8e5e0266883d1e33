#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "classical/features.h"
#include "data/sensor_size.h"

namespace bntt {

// Where published implementations differ, the first name is that of the paper.

/// Whether an event adds 1 at the centre of its own surface.
enum class HatsSelf { excluded, counted };
/// The divisor of the sum of a cell's surfaces: the number of all its events, or of those of the
/// polarity; or instead each surface is divided by the number of events in it.
enum class HatsDivisor { cell, polarity, neighbours };
/// Which events an event can see: those of its own cell, or also those across cell borders.
enum class HatsMemory { cell, sensor };
/// Whether an event can see simultaneous events that the file lists before it.
enum class HatsTies { hidden, listed };
/// Whether pixels that do not fill a whole cell get a partial cell or are dropped.
enum class HatsGrid { ceil, floor };
enum class HatsNormalise { none, length };

constexpr auto enum_names(HatsSelf) {
  return std::array{std::pair{HatsSelf::excluded, "excluded"},
                    std::pair{HatsSelf::counted, "counted"}};
}
constexpr auto enum_names(HatsDivisor) {
  return std::array{std::pair{HatsDivisor::cell, "cell"},
                    std::pair{HatsDivisor::polarity, "polarity"},
                    std::pair{HatsDivisor::neighbours, "neighbours"}};
}
constexpr auto enum_names(HatsMemory) {
  return std::array{std::pair{HatsMemory::cell, "cell"}, std::pair{HatsMemory::sensor, "sensor"}};
}
constexpr auto enum_names(HatsTies) {
  return std::array{std::pair{HatsTies::hidden, "hidden"}, std::pair{HatsTies::listed, "listed"}};
}
constexpr auto enum_names(HatsGrid) {
  return std::array{std::pair{HatsGrid::ceil, "ceil"}, std::pair{HatsGrid::floor, "floor"}};
}
constexpr auto enum_names(HatsNormalise) {
  return std::array{std::pair{HatsNormalise::none, "none"},
                    std::pair{HatsNormalise::length, "length"}};
}

struct HatsOptions {
  int64_t cell = 10;            ///< side of a cell in pixels: K
  int64_t radius = 3;           ///< of a surface: ρ
  int64_t window_us = 100'000;  ///< how far back an event can see: Δt
  double tau_us = 1e9;          ///< decay with time: τ
  HatsSelf self = HatsSelf::excluded;
  HatsDivisor divisor = HatsDivisor::cell;
  HatsMemory memory = HatsMemory::cell;
  HatsTies ties = HatsTies::hidden;
  HatsGrid grid = HatsGrid::ceil;
  bool merge_polarities = false;
  int64_t denoise_us = 0;  ///< of the noise filter; 0: none
  HatsNormalise normalise = HatsNormalise::none;
  bool operator==(const HatsOptions&) const = default;
};

/// Histograms of averaged time surfaces (Sironi et al. 2018). For event i of cell c and every
/// offset z up to ρ, T_i(z) = Σ exp(-(t_i - t_j)/τ) over the events j of the same cell and polarity
/// at x_i + z with t_i - Δt <= t_j < t_i; the features are the means of T_i over the cell's events.
class Hats {
 public:
  Hats(const SensorSize& sensor, const HatsOptions& options);

  int64_t columns() const { return columns_; }
  int64_t rows() const { return rows_; }
  int64_t polarities() const { return options_.merge_polarities ? 1 : 2; }
  int64_t surface_side() const { return 2 * options_.radius + 1; }
  int64_t features() const;

  /// [cell y, cell x, polarity (off, on), z_y, z_x]; events must be in order of time.
  std::vector<double> surfaces(const std::vector<Event>& events) const;

  SparseFeatures extract(const Recording& recording) const;

 private:
  HatsOptions options_;
  int64_t columns_;
  int64_t rows_;
};

}  // namespace bntt
