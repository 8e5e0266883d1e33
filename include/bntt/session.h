#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "bntt/api.h"
#include "bntt/model.h"
#include "bntt/network.h"

namespace bntt {

/// Streaming inference: steps are fed as they arrive, and the voltage so far can be read at any
/// time. Only one thread at a time may use a session; sessions of one model may run in several
/// threads.
class BNTT_API Session {
 public:
  /// For `batch` samples at a time. Throws Error for a number below 1.
  Session(Model model, int64_t batch)
      : model_(std::move(model)), network_(&model_->network()), state_(model_->start(batch)) {}
  /// The network must outlive the session, and its numbers must not change meanwhile.
  Session(const Network& network, int64_t batch)
      : network_(&network), state_(network.start(batch)) {}

  /// Resets the neurons to rest, for the next images. This and all functions below that read the
  /// state throw Error for a session that was moved from.
  void restart() { network_->restart(state_, state_.batch); }

  /// Runs a window of one or more steps; any division into windows gives the same bits. Throws
  /// Error for a window that does not fit: see Network::advance.
  void advance(const Signal& window, Activity* activity = nullptr) {
    network_->advance(window, state_, activity);
  }
  /// The same with options.
  void advance(const Signal& window, const AdvanceOptions& options) {
    network_->advance(window, state_, options);
  }
  /// Since the last start; with delayed propagation, counted as active_steps() counts.
  int64_t steps_done() const { return state_.steps_done; }
  /// Whether no step is left.
  bool done() const { return state_.steps_done == active_steps(network_->spec()); }
  /// The logits from the readout's voltage so far: [batch, class].
  Buffer<float> logits() const { return network_->logits(state_); }
  /// The voltages of a stage's neurons, after any reset: [batch, y, x, channel]; see
  /// Network::membranes. Throws Error if no stage has this name.
  Buffer<float> membranes(std::string_view stage) const;
  /// The class probabilities of one image after the steps so far: the softmax of its voltage,
  /// divided by these steps if the network divides by all. Throws Error for an image out of range.
  std::vector<float> probabilities(int64_t image = 0) const;

 private:
  std::optional<Model> model_;  // keeps the network alive
  const Network* network_;
  ChainState state_;
};

}  // namespace bntt
