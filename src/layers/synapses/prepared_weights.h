#pragma once

#include <map>
#include <mutex>
#include <vector>

#include "layers/synapses/way.h"

namespace bntt {

/// A synapse's weights in the layouts that its ways read, packed on first use. Refers to the
/// weights, which must not change while it is used. May be shared by threads.
class PreparedWeights {
 public:
  explicit PreparedWeights(const float* plain) : plain_(plain) {}

  const float* plain() const { return plain_; }

  /// The weights for a way and an input, packed on first use.
  WayWeights of(const SynapseWay& way, const Signal& input) const {
    Key key{&way, {}};
    if (way.packs_plane_weights()) key.second = std::get<SpikeTrain>(input).plane_weights();
    const std::scoped_lock lock(mutex_);
    auto found = packed_.find(key);
    if (found == packed_.end()) {
      Buffer<float> packed = way.pack(plain_, key.second);
      found = packed_.emplace(std::move(key), std::move(packed)).first;
    }
    return {plain_, found->second.empty() ? nullptr : found->second.data()};
  }

 private:
  using Key = std::pair<const SynapseWay*, std::vector<float>>;  // way, weights of the planes

  const float* plain_;
  mutable std::mutex mutex_;
  mutable std::map<Key, Buffer<float>> packed_;
};

}  // namespace bntt
