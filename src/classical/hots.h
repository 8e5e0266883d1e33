#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "classical/hots_layer.h"
#include "data/sensor_size.h"

namespace bntt {

/// Initial values of the prototypes: the first surfaces of the training recordings, as in the
/// paper, or random vectors of length 1.
enum class HotsStart { surfaces, random };
constexpr auto enum_names(HotsStart) {
  return std::array{std::pair{HotsStart::surfaces, "surfaces"},
                    std::pair{HotsStart::random, "random"}};
}

/// How the class is decided: by one of the HistogramDistances, as in the paper, or a linear SVM.
enum class HotsClassifier { euclid, normalised, bhattacharyya, svm };
constexpr auto enum_names(HotsClassifier) {
  return std::array{std::pair{HotsClassifier::euclid, "euclid"},
                    std::pair{HotsClassifier::normalised, "normalised"},
                    std::pair{HotsClassifier::bhattacharyya, "bhattacharyya"},
                    std::pair{HotsClassifier::svm, "svm"}};
}

struct HotsOptions {
  std::vector<int64_t> prototypes = {4, 8, 16};  ///< per layer
  std::vector<int64_t> radius = {2, 4, 8};
  std::vector<double> tau_us = {10e3, 100e3, 1000e3};
  HotsStart start = HotsStart::surfaces;
  bool filter = false;           ///< drops events whose surface has at most 2R entries
  double cutoff = 0.0;           ///< entries of a surface up to this value count as 0
  int64_t learn_recordings = 0;  ///< recordings, from the first on, that train prototypes; 0: all
  HotsClassifier classifier = HotsClassifier::normalised;
  bool operator==(const HotsOptions&) const = default;
};

/// A hierarchy of time surfaces (Lagorce et al. 2017): every layer replaces an event's polarity
/// with the index of the prototype nearest to the surface around it.
class Hots {
 public:
  Hots(const SensorSize& sensor, const HotsOptions& options);

  int64_t layers() const { return static_cast<int64_t>(layers_.size()); }
  const HotsLayer& layer(int64_t index) const { return layers_[index]; }
  int64_t radius(int64_t index) const { return options_.radius[index]; }
  /// Number of polarities of a layer's input.
  int64_t polarities(int64_t index) const;
  int64_t bins() const { return options_.prototypes.back(); }

  /// Learns one layer from one recording after another. The layers before it must be learned
  /// already.
  class Learning {
   public:
    Learning(Hots& hots, int64_t layer, uint64_t seed);
    void add(const Recording& recording);

   private:
    void take(const SparseSurface& surface);

    Hots& hots_;
    int64_t layer_;
    int64_t started_;  // prototypes that have been initialised
  };

  /// An event after the first `layers` layers.
  struct Output {
    int64_t time_us = 0;
    int64_t x = 0;
    int64_t y = 0;
    int64_t prototype = 0;
  };
  std::vector<Output> outputs(const Recording& recording, int64_t layers) const;

  /// How often each prototype of the last layer is nearest.
  std::vector<double> histogram(const Recording& recording) const;

 private:
  class Pass;

  SensorSize sensor_;
  HotsOptions options_;
  std::vector<HotsLayer> layers_;
};

}  // namespace bntt
