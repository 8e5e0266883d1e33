#include "layers/synapses/synapse.h"

#include <algorithm>
#include <limits>

#include "base/threads.h"
#include "kernels/kernel_set.h"
#include "layers/synapses/prepared_weights.h"
#include "layers/synapses/spike_density.h"
#include "layers/synapses/unpacked_frames.h"

namespace bntt {
namespace {

std::vector<int64_t> weight_shape(const BranchPlan& plan) {
  if (plan.synapse == SynapseKind::conv) {
    return {plan.output.channels, plan.input.channels, plan.geometry.kernel, plan.geometry.kernel};
  }
  return {plan.output.channels, plan.input.size()};
}

/// The ways that occur, each once.
std::vector<const SynapseWay*> distinct(const std::vector<const SynapseWay*>& of_frames) {
  std::vector<const SynapseWay*> ways;
  for (const SynapseWay* way : of_frames) {
    if (way != nullptr && std::ranges::find(ways, way) == ways.end()) ways.push_back(way);
  }
  return ways;
}

std::vector<int64_t> frames_of(const SynapseWay* way, int64_t first, int64_t end,
                               const std::vector<const SynapseWay*>& of_frames) {
  std::vector<int64_t> frames;
  for (int64_t f = first; f < end; ++f) {
    if (of_frames[f] == way) frames.push_back(f);
  }
  return frames;
}

}  // namespace

Synapse::Synapse(const BranchPlan& plan) : plan_(plan), ways_(make_ways(plan)) {}

std::vector<ParameterDeclaration> Synapse::parameters() const {
  std::vector<ParameterDeclaration> declared;
  if (plan_.synapse != SynapseKind::identity) {
    const int64_t taps = plan_.synapse == SynapseKind::conv ? plan_.geometry.taps() : 1;
    declared.push_back({.name = "weight",
                        .group = ParameterGroup::weight,
                        .pytorch_shape = weight_shape(plan_),
                        .input_channels = plan_.input.channels,
                        .start = DrawnStart{.fan_in = plan_.fan_in,
                                            .fan_out = taps * plan_.output.channels,
                                            .convolution = plan_.synapse == SynapseKind::conv}});
  }
  if (plan_.bias) {
    declared.push_back(
        {.name = "bias", .group = ParameterGroup::bias, .pytorch_shape = {plan_.output.channels}});
  }
  return declared;
}

const SynapseWay& Synapse::way_for(SynapseOperation operation, InputKind input, double density,
                                   Arithmetic arithmetic) const {
  const SynapseWay* best = nullptr;
  double least = std::numeric_limits<double>::infinity();
  // bf16 may fall back to fp32; int8 may not.
  const auto serves = [&](Arithmetic own) {
    return own == arithmetic || (own == Arithmetic::fp32 && arithmetic == Arithmetic::bf16);
  };
  for (const auto& way : ways_) {
    if (!serves(way->arithmetic()) || !way->does(operation, input)) continue;
    const double cost = way->cost(operation, density, break_even_);
    if (best == nullptr || cost < least) {
      best = way.get();
      least = cost;
    }
  }
  BNTT_CHECK(best != nullptr);
  return *best;
}

std::vector<const SynapseWay*> Synapse::ways_of_frames(const Signal& input, Arithmetic arithmetic,
                                                       const RestingFrames& resting) const {
  const InputKind kind = InputKind::of(input);
  const auto way_at = [&](double density) -> const SynapseWay& {
    return way_for(SynapseOperation::forward, kind, density, arithmetic);
  };
  const SynapseWay& of_silence = way_at(0.0);
  std::vector<const SynapseWay*> ways(static_cast<std::size_t>(stored_frames(input)), &of_silence);
  for (std::size_t f = 0; f < resting.size(); ++f) {
    if (resting[f]) ways[f] = nullptr;
  }
  const SynapseWay& of_storm = way_at(std::numeric_limits<double>::max());
  if (&of_silence == &of_storm) return ways;
  const kernels::PooledMap map = pool_of(plan_);
  for (std::size_t f = 0; f < ways.size(); ++f) {
    if (ways[f] == nullptr) continue;
    const double density = spike_density(std::get<SpikeTrain>(input), map, static_cast<int64_t>(f));
    ways[f] = &way_at(density);
  }
  return ways;
}

void Synapse::forward(const Signal& input, const PreparedWeights& weights, float* current,
                      const FramesWritten& written, Arithmetic arithmetic,
                      const RestingFrames& resting) const {
  constexpr int64_t kFramesHandedOver = 32;
  const int64_t frames = stored_frames(input);
  const int64_t size = plan_.output.size();
  const auto of_frames =
      ways_of_frames(input, weights.sums_integers(input) ? Arithmetic::int8 : arithmetic, resting);
  const auto used = distinct(of_frames);
  std::vector<WayWeights> packed;
  int64_t together = 1;
  for (const SynapseWay* way : used) {
    packed.push_back(weights.of(*way, input));
    together = std::max(together, way->frames_together());
  }
  const auto silence = [&](int64_t first, int64_t end, const FramePlace& place) {
    if (resting.empty()) return;
    for (int64_t f = first; f < end; ++f) {
      if (of_frames[f] == nullptr) std::fill_n(place.frame(f), size, 0.0F);
    }
  };
  if (together == SynapseWay::kAllFrames) {
    const Buffer<float> unkept(current == nullptr ? frames * size : 0);
    const FramePlace place{current == nullptr ? const_cast<float*>(unkept.data()) : current, 0,
                           size};
    for (std::size_t w = 0; w < used.size(); ++w) {
      used[w]->forward(input, frames_of(used[w], 0, frames, of_frames), packed[w], place);
    }
    silence(0, frames, place);
    if (!written) return;
    parallel_for((frames + kFramesHandedOver - 1) / kFramesHandedOver, [&](int64_t i) {
      const int64_t first = i * kFramesHandedOver;
      written(first, std::min(first + kFramesHandedOver, frames), place.frame(first));
    });
    return;
  }
  parallel_for((frames + together - 1) / together, [&](int64_t i) {
    const int64_t first = i * together;
    const int64_t end = std::min(first + together, frames);
    const FramePlace place = FramePlace::of_chunk(current, first, together, size);
    for (std::size_t w = 0; w < used.size(); ++w) {
      const auto of_chunk = frames_of(used[w], first, end, of_frames);
      if (!of_chunk.empty()) used[w]->forward(input, of_chunk, packed[w], place);
    }
    silence(first, end, place);
    if (written) written(first, end, place.data);
  });
}

bool Synapse::makes_rows(const Signal& input) const {
  return std::holds_alternative<SpikeTrain>(input) && plan_.synapse != SynapseKind::dense;
}

int64_t Synapse::block_channels() const {
  return kernels::kernels().channels_per_block(plan_.output.channels);
}

/// Lists of spikes for the frames that are walked, and the currents of dense frames, which their
/// ways compute all at once.
class Synapse::Rows final : public CurrentRows {
 public:
  Rows(const Synapse& synapse, const Signal& input, const PreparedWeights& weights,
       const RestingFrames& resting)
      : output_(synapse.plan_.output), block_(synapse.block_channels()) {
    const auto& spikes = std::get<SpikeTrain>(input);
    const auto of_frames = synapse.ways_of_frames(
        input, weights.sums_integers(input) ? Arithmetic::int8 : Arithmetic::fp32, resting);
    makers_.resize(of_frames.size(), nullptr);
    for (const SynapseWay* way : distinct(of_frames)) {
      const auto frames = frames_of(way, 0, std::ssize(of_frames), of_frames);
      const WayWeights packed = weights.of(*way, input);
      if (way->makes_rows()) {
        const int64_t span = frames.back() + 1 - frames.front();
        row_makers_.push_back(way->rows(spikes, frames.front(), span, packed));
        FrameRows* maker = row_makers_.back().get();
        for (const int64_t frame : frames) makers_[frame] = maker;
        parallel_for(std::ssize(frames), [&](int64_t i) { maker->read(frames[i]); });
      } else {
        make_whole(*way, input, frames, packed);
      }
    }
  }

