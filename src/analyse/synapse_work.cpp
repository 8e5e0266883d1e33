#include "analyse/synapse_work.h"

#include <numeric>

#include "base/threads.h"
#include "kernels/unpack.h"
#include "layers/synapses/unpacked_frames.h"

namespace bntt {
namespace {

/// Output rows (or columns) that see an input row.
int64_t reach(int64_t place, const ConvGeometry& geometry, int64_t outputs) {
  int64_t count = 0;
  for (int64_t tap = 0; tap < geometry.kernel; ++tap) {
    const int64_t shifted = place + geometry.padding - tap;
    const bool seen = shifted >= 0 && shifted % geometry.stride == 0;
    if (seen && shifted / geometry.stride < outputs) ++count;
  }
  return count;
}

int64_t fan_out_at(const BranchPlan& plan, int64_t pooled_y, int64_t pooled_x) {
  switch (plan.synapse) {
    case SynapseKind::conv:
      return reach(pooled_y, plan.geometry, plan.output.height) *
             reach(pooled_x, plan.geometry, plan.output.width) * plan.output.channels;
    case SynapseKind::dense:
      return plan.output.channels;
    case SynapseKind::identity:
      break;
  }
  return 1;
}

}  // namespace

std::vector<int64_t> fan_out(const BranchPlan& plan) {
  const kernels::PooledMap map = pool_of(plan);
  std::vector<int64_t> result;
  for (int64_t y = 0; y < map.source.height; ++y) {
    for (int64_t x = 0; x < map.source.width; ++x) {
      const int64_t pooled_y = y / map.pool_height;
      const int64_t pooled_x = x / map.pool_width;
      const bool dropped = pooled_y >= plan.input.height || pooled_x >= plan.input.width;
      result.push_back(dropped ? 0 : fan_out_at(plan, pooled_y, pooled_x));
    }
  }
  return result;
}

std::vector<int64_t> accumulates_per_step(const std::vector<int64_t>& fan_out,
                                          const SpikeTrain& input) {
  const int64_t frames = input.steps() * input.batch();
  std::vector<int64_t> of_frame(frames, 0);
  parallel_for(frames, [&](int64_t i) {
    for (int64_t plane = 0; plane < input.planes(); ++plane) {
      const SpikeWord* words = input.frame(plane, i / input.batch(), i % input.batch());
      for (int64_t pixel = 0; pixel < input.shape().pixels(); ++pixel) {
        of_frame[i] +=
            fan_out[pixel] *
            kernels::count_spikes(words + pixel * input.words_per_pixel(), input.words_per_pixel());
      }
    }
  });
  std::vector<int64_t> result;
  for (int64_t step = 0; step < input.steps(); ++step) {
    const auto begin = of_frame.begin() + step * input.batch();
    result.push_back(std::accumulate(begin, begin + input.batch(), int64_t{0}));
  }
  return result;
}

double SynapseWork::dense_macs(const Network& network) const {
  double macs = 0.0;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const int64_t sum = std::accumulate(frames[i].begin(), frames[i].end(), int64_t{0});
    macs += static_cast<double>(sum) * static_cast<double>(network.stages()[i].macs);
  }
  return macs;
}

WorkCounter::WorkCounter(const Network& network, const StepWindows& windows)
    : network_(network), windows_(network.stage_windows(windows)) {
  const std::vector<int64_t> zeros(network.spec().steps, 0);
  for (const StagePlan& plan : network.stages()) {
    auto& of_stage = fan_outs_.emplace_back();
    for (const BranchPlan& branch : plan.branches) of_stage.push_back(fan_out(branch));
    work_.frames.push_back(zeros);
    work_.accumulates.push_back(zeros);
    work_.multiply_accumulates.push_back(zeros);
  }
  work_.input_spikes = zeros;
}

void WorkCounter::count(std::size_t stage, int64_t first,
                        const std::vector<const Signal*>& inputs) {
  const StagePlan& plan = network_.stages()[stage];
  for (int64_t step = 0; step < signal_steps(*inputs.front()); ++step) {
    const int64_t run_step = plan.first_step + first + step;
    if (const auto* spikes = std::get_if<SpikeTrain>(inputs.front()); stage == 0 && spikes) {
      for (int64_t plane = 0; plane < spikes->planes(); ++plane) {
        work_.input_spikes[run_step] += kernels::count_spikes(
            spikes->frame(plane, step, 0), spikes->batch() * spikes->words_per_frame());
      }
    }
  }
  for (std::size_t b = 0; b < inputs.size(); ++b) count_branch(stage, b, first, *inputs[b]);
}

void WorkCounter::count_branch(std::size_t stage, std::size_t branch, int64_t first,
                               const Signal& input) {
  const StagePlan& plan = network_.stages()[stage];
  const auto* spikes = std::get_if<SpikeTrain>(&input);
  const bool constant = spikes == nullptr && std::get<DenseTrain>(input).constant;
  const std::vector<int64_t> accumulates =
      spikes == nullptr ? std::vector<int64_t>()
                        : accumulates_per_step(fan_outs_[stage][branch], *spikes);
  for (int64_t step = 0; step < signal_steps(input); ++step) {
    const int64_t run_step = plan.first_step + first + step;
    if (!windows_.empty() && !windows_.active[stage][run_step]) continue;
    if (constant && !constants_counted_.emplace(stage, branch).second) continue;
    if (branch == 0) work_.frames[stage][run_step] += signal_batch(input);
    if (spikes != nullptr) {
      work_.accumulates[stage][run_step] += accumulates[step];
    } else {
      work_.multiply_accumulates[stage][run_step] +=
          signal_batch(input) * plan.branches[branch].macs;
    }
  }
}

}  // namespace bntt
