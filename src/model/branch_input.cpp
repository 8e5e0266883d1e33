#include "model/branch_input.h"

#include <algorithm>

#include "base/fail.h"
#include "base/threads.h"
#include "kernels/max_pool.h"
#include "layers/synapses/synapse.h"
#include "layers/synapses/unpacked_frames.h"

namespace bntt {
namespace {

kernels::PooledMap max_pool_of(const BranchPlan& plan) {
  return {plan.source, plan.pool_height, plan.pool_width, PoolKind::max};
}

bool has_max_pool(const BranchPlan& plan) { return plan.pools() && plan.pool == PoolKind::max; }

/// The planes of all sources, one after the other.
Signal added_up(const std::vector<const Signal*>& sources) {
  std::vector<float> plane_weights;
  for (const Signal* source : sources) {
    const auto& weights = std::get<SpikeTrain>(*source).plane_weights();
    plane_weights.insert(plane_weights.end(), weights.begin(), weights.end());
  }
  const auto& first = std::get<SpikeTrain>(*sources.front());
  SpikeTrain sum(first.steps(), first.batch(), first.shape(), plane_weights);
  SpikeWord* to = sum.words().data();
  for (const Signal* source : sources) {
    const Buffer<SpikeWord>& words = std::get<SpikeTrain>(*source).words();
    to = std::copy(words.begin(), words.end(), to);
  }
  return sum;
}

Signal max_pooled(const BranchPlan& plan, const Signal& source) {
  const kernels::PooledMap map = max_pool_of(plan);
  if (const auto* dense = std::get_if<DenseTrain>(&source)) {
    const int64_t frames = stored_frames(source);
    DenseTrain pooled{.steps = dense->steps,
                      .batch = dense->batch,
                      .shape = plan.input,
                      .constant = dense->constant,
                      .values = Buffer<float>(frames * plan.input.size())};
    parallel_for(frames, [&](int64_t f) {
      kernels::max_pool_frame(map, dense->values.data() + f * plan.source.size(),
                              pooled.values.data() + f * plan.input.size());
    });
    return pooled;
  }
  const auto& spikes = std::get<SpikeTrain>(source);
  if (spikes.planes() != 1) {
    fail("{}: a max pool takes spikes of one plane, but its source has {}", plan.name,
         spikes.planes());
  }
  SpikeTrain pooled(spikes.steps(), spikes.batch(), plan.input, spikes.plane_weights());
  parallel_for(spikes.steps() * spikes.batch(), [&](int64_t f) {
    kernels::max_pool_spikes(map, spikes.frame(0, 0, 0) + f * spikes.words_per_frame(),
                             pooled.frame(0, 0, 0) + f * pooled.words_per_frame());
  });
  return pooled;
}

}  // namespace

BranchInput::BranchInput(const BranchPlan& plan, const std::vector<const Signal*>& sources)
    : source_(sources.front()) {
  if (sources.size() > 1) own_ = added_up(sources);
  if (has_max_pool(plan)) own_ = max_pooled(plan, signal());
}

ArrivingGradient at_source(const BranchPlan& plan, const Signal& source, Buffer<float> gradient) {
  if (!has_max_pool(plan)) return {std::move(gradient), pool_of(plan)};
  const kernels::PooledMap map = max_pool_of(plan);
  const int64_t frames = stored_frames(source);
  Buffer<float> spread(frames * plan.source.size());
  const auto* dense = std::get_if<DenseTrain>(&source);
  const auto* spikes = std::get_if<SpikeTrain>(&source);
  parallel_for(frames, [&](int64_t f) {
    const float* from = gradient.data() + f * plan.input.size();
    float* to = spread.data() + f * plan.source.size();
    if (dense != nullptr) {
      kernels::max_unpool_frame(map, dense->values.data() + f * plan.source.size(), from, to);
    } else {
      kernels::max_unpool_spikes(map, spikes->frame(0, 0, 0) + f * spikes->words_per_frame(), from,
                                 to);
    }
  });
  return {std::move(spread), {plan.source}};
}

Buffer<float> unpooled(ArrivingGradient gradient) {
  if (gradient.pool.is_identity()) return std::move(gradient.values);
  const int64_t pooled = gradient.pool.pooled().size();
  const int64_t source = gradient.pool.source.size();
  const int64_t frames = gradient.values.size() / pooled;
  Buffer<float> result(frames * source);
  parallel_for(frames, [&](int64_t f) {
    kernels::unpool_frame(gradient.pool, gradient.values.data() + f * pooled,
                          result.data() + f * source);
  });
  return result;
}

void add_gradient(ArrivingGradient& sum, ArrivingGradient more) {
  if (sum.empty()) {
    sum = std::move(more);
    return;
  }
  const MapShape source = sum.pool.source;
  Buffer<float> total = unpooled(std::move(sum));
  const Buffer<float> added = unpooled(std::move(more));
  constexpr int64_t kBlock = 1 << 14;
  parallel_for((total.size() + kBlock - 1) / kBlock, [&](int64_t block) {
    for (int64_t i = block * kBlock; i < std::min(total.size(), (block + 1) * kBlock); ++i) {
      total[i] += added[i];
    }
  });
  sum = {std::move(total), {source}};
}

}  // namespace bntt
