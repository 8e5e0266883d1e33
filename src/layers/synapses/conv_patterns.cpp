#include "layers/synapses/conv_patterns.h"

#include <algorithm>

#include "kernels/kernel_set.h"
#include "layers/synapses/unpacked_frames.h"

namespace bntt {

bool ConvPatterns::suits(const BranchPlan& plan) {
  return kernels::PatternConvolution::suits(pool_of(plan), 1, plan.geometry);
}

ConvPatterns::ConvPatterns(const BranchPlan& plan)
    : map_(pool_of(plan)),
      output_(plan.output),
      block_channels_(kernels::kernels().channels_per_block(plan.output.channels)) {}

bool ConvPatterns::does(SynapseOperation operation, InputKind input) const {
  return operation == SynapseOperation::forward && input.spikes() &&
         kernels::PatternConvolution::suits(map_, input.planes);
}

double ConvPatterns::work_share(InputKind input, double /*density*/) const {
  return static_cast<double>(shape(input.planes).groups()) /
         static_cast<double>(9 * map_.source.channels);
}

kernels::PatternConvolution ConvPatterns::shape(int64_t planes) const {
  return {map_.source, planes, output_.channels, block_channels_};
}

Buffer<float> ConvPatterns::pack(const float* weights,
                                 const std::vector<float>& plane_weights) const {
  const kernels::PatternConvolution convolution = shape(std::ssize(plane_weights));
  Buffer<float> table(convolution.table_size());
  kernels::fill_pattern_table(convolution, weights, plane_weights, table.data());
  return table;
}

int64_t ConvPatterns::frames_together() const {
  constexpr int64_t kPixels = 1024;
  return std::max<int64_t>(1, kPixels / map_.source.pixels());
}

namespace {

/// Looks up sums of one kind of numbers.
template <typename Number>
class PatternRows final : public FrameRows {
 public:
  using RowKernel = void(const kernels::PatternConvolution&, const uint8_t*, const Number*,
                         const kernels::RowOutput&);

  PatternRows(const kernels::PatternConvolution& convolution, const SpikeTrain& input,
              int64_t first, int64_t count, RowKernel* kernel, const Number* table)
      : convolution_(convolution),
        input_(input),
        first_(first),
        kernel_(kernel),
        table_(table),
        patterns_(count * convolution.frame_patterns()) {}

  void read(int64_t frame) override {
    std::vector<const SpikeWord*> planes;
    for (int64_t p = 0; p < input_.planes(); ++p) {
      planes.push_back(input_.frame(p, 0, 0) + frame * input_.words_per_frame());
    }
    kernels::read_patterns(convolution_, planes,
                           patterns_.data() + (frame - first_) * convolution_.frame_patterns());
  }

  void write(int64_t frame, int64_t block, int64_t y,
             const kernels::RowOutput& output) const override {
    kernel_(convolution_,
            patterns_.data() + (frame - first_) * convolution_.frame_patterns() +
                y * convolution_.pattern_row(),
            table_ + block * convolution_.block_table(), output);
  }

 private:
  kernels::PatternConvolution convolution_;
  const SpikeTrain& input_;
  int64_t first_;
  RowKernel* kernel_;
  const Number* table_;
  Buffer<uint8_t> patterns_;
};

}  // namespace

std::unique_ptr<FrameRows> ConvPatterns::rows(const SpikeTrain& input, int64_t first, int64_t count,
                                              const WayWeights& weights) const {
  return std::make_unique<PatternRows<float>>(shape(input.planes()), input, first, count,
                                              kernels::kernels().pattern_conv_row, weights.packed);
}

bool ConvPatternsInt8::does(SynapseOperation operation, InputKind input) const {
  return ConvPatterns::does(operation, input) &&
         kernels::suits_integer_table(map_.source.channels, input.largest_value);
}

Buffer<int16_t> ConvPatternsInt8::pack_integers(const int8_t* weights,
                                                const std::vector<float>& plane_weights) const {
  const kernels::PatternConvolution convolution = shape(std::ssize(plane_weights));
  Buffer<int16_t> table(convolution.table_size());
  kernels::fill_integer_table(convolution, weights, plane_weights, table.data());
  return table;
}

std::unique_ptr<FrameRows> ConvPatternsInt8::rows(const SpikeTrain& input, int64_t first,
                                                  int64_t count, const WayWeights& weights) const {
  return std::make_unique<PatternRows<int16_t>>(shape(input.planes()), input, first, count,
                                                kernels::kernels().integer.pattern_row,
                                                weights.packed_integers);
}

void ConvPatterns::forward(const Signal& input, std::span<const int64_t> frames,
                           const WayWeights& weights, const FramePlace& place) const {
  for_each_run(frames, [&](int64_t first, int64_t end) {
    const auto made = rows(std::get<SpikeTrain>(input), first, end - first, weights);
    write_frames(*made, output_, block_channels_, first, end, place);
  });
}

}  // namespace bntt
