#include "layers/conv_synapse.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "base/threads.h"
#include "layers/spike_density.h"
#include "layers/unpacked_frames.h"

namespace bntt {
namespace {

// Enough pixels to use a block of weights again and again, few enough that one image of few steps
// feeds all threads.
int64_t frames_per_walk(const MapShape& map) {
  constexpr int64_t kPixels = 512;
  return std::max<int64_t>(1, kPixels / map.pixels());
}

/// Calls visit(first, end) for every run of frames below the break-even.
template <typename Visit>
void for_each_sparse_run(const std::vector<bool>& dense, int64_t first, int64_t end,
                         const Visit& visit) {
  for (int64_t f = first; f < end;) {
    int64_t run_end = f;
    while (run_end < end && !dense[run_end]) ++run_end;
    if (run_end > f) visit(f, run_end);
    f = run_end + 1;
  }
}

}  // namespace

ConvSynapse::ConvSynapse(const StagePlan& plan) : map_(pool_of(plan)), walk_(plan) {
  if (ConvWinograd::suits(plan)) {
    winograd_.emplace(plan);
  } else {
    direct_.emplace(plan);
  }
}

class ConvSynapse::Weights final : public PreparedWeights {
 public:
  Weights(const ConvSynapse& synapse, const float* plain) : synapse_(synapse), plain_(plain) {}

  const float* plain() const { return plain_; }
  const float* for_walk() const {
    std::call_once(walk_once_, [&] { walk_ = synapse_.walk_.pack(plain_); });
    return walk_.data();
  }
  const float* for_winograd() const {
    std::call_once(winograd_once_, [&] { winograd_ = synapse_.winograd_->pack(plain_); });
    return winograd_.data();
  }

 private:
  const ConvSynapse& synapse_;
  const float* plain_;
  mutable std::once_flag walk_once_, winograd_once_;
  mutable Buffer<float> walk_, winograd_;
};

std::unique_ptr<PreparedWeights> ConvSynapse::prepare(const float* weights) const {
  return std::make_unique<Weights>(*this, weights);
}

void ConvSynapse::forward(const Signal& input, const PreparedWeights& weights, float* current,
                          const FramesWritten& written) const {
  const auto& prepared = static_cast<const Weights&>(weights);
  if (std::holds_alternative<SpikeTrain>(input)) {
    forward_spikes(input, prepared, current, written);
  } else {
    forward_dense(input, prepared, current, written);
  }
}

// Each frame by its own density: what an image gets cannot depend on the others of its batch.
void ConvSynapse::forward_spikes(const Signal& input, const Weights& weights, float* current,
                                 const FramesWritten& written) const {
  const auto& spikes = std::get<SpikeTrain>(input);
  const int64_t frames = stored_frames(input);
  std::vector<bool> dense(static_cast<std::size_t>(frames), false);
  int64_t dense_count = 0;
  if (winograd_) {
    for (int64_t f = 0; f < frames; ++f) {
      dense[f] = spike_density(spikes, map_, f) > break_even_.forward;
      if (dense[f]) ++dense_count;
    }
  }
  const float* for_walk = dense_count < frames ? weights.for_walk() : nullptr;
  const float* for_winograd = dense_count > 0 ? weights.for_winograd() : nullptr;
  const int64_t chunk =
      dense_count > 0 ? winograd_->frames_per_chunk() : frames_per_walk(map_.pooled());
  parallel_for((frames + chunk - 1) / chunk, [&](int64_t i) {
    const int64_t first = i * chunk;
    const int64_t end = std::min(first + chunk, frames);
    for_each_sparse_run(dense, first, end, [&](int64_t from, int64_t to) {
      walk_.forward(spikes, from, to - from, chunk, for_walk, current);
    });
    std::vector<int64_t> dense_frames;
    for (int64_t f = first; f < end; ++f) {
      if (dense[f]) dense_frames.push_back(f);
    }
    if (!dense_frames.empty()) {
      winograd_->forward(input, dense_frames, for_winograd, current);
    }
    written(first, end);
  });
}

void ConvSynapse::forward_dense(const Signal& input, const Weights& weights, float* current,
                                const FramesWritten& written) const {
  if (!winograd_) {
    direct_->forward(input, weights.plain(), current, written);
    return;
  }
  const float* packed = weights.for_winograd();
  const int64_t frames = stored_frames(input);
  const int64_t chunk = winograd_->frames_per_chunk();
  parallel_for((frames + chunk - 1) / chunk, [&](int64_t i) {
    const int64_t first = i * chunk;
    const int64_t end = std::min(first + chunk, frames);
    std::vector<int64_t> of_chunk;
    for (int64_t f = first; f < end; ++f) of_chunk.push_back(f);
    winograd_->forward(input, of_chunk, packed, current);
    written(first, end);
  });
}

void ConvSynapse::weight_gradient(const Signal& input, const float* current_gradient,
                                  float* weight_gradient) const {
  const auto* spikes = std::get_if<SpikeTrain>(&input);
  if (winograd_ &&
      (spikes == nullptr || spike_density(*spikes, map_) > break_even_.weight_gradient)) {
    winograd_->weight_gradient(input, current_gradient, weight_gradient);
  } else if (spikes != nullptr) {
    walk_.weight_gradient(*spikes, current_gradient, weight_gradient);
  } else {
    direct_->weight_gradient(input, current_gradient, weight_gradient);
  }
}

void ConvSynapse::input_gradient(const float* current_gradient, const float* weights,
                                 int64_t frames, float* input_gradient) const {
  if (winograd_) {
    winograd_->input_gradient(current_gradient, weights, frames, input_gradient);
  } else {
    direct_->input_gradient(current_gradient, weights, frames, input_gradient);
  }
}

}  // namespace bntt
