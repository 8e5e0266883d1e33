#include "layers/synapses/dense_walk.h"

#include <algorithm>

#include "base/threads.h"
#include "kernels/kernel_set.h"
#include "layers/synapses/unpacked_frames.h"

namespace bntt {
namespace {

// Lists of spikes have 32-bit starts and an entry for every spike. Frames that could exceed this
// many spikes together are listed in groups; a batch of ordinary size is one group.
constexpr int64_t kListedTogether = 1 << 26;

/// [row, column] to [block, row, column of the block], zero past the last column, so that a block's
/// rows are adjacent in memory. read(first, count, to) copies values that are adjacent now.
template <typename Read>
Buffer<float> column_blocks(const Read& read, int64_t rows, int64_t columns, int64_t width) {
  const int64_t blocks = (columns + width - 1) / width;
  Buffer<float> result(blocks * rows * width);
  parallel_for(blocks, [&](int64_t block) {
    const int64_t count = std::min(width, columns - block * width);
    for (int64_t row = 0; row < rows; ++row) {
      float* to = result.data() + (block * rows + row) * width;
      read(row * columns + block * width, count, to);
      std::fill(to + count, to + width, 0.0F);
    }
  });
  return result;
}

}  // namespace

DenseWalk::DenseWalk(const BranchPlan& plan)
    : DenseWalk(plan, kernels::kernels().columns_per_block(plan.output.channels)) {}

DenseWalk::DenseWalk(const BranchPlan& plan, int64_t block)
    : inputs_(plan.input.size()),
      outputs_(plan.output.channels),
      block_(block),
      map_(pool_of(plan)) {}

Buffer<float> DenseWalk::pack(const float* weights,
                              const std::vector<float>& /*plane_weights*/) const {
  const auto read = [&](int64_t first, int64_t count, float* to) {
    std::copy_n(weights + first, count, to);
  };
  return column_blocks(read, inputs_, outputs_, block_);
}

void DenseWalk::forward(const Signal& input, std::span<const int64_t> frames,
                        const WayWeights& weights, const FramePlace& place) const {
  const int64_t together = std::max<int64_t>(1, kListedTogether / map_.source.size());
  for_each_run(frames, [&](int64_t begin, int64_t end) {
    for (int64_t first = begin; first < end; first += together) {
      forward_group(std::get<SpikeTrain>(input), first, std::min(together, end - first), weights,
                    place.frame(first));
    }
  });
}

void DenseWalk::forward_group(const SpikeTrain& input, int64_t first, int64_t count,
                              const WayWeights& weights, float* current) const {
  Buffer<int32_t> starts(count + 1);
  for (int64_t p = 0; p < input.planes(); ++p) {
    const SpikeWord* plane = input.frame(p, 0, 0) + first * input.words_per_frame();
    starts[0] = 0;
    for (int64_t f = 0; f < count; ++f) {
      starts[f + 1] = starts[f] + static_cast<int32_t>(kernels::count_pooled_spikes(
                                      map_, plane + f * input.words_per_frame()));
    }
    Buffer<int32_t> entries(starts[count]);
    parallel_for(count, [&](int64_t f) {
      kernels::list_inputs(map_, plane + f * input.words_per_frame(), entries.data() + starts[f]);
    });
    // Parallel over blocks of columns, not frames, so that a block of the weights stays in cache.
    parallel_for((outputs_ + block_ - 1) / block_, [&](int64_t block) {
      sum_block({.lists = {starts.data(), entries.data()},
                 .count = count,
                 .factor = input.plane_weights()[p] * map_.scale(),
                 .accumulate = p > 0,
                 .current = current},
                block, weights);
    });
  }
}

void DenseWalk::sum_block(const ListedSums& sums, int64_t block, const WayWeights& weights) const {
  kernels::kernels().sum_rows(sums.lists, sums.count,
                              {.table = weights.packed + block * inputs_ * block_,
                               .width = block_,
                               .columns = std::min(block_, outputs_ - block * block_),
                               .factor = sums.factor,
                               .accumulate = sums.accumulate,
                               .out = sums.current + block * block_,
                               .out_stride = outputs_});
}

DenseWalkInt8::DenseWalkInt8(const BranchPlan& plan)
    : DenseWalk(plan, kernels::kernels().integer_columns_per_block(plan.output.channels)) {}

Buffer<int16_t> DenseWalkInt8::pack_integers(const int8_t* weights,
                                             const std::vector<float>& /*plane_weights*/) const {
  Buffer<int16_t> words((outputs_ + block_ - 1) / block_ * inputs_ * block_ / 2);
  kernels::pack_integer_rows(weights, inputs_, outputs_, block_, words.data());
  return words;
}

void DenseWalkInt8::sum_block(const ListedSums& sums, int64_t block,
                              const WayWeights& weights) const {
  kernels::kernels().integer.sum_rows(
      sums.lists, sums.count,
      {.table = weights.packed_integers + block * inputs_ * block_ / 2,
       .width = block_,
       .columns = std::min(block_, outputs_ - block * block_),
       .factor = sums.factor,
       .accumulate = sums.accumulate,
       .out = sums.current + block * block_,
       .out_stride = outputs_});
}

void DenseWalk::weight_gradient(const Signal& signal, kernels::GradientView current_gradient,
                                float* weight_gradient) const {
  const auto& input = std::get<SpikeTrain>(signal);
  const int64_t frames = input.steps() * input.batch();
  const int64_t channels = map_.source.channels;
  const int64_t words = input.words_per_pixel();
  const auto read = [&](int64_t first, int64_t count, float* to) {
    current_gradient.from(first).read(count, to);
  };
  const Buffer<float> table = column_blocks(read, frames, outputs_, block_);
  parallel_for(map_.pooled().pixels() * words, [&](int64_t i) {
    const int64_t pixel = i / words;
    const int64_t first_channel = i % words * kSpikesPerWord;
    const kernels::SpikeLists lists{
        thread_scratch<int32_t>(ScratchSlot::starts, kSpikesPerWord + 1),
        thread_scratch<int32_t>(ScratchSlot::entries, kernels::frame_list_entries(map_, frames))};
    for (int64_t p = 0; p < input.planes(); ++p) {
      kernels::list_frames(map_, {input.frame(p, 0, 0), input.plane_weights()[p], frames}, pixel,
                           i % words, lists);
      for (int64_t block = 0; block * block_ < outputs_; ++block) {
        kernels::kernels().sum_rows(
            lists, std::min(kSpikesPerWord, channels - first_channel),
            {.table = table.data() + block * frames * block_,
             .width = block_,
             .columns = std::min(block_, outputs_ - block * block_),
             .factor = input.plane_weights()[p] * map_.scale(),
             .accumulate = p > 0,
             .out =
                 weight_gradient + (pixel * channels + first_channel) * outputs_ + block * block_,
             .out_stride = outputs_});
      }
    }
  });
}

}  // namespace bntt
