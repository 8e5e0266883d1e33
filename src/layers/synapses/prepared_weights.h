#pragma once

#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "layers/synapses/integer_weights.h"
#include "layers/synapses/way.h"

namespace bntt {

/// A synapse's weights in the layouts that its ways read, packed on first use. Refers to the
/// weights, which must not change while it is used, and copies the scales. May be shared by
/// threads.
class PreparedWeights {
 public:
  explicit PreparedWeights(const float* plain) : plain_(plain) {}
  /// Weights that are scale · integer, with a scale for each output channel; without scales, any.
  PreparedWeights(std::span<const float> plain, std::span<const float> scales)
      : plain_(plain.data()), size_(std::ssize(plain)), scales_(scales.begin(), scales.end()) {}

  const float* plain() const { return plain_; }
  std::span<const float> scales() const { return scales_; }
  /// Whether the currents of this input are sums of integers, in units of the scales. Real values
  /// meet the weights as floats.
  bool sums_integers(const Signal& input) const {
    return !scales_.empty() && std::holds_alternative<SpikeTrain>(input);
  }

  /// The weights for a way and an input, packed on first use.
  WayWeights of(const SynapseWay& way, const Signal& input) const {
    Key key{&way, {}};
    if (way.packs_plane_weights()) key.second = std::get<SpikeTrain>(input).plane_weights();
    const std::scoped_lock lock(mutex_);
    auto found = packed_.find(key);
    if (found == packed_.end()) {
      PackedWeights packed;
      if (way.arithmetic() == Arithmetic::int8) {
        const Buffer<int8_t> integers =
            integer_weights({plain_, static_cast<std::size_t>(size_)}, scales_);
        packed.integers = way.pack_integers(integers.data(), key.second);
      } else {
        packed.floats = way.pack(plain_, key.second);
      }
      found = packed_.emplace(std::move(key), std::move(packed)).first;
    }
    const PackedWeights& packed = found->second;
    return {plain_, packed.floats.empty() ? nullptr : packed.floats.data(),
            packed.integers.empty() ? nullptr : packed.integers.data()};
  }

 private:
  using Key = std::pair<const SynapseWay*, std::vector<float>>;  // way, weights of the planes
  struct PackedWeights {
    Buffer<float> floats;
    Buffer<int16_t> integers;
  };

  const float* plain_;
  int64_t size_ = 0;
  std::vector<float> scales_;
  mutable std::mutex mutex_;
  mutable std::map<Key, PackedWeights> packed_;
};

}  // namespace bntt
