#pragma once

#include "bntt/network.h"

namespace bntt {

/// Streaming inference: steps are fed as they arrive, and the voltage so far can be read at any
/// time. The network must outlive the session and keep its numbers meanwhile.
class Session {
 public:
  Session(const Network& network, int64_t batch)
      : network_(&network), state_(network.start(batch)) {}

  /// Back to rest, for the next images.
  void restart() { network_->restart(state_, state_.batch); }

  /// A window of one or more steps; any cutting into windows gives the same bits.
  void advance(const Signal& window, Activity* activity = nullptr) {
    network_->advance(window, state_, activity);
  }
  int64_t steps_done() const { return state_.steps_done; }
  bool done() const { return state_.steps_done == active_steps(network_->spec()); }
  /// [batch, class]
  Buffer<float> logits() const { return network_->logits(state_); }

 private:
  const Network* network_;
  ChainState state_;
};

}  // namespace bntt
