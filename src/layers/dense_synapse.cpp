#include "layers/dense_synapse.h"

#include <algorithm>
#include <mutex>

#include "base/threads.h"
#include "kernels/kernel_set.h"
#include "kernels/matmul.h"
#include "layers/unpacked_frames.h"

namespace bntt {
namespace {

// Every product has this many rows, padded with zeros at the end: a frame's bits then do not depend
// on its neighbours.
constexpr int64_t kFramesPerChunk = 32;
// Weight gradients sum over frames in order, this many at a time; the work is split over the
// inputs.
constexpr int64_t kFramesPerPass = 256;
constexpr int64_t kInputsPerBlock = 128;
// Lists of spikes have 32-bit starts and a place for every spike. Frames that could exceed this
// many spikes together are listed in groups; a batch of ordinary size is one group.
constexpr int64_t kListedTogether = 1 << 26;

/// [row, column] to [block, row, column of the block], zero past the last column: a block's rows
/// are then neighbours in memory.
Buffer<float> column_blocks(const float* values, int64_t rows, int64_t columns, int64_t width) {
  const int64_t blocks = (columns + width - 1) / width;
  Buffer<float> result(blocks * rows * width);
  parallel_for(blocks, [&](int64_t block) {
    const int64_t count = std::min(width, columns - block * width);
    for (int64_t row = 0; row < rows; ++row) {
      float* to = result.data() + (block * rows + row) * width;
      std::copy_n(values + row * columns + block * width, count, to);
      std::fill(to + count, to + width, 0.0F);
    }
  });
  return result;
}

}  // namespace

DenseSynapse::DenseSynapse(const StagePlan& plan)
    : map_(pool_of(plan)),
      inputs_(plan.input.size()),
      outputs_(plan.output.channels),
      block_(kernels::kernels().columns_per_block(outputs_)) {}

class DenseSynapse::Weights final : public PreparedWeights {
 public:
  Weights(const DenseSynapse& synapse, const float* plain) : synapse_(synapse), plain_(plain) {}

  const float* plain() const { return plain_; }
  const Buffer<float>& in_blocks() const {
    std::call_once(once_, [&] {
      blocks_ = column_blocks(plain_, synapse_.inputs_, synapse_.outputs_, synapse_.block_);
    });
    return blocks_;
  }

