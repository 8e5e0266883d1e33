#include "layers/conv_patterns.h"

#include "kernels/kernel_set.h"
#include "layers/unpacked_frames.h"

namespace bntt {

ConvPatterns::ConvPatterns(const StagePlan& plan)
    : map_(pool_of(plan)),
      output_channels_(plan.output.channels),
      block_channels_(kernels::kernels().channels_per_block(plan.output.channels)) {}

bool ConvPatterns::suits(const SpikeTrain& input) const {
  return kernels::PatternConvolution::suits(map_, input.planes());
}

kernels::PatternConvolution ConvPatterns::shape(int64_t planes) const {
  return {map_.source, planes, output_channels_, block_channels_};
}

Buffer<float> ConvPatterns::table(const float* weights,
                                  const std::vector<float>& plane_weights) const {
  const kernels::PatternConvolution convolution = shape(std::ssize(plane_weights));
  Buffer<float> table(convolution.table_size());
  kernels::fill_pattern_table(convolution, weights, plane_weights, table.data());
  return table;
}

class ConvPatterns::Rows final : public FrameRows {
 public:
  Rows(const kernels::PatternConvolution& convolution, const SpikeTrain& input, int64_t first,
       int64_t count, const float* table)
      : convolution_(convolution),
        input_(input),
        first_(first),
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
    kernels::kernels().pattern_conv_row(convolution_,
                                        patterns_.data() +
                                            (frame - first_) * convolution_.frame_patterns() +
                                            y * convolution_.pattern_row(),
                                        table_ + block * convolution_.block_table(), output);
  }

 private:
  kernels::PatternConvolution convolution_;
  const SpikeTrain& input_;
  int64_t first_;
  const float* table_;
  Buffer<uint8_t> patterns_;
};

std::unique_ptr<FrameRows> ConvPatterns::rows(const SpikeTrain& input, int64_t first, int64_t count,
                                              const float* table) const {
  return std::make_unique<Rows>(shape(input.planes()), input, first, count, table);
}

}  // namespace bntt
