#include "layers/conv_synapse.h"

#include <algorithm>
#include <map>
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
  constexpr int64_t kPixels = 1024;
  return std::max<int64_t>(1, kPixels / map.pixels());
}

// Few rows where there are few units of work otherwise: every thread should get several.
int64_t rows_per_band(const MapShape& output, int64_t units) {
  constexpr int64_t kUnitsPerThread = 4;
  const int64_t bands = (kUnitsPerThread * threads() + units - 1) / units;
  return std::max<int64_t>(1, output.height / bands);
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

ConvSynapse::ConvSynapse(const StagePlan& plan)
    : output_(plan.output), map_(pool_of(plan)), walk_(plan), patterns_(plan) {
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
  const float* for_patterns(const std::vector<float>& plane_weights) const {
    const std::scoped_lock lock(tables_mutex_);
    Buffer<float>& table = tables_[plane_weights];
    if (table.empty()) table = synapse_.patterns_.table(plain_, plane_weights);
    return table.data();
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
  mutable std::mutex tables_mutex_;
  mutable std::map<std::vector<float>, Buffer<float>> tables_;  // by the weights of the planes
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
std::vector<bool> ConvSynapse::dense_frames(const SpikeTrain& spikes) const {
  std::vector<bool> dense(static_cast<std::size_t>(spikes.steps() * spikes.batch()), false);
  if (!winograd_) return dense;
  for (std::size_t f = 0; f < dense.size(); ++f) {
    dense[f] = spike_density(spikes, map_, static_cast<int64_t>(f)) > break_even_.forward;
  }
  return dense;
}

std::unique_ptr<FrameRows> ConvSynapse::rows(const SpikeTrain& spikes, int64_t first, int64_t count,
                                             const Weights& weights) const {
  if (patterns_.suits(spikes)) {
    return patterns_.rows(spikes, first, count, weights.for_patterns(spikes.plane_weights()));
  }
  return walk_.rows(spikes, first, count, weights.for_walk());
}

void ConvSynapse::forward_spikes(const Signal& input, const Weights& weights, float* current,
                                 const FramesWritten& written) const {
  const auto& spikes = std::get<SpikeTrain>(input);
  const int64_t frames = stored_frames(input);
  const std::vector<bool> dense = dense_frames(spikes);
  const bool any_dense = std::ranges::find(dense, true) != dense.end();
  const float* for_winograd = any_dense ? weights.for_winograd() : nullptr;
  const int64_t chunk = any_dense ? winograd_->frames_per_chunk() : frames_per_walk(map_.pooled());
  parallel_for((frames + chunk - 1) / chunk, [&](int64_t i) {
    const int64_t first = i * chunk;
    const int64_t end = std::min(first + chunk, frames);
    const FramePlace place = FramePlace::of_chunk(current, first, chunk, output_.size());
    for_each_sparse_run(dense, first, end, [&](int64_t from, int64_t to) {
      const auto made = rows(spikes, from, to - from, weights);
      write_frames(*made, output_, walk_.block_channels(), from, to, place);
    });
    std::vector<int64_t> of_chunk;
    for (int64_t f = first; f < end; ++f) {
      if (dense[f]) of_chunk.push_back(f);
    }
    if (!of_chunk.empty()) winograd_->forward(input, of_chunk, for_winograd, place);
    written(first, end, place.data);
  });
}

bool ConvSynapse::makes_rows(const Signal& input) const {
  return std::holds_alternative<SpikeTrain>(input);
}

// First the lists of sparse frames, and the currents of dense ones, which Winograd's algorithm
// makes all at once. Then a unit of work is one block of channels in a band of rows of one image,
// over all steps: the block's weights and the band's membranes stay in the second-level cache, a
// row of currents in the first. Blocks change slowest, so that threads share the weights they read.
// How a map is cut into bands does not change what any neuron gets.
void ConvSynapse::forward_by_rows(const Signal& input, const PreparedWeights& weights,
                                  const RowMade& made) const {
  const auto& spikes = std::get<SpikeTrain>(input);
  const int64_t batch = spikes.batch();
  const int64_t frames = spikes.steps() * batch;
  const auto& prepared = static_cast<const Weights&>(weights);
  const std::vector<bool> dense = dense_frames(spikes);
  const auto sparse_rows = rows(spikes, 0, frames, prepared);
  const Buffer<float> stored = forward_dense_frames(input, dense, prepared);
  parallel_for(frames, [&](int64_t frame) {
    if (!dense[frame]) sparse_rows->read(frame);
  });

  const int64_t width = walk_.block_channels();
  const int64_t blocks = (output_.channels + width - 1) / width;
  const int64_t band = rows_per_band(output_, blocks * batch);
  const int64_t bands = (output_.height + band - 1) / band;
  parallel_for(blocks * batch * bands, [&](int64_t unit) {
    const int64_t block = unit / (batch * bands);
    const int64_t top = unit % bands * band;
    CurrentRow row{.image = unit / bands % batch,
                   .first_channel = block * width,
                   .channels = std::min(width, output_.channels - block * width)};
    float* values = thread_scratch(ScratchSlot::result, output_.width * width);
    for (row.step = 0; row.step < spikes.steps(); ++row.step) {
      const int64_t frame = row.step * batch + row.image;
      for (row.y = top; row.y < std::min(top + band, output_.height); ++row.y) {
        if (dense[frame]) {
          row.values = stored.data() + frame * output_.size() +
                       row.y * output_.width * output_.channels + row.first_channel;
          row.stride = output_.channels;
        } else {
          sparse_rows->write(frame, block, row.y,
                             {.data = values, .stride = width, .channels = width});
          row.values = values;
          row.stride = width;
        }
        made(row);
      }
    }
  });
}

/// Room for all frames' currents, of which only the dense ones are ever touched; empty if there are
/// none.
Buffer<float> ConvSynapse::forward_dense_frames(const Signal& input, const std::vector<bool>& dense,
                                                const Weights& weights) const {
  std::vector<int64_t> frames;
  for (int64_t f = 0; f < std::ssize(dense); ++f) {
    if (dense[f]) frames.push_back(f);
  }
  if (frames.empty()) return {};
  const float* packed = weights.for_winograd();
  Buffer<float> current(std::ssize(dense) * output_.size());
  const int64_t chunk = winograd_->frames_per_chunk();
  parallel_for((std::ssize(frames) + chunk - 1) / chunk, [&](int64_t i) {
    const int64_t count = std::min(chunk, std::ssize(frames) - i * chunk);
    winograd_->forward(input, {frames.data() + i * chunk, static_cast<std::size_t>(count)}, packed,
                       {current.data(), 0, output_.size()});
  });
  return current;
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
    const FramePlace place = FramePlace::of_chunk(current, first, chunk, output_.size());
    winograd_->forward(input, of_chunk, packed, place);
    written(first, end, place.data);
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
