#include "model/branch_input.h"

#include <algorithm>

#include "base/fail.h"
#include "base/threads.h"
#include "kernels/max_pool.h"
#include "layers/synapses/gradient_chunk.h"
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

int64_t frames_of(const ArrivingGradient& gradient) {
  return gradient.values.size() / gradient.pool.pooled().size();
}

/// One frame as floats, spread over the windows of its pool.
void read_frame(const ArrivingGradient& gradient, int64_t frame, float* to) {
  const int64_t pooled = gradient.pool.pooled().size();
  const kernels::GradientView values = gradient.values.view().from(frame * pooled);
  if (gradient.pool.is_identity()) {
    values.read(pooled, to);
  } else {
    kernels::unpool_frame(gradient.pool, gradient_floats(values, pooled, ScratchSlot::gradient),
                          to);
  }
}

}  // namespace

BranchInput::BranchInput(const BranchPlan& plan, const std::vector<const Signal*>& sources)
    : source_(sources.front()) {
  if (sources.size() > 1) own_ = added_up(sources);
  if (has_max_pool(plan)) own_ = max_pooled(plan, signal());
}

ArrivingGradient at_source(const BranchPlan& plan, const Signal& source, GradientBuffer gradient) {
  if (!has_max_pool(plan)) return {std::move(gradient), pool_of(plan)};
  const kernels::PooledMap map = max_pool_of(plan);
  const int64_t frames = stored_frames(source);
  GradientBuffer spread(frames * plan.source.size(), gradient.in_halves());
  const auto* dense = std::get_if<DenseTrain>(&source);
  const auto* spikes = std::get_if<SpikeTrain>(&source);
  parallel_for(frames, [&](int64_t f) {
    const float* from = gradient_floats(gradient.view().from(f * plan.input.size()),
                                        plan.input.size(), ScratchSlot::gradient);
    const GradientChunk to(spread.place().from(f * plan.source.size()), plan.source.size(),
                           ScratchSlot::result);
    if (dense != nullptr) {
      kernels::max_unpool_frame(map, dense->values.data() + f * plan.source.size(), from,
                                to.floats());
    } else {
      kernels::max_unpool_spikes(map, spikes->frame(0, 0, 0) + f * spikes->words_per_frame(), from,
                                 to.floats());
    }
    to.finish();
  });
  return {std::move(spread), {plan.source}};
}

Buffer<float> unpooled(ArrivingGradient gradient) {
  if (gradient.pool.is_identity()) return gradient.values.take_floats();
  const int64_t source = gradient.pool.source.size();
  const int64_t frames = frames_of(gradient);
  Buffer<float> result(frames * source);
  parallel_for(frames, [&](int64_t f) { read_frame(gradient, f, result.data() + f * source); });
  return result;
}

// In the number format of the first of them.
void add_gradient(ArrivingGradient& sum, ArrivingGradient more) {
  if (sum.empty()) {
    sum = std::move(more);
    return;
  }
  const int64_t size = sum.pool.source.size();
  const int64_t frames = frames_of(sum);
  ArrivingGradient total{.pool = {sum.pool.source}};
  const bool in_place = sum.pool.is_identity();
  if (!in_place) total.values = GradientBuffer(frames * size, sum.values.in_halves());
  const kernels::GradientPlace place = (in_place ? sum : total).values.place();
  parallel_for(frames, [&](int64_t f) {
    float* values = thread_scratch(ScratchSlot::result, size);
    float* added = thread_scratch(ScratchSlot::unpacked, size);
    read_frame(sum, f, values);
    read_frame(more, f, added);
    for (int64_t i = 0; i < size; ++i) values[i] += added[i];
    place.from(f * size).write(values, size);
  });
  if (in_place) total.values = std::move(sum.values);
  sum = std::move(total);
}

}  // namespace bntt