  RowView row(int64_t frame, int64_t block, int64_t y, float* scratch) const override {
    if (makers_[frame] == nullptr) {
      return {whole_.data() + frame * output_.size() + y * output_.width * output_.channels +
                  block * block_,
              output_.channels};
    }
    makers_[frame]->write(frame, block, y, {.data = scratch, .stride = block_, .channels = block_});
    return {scratch, block_};
  }

 private:
  void make_whole(const SynapseWay& way, const Signal& input, const std::vector<int64_t>& frames,
                  const WayWeights& packed) {
    // Room for all frames, of which only the dense ones are ever touched.
    if (whole_.empty()) whole_ = Buffer<float>(std::ssize(makers_) * output_.size());
    const int64_t chunk = way.frames_together();
    parallel_for((std::ssize(frames) + chunk - 1) / chunk, [&](int64_t i) {
      const int64_t count = std::min(chunk, std::ssize(frames) - i * chunk);
      way.forward(input, {frames.data() + i * chunk, static_cast<std::size_t>(count)}, packed,
                  {whole_.data(), 0, output_.size()});
    });
  }

  MapShape output_;
  int64_t block_;
  std::vector<FrameRows*> makers_;  // one per frame; null if it was computed whole, or rests
  std::vector<std::unique_ptr<FrameRows>> row_makers_;
  Buffer<float> whole_;
};

std::unique_ptr<CurrentRows> Synapse::rows(const Signal& input, const PreparedWeights& weights,
                                           const RestingFrames& resting) const {
  return std::make_unique<Rows>(*this, input, weights, resting);
}

void Synapse::weight_gradient(const Signal& input, kernels::GradientView current_gradient,
                              float* weight_gradient, Arithmetic arithmetic) const {
  const auto* spikes = std::get_if<SpikeTrain>(&input);
  const double density = spikes == nullptr ? 1.0 : spike_density(*spikes, pool_of(plan_));
  way_for(SynapseOperation::weight_gradient, InputKind::of(input), density, arithmetic)
      .weight_gradient(input, current_gradient, weight_gradient);
}

void Synapse::input_gradient(kernels::GradientView current_gradient, const float* weights,
                             int64_t frames, kernels::GradientPlace input_gradient,
                             Arithmetic arithmetic) const {
  way_for(SynapseOperation::input_gradient, {}, 1.0, arithmetic)
      .input_gradient(current_gradient, weights, frames, input_gradient);
}

int64_t stored_frames(const Signal& signal) {
  const auto* dense = std::get_if<DenseTrain>(&signal);
  const int64_t steps = dense != nullptr ? dense->stored_steps() : signal_steps(signal);
  return steps * signal_batch(signal);
}

}  // namespace bntt
