#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data/sensor_size.h"

namespace bntt {

/// The nonzero entries of a time surface, in order of their indices.
struct SparseSurface {
  std::vector<int32_t> indices;  ///< [u_y, u_x, polarity]; the first `size` are in use
  std::vector<float> values;
  int64_t size = 0;

  std::span<const int32_t> used_indices() const {
    return std::span(indices).first(static_cast<std::size_t>(size));
  }
  std::span<const float> used_values() const {
    return std::span(values).first(static_cast<std::size_t>(size));
  }
};

/// How long ago each pixel and polarity had its last event.
///
/// S(u, q) = exp(-(t - L[q][x + u])/τ) would take an exponential for every entry of every surface.
/// Since it equals exp(L/τ) / exp(t/τ), the map stores exp((L - start)/τ): one exponential for each
/// event that is written, one for each surface that is read. `start` is moved forward before a
/// float overflows, and values that have decayed below 1e-30 by then become 0, like a pixel that
/// never had an event.
class TimeSurfaces {
 public:
  struct Options {
    int64_t radius = 2;
    int64_t polarities = 2;
    double tau_us = 10'000;
    double cutoff = 0.0;  ///< entries up to this value count as 0
  };

  TimeSurfaces(const SensorSize& sensor, const Options& options);

  int64_t entries() const { return side_ * side_ * options_.polarities; }

  /// Records an event, then reads the surface around it. Times must not decrease.
  void surface_at(int64_t x, int64_t y, int64_t polarity, int64_t time_us, SparseSurface& surface);

 private:
  void move_start(int64_t time_us);

  Options options_;
  int64_t side_;
  int64_t stride_;          // floats in a row of the map
  std::vector<float> map_;  // [y, x, polarity], with a margin of `radius` pixels
  int64_t start_us_ = 0;
  bool begun_ = false;
};

/// Learning rate of a prototype that has won this often.
double hots_rate(int64_t wins);

/// The prototypes of one layer.
///
/// Learning, C <- C + α(S - βC) with β = cos(C, S), shrinks every entry of C but adds only to the
/// few entries of S. C is stored as a scale times a table, so that a step touches only those
/// entries.
class HotsLayer {
 public:
  HotsLayer(int64_t prototypes, int64_t entries);

  int64_t prototypes() const { return prototypes_; }
  int64_t entries() const { return entries_; }
  int64_t wins(int64_t k) const { return wins_[k]; }
  std::vector<float> prototype(int64_t k) const;
  void set_prototype(int64_t k, std::span<const float> values, int64_t wins);

  /// The nearest prototype in Euclidean distance, the first of equals.
  int64_t winner(const SparseSurface& surface) const;
  /// Moves the nearest prototype towards the surface, and returns it.
  int64_t learn(const SparseSurface& surface);

 private:
  struct Match {
    int64_t k = 0;
    double product = 0.0;  ///< C_k · S
  };
  Match match(const SparseSurface& surface) const;
  float* column(int64_t k) { return table_.data() + k; }
  void fold_scale(int64_t k);

  int64_t prototypes_;
  int64_t entries_;
  int64_t stride_;              // prototypes, padded to whole vectors
  std::vector<float> table_;    // [entry, prototype]
  std::vector<double> scale_;   // [prototype]
  std::vector<double> square_;  // ‖C_k‖²
  std::vector<int64_t> wins_;
};

}  // namespace bntt