 private:
  const DenseSynapse& synapse_;
  const float* plain_;
  mutable std::once_flag once_;
  mutable Buffer<float> blocks_;
};

std::unique_ptr<PreparedWeights> DenseSynapse::prepare(const float* weights) const {
  return std::make_unique<Weights>(*this, weights);
}

void DenseSynapse::forward(const Signal& input, const PreparedWeights& weights, float* current,
                           const FramesWritten& written) const {
  const auto& prepared = static_cast<const Weights&>(weights);
  const int64_t frames = stored_frames(input);
  Buffer<float> unkept(current == nullptr ? frames * outputs_ : 0);
  if (current == nullptr) current = unkept.data();
  if (const auto* spikes = std::get_if<SpikeTrain>(&input)) {
    forward_spikes(*spikes, prepared, current);
  } else {
    forward_dense(input, prepared.plain(), current);
  }
  parallel_for((frames + kFramesPerChunk - 1) / kFramesPerChunk, [&](int64_t i) {
    const int64_t first = i * kFramesPerChunk;
    written(first, std::min(first + kFramesPerChunk, frames), current + first * outputs_);
  });
}

void DenseSynapse::forward_spikes(const SpikeTrain& input, const Weights& weights,
                                  float* current) const {
  const int64_t frames = input.steps() * input.batch();
  const int64_t together = std::max<int64_t>(1, kListedTogether / map_.source.size());
  for (int64_t first = 0; first < frames; first += together) {
    forward_spikes(input, {first, std::min(first + together, frames)}, weights, current);
  }
}

void DenseSynapse::forward_spikes(const SpikeTrain& input, const FrameRange& range,
                                  const Weights& weights, float* current) const {
  const int64_t frames = range.end - range.begin;
  const Buffer<float>& table = weights.in_blocks();
  Buffer<int32_t> starts(frames + 1);
  for (int64_t p = 0; p < input.planes(); ++p) {
    const SpikeWord* plane = input.frame(p, 0, 0) + range.begin * input.words_per_frame();
    starts[0] = 0;
    for (int64_t f = 0; f < frames; ++f) {
      starts[f + 1] = starts[f] + static_cast<int32_t>(kernels::count_pooled_spikes(
                                      map_, plane + f * input.words_per_frame()));
    }
    Buffer<int32_t> entries(starts[frames]);
    parallel_for(frames, [&](int64_t f) {
      kernels::list_inputs(map_, plane + f * input.words_per_frame(), entries.data() + starts[f]);
    });
    // Blocks of columns in parallel, not frames: a block of the weights then stays in cache.
    parallel_for((outputs_ + block_ - 1) / block_, [&](int64_t block) {
      kernels::kernels().sum_rows({starts.data(), entries.data()}, frames,
                                  {.table = table.data() + block * inputs_ * block_,
                                   .width = block_,
                                   .columns = std::min(block_, outputs_ - block * block_),
                                   .factor = input.plane_weights()[p] * map_.scale(),
                                   .accumulate = p > 0,
                                   .out = current + range.begin * outputs_ + block * block_,
                                   .out_stride = outputs_});
    });
  }
}

void DenseSynapse::forward_dense(const Signal& input, const float* weights, float* current) const {
  const int64_t frames = stored_frames(input);
  parallel_for((frames + kFramesPerChunk - 1) / kFramesPerChunk, [&](int64_t i) {
    const int64_t first = i * kFramesPerChunk;
    float* dense = thread_scratch(ScratchSlot::unpacked, kFramesPerChunk * inputs_);
    float* result = thread_scratch(ScratchSlot::result, kFramesPerChunk * outputs_);
    unpack_frames(input, map_, first, kFramesPerChunk, dense);
    kernels::matmul({.rows = kFramesPerChunk,
                     .columns = outputs_,
                     .inner = inputs_,
                     .a_stride = inputs_,
                     .b_stride = outputs_,
                     .c_stride = outputs_},
                    dense, weights, result);
    const int64_t real = std::min(kFramesPerChunk, frames - first);
    std::copy_n(result, real * outputs_, current + first * outputs_);
  });
}

void DenseSynapse::weight_gradient(const Signal& input, const float* current_gradient,
                                   float* weight_gradient) const {
  if (const auto* spikes = std::get_if<SpikeTrain>(&input)) {
    weight_gradient_spikes(*spikes, current_gradient, weight_gradient);
  } else {
    weight_gradient_dense(input, current_gradient, weight_gradient);
  }
}

void DenseSynapse::weight_gradient_spikes(const SpikeTrain& input, const float* current_gradient,
                                          float* weight_gradient) const {
  const int64_t frames = input.steps() * input.batch();
  const int64_t channels = map_.source.channels;
  const int64_t words = input.words_per_pixel();
  const Buffer<float> table = column_blocks(current_gradient, frames, outputs_, block_);
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

void DenseSynapse::weight_gradient_dense(const Signal& input, const float* current_gradient,
                                         float* weight_gradient) const {
  const int64_t frames = stored_frames(input);
  Buffer<float> dense(std::min(frames, kFramesPerPass) * inputs_);
  for (int64_t first = 0; first < frames; first += kFramesPerPass) {
    const int64_t count = std::min(kFramesPerPass, frames - first);
    parallel_for(count, [&](int64_t f) {
      unpack_frames(input, map_, first + f, 1, dense.data() + f * inputs_);
    });
    parallel_for((inputs_ + kInputsPerBlock - 1) / kInputsPerBlock, [&](int64_t block) {
      const int64_t begin = block * kInputsPerBlock;
      kernels::matmul({.rows = std::min(kInputsPerBlock, inputs_ - begin),
                       .columns = outputs_,
                       .inner = count,
                       .transpose_a = kernels::Transpose::yes,
                       .a_stride = inputs_,
                       .b_stride = outputs_,
                       .c_stride = outputs_,
                       .accumulate = first > 0},
                      dense.data() + begin, current_gradient + first * outputs_,
                      weight_gradient + begin * outputs_);
    });
  }
}

void DenseSynapse::input_gradient(const float* current_gradient, const float* weights,
                                  int64_t frames, float* input_gradient) const {
  parallel_for((frames + kFramesPerChunk - 1) / kFramesPerChunk, [&](int64_t i) {
    const int64_t first = i * kFramesPerChunk;
    const int64_t count = std::min(kFramesPerChunk, frames - first);
    const float* gradient = current_gradient + first * outputs_;
    if (input_gradient == current_gradient) {
      float* copy = thread_scratch(ScratchSlot::result, kFramesPerChunk * outputs_);
      std::copy_n(gradient, count * outputs_, copy);
      gradient = copy;
    }
    kernels::matmul({.rows = count,
                     .columns = inputs_,
                     .inner = outputs_,
                     .transpose_b = kernels::Transpose::yes,
                     .a_stride = outputs_,
                     .b_stride = outputs_,
                     .c_stride = inputs_},
                    gradient, weights, input_gradient + first * inputs_);
  });
}

}  // namespace bntt
