#include "analyse/synapse_work.h"

#include <numeric>

#include "base/threads.h"
#include "kernels/unpack.h"

namespace bntt {
namespace {

/// Rows (or columns) of a map that a 3-wide kernel centred at a place reaches.
int64_t reach(int64_t place, int64_t extent) {
  return 1 + (place > 0 ? 1 : 0) + (place + 1 < extent ? 1 : 0);
}

}  // namespace

std::vector<int64_t> fan_out(const StagePlan& plan) {
  std::vector<int64_t> result;
  for (int64_t y = 0; y < plan.source.height; ++y) {
    for (int64_t x = 0; x < plan.source.width; ++x) {
      const int64_t pooled_y = y / plan.pool_height;
      const int64_t pooled_x = x / plan.pool_width;
      const bool dropped = pooled_y >= plan.input.height || pooled_x >= plan.input.width;
      const int64_t taps =
          plan.synapse == SynapseKind::conv3x3
              ? reach(pooled_y, plan.input.height) * reach(pooled_x, plan.input.width)
              : 1;
      result.push_back(dropped ? 0 : taps * plan.output.channels);
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
    : network_(network), windows_(windows) {
  const std::vector<int64_t> zeros(network.spec().steps, 0);
  for (const StagePlan& plan : network.stages()) {
    fan_outs_.push_back(fan_out(plan));
    work_.frames.push_back(zeros);
    work_.accumulates.push_back(zeros);
    work_.multiply_accumulates.push_back(zeros);
  }
  work_.input_spikes = zeros;
}

void WorkCounter::count(std::size_t stage, int64_t first, const Signal& input) {
  const StagePlan& plan = network_.stages()[stage];
  const auto* spikes = std::get_if<SpikeTrain>(&input);
  const bool constant = spikes == nullptr && std::get<DenseTrain>(input).constant;
  const std::vector<int64_t> accumulates =
      spikes == nullptr ? std::vector<int64_t>() : accumulates_per_step(fan_outs_[stage], *spikes);
  for (int64_t step = 0; step < signal_steps(input); ++step) {
    const int64_t run_step = plan.first_step + first + step;
    if (stage == 0 && spikes != nullptr) {
      for (int64_t plane = 0; plane < spikes->planes(); ++plane) {
        work_.input_spikes[run_step] += kernels::count_spikes(
            spikes->frame(plane, step, 0), spikes->batch() * spikes->words_per_frame());
      }
    }
    if (!windows_.empty() && !windows_.active[stage][run_step]) continue;
    if (constant && constant_counted_) continue;
    constant_counted_ = constant_counted_ || constant;
    work_.frames[stage][run_step] += signal_batch(input);
    if (spikes != nullptr) {
      work_.accumulates[stage][run_step] += accumulates[step];
    } else {
      work_.multiply_accumulates[stage][run_step] += signal_batch(input) * plan.macs;
    }
  }
}

}  // namespace bntt
