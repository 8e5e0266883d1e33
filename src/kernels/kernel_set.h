#pragma once

#include <string>
#include <vector>

#include "kernels/bf16_kernels.h"
#include "kernels/integer_kernels.h"
#include "kernels/lee.h"
#include "kernels/neuron.h"
#include "kernels/pattern_convolution.h"
#include "kernels/spike_convolution.h"
#include "kernels/spike_matmul.h"
#include "kernels/unpack.h"
#include "kernels/winograd.h"

namespace bntt::kernels {

/// Mean and sum of squared deviations of each channel over `samples` rows of [sample, channel].
/// Deviations are taken from the first row. They are summed in fp32 over runs of kMomentRun rows,
/// and the runs in fp64. E[x²] − μ² of the raw values would cancel in fp32.
using ChannelMoments = void(const float* values, int64_t samples, int64_t channels, float* mean,
                            float* squared_deviations);
inline constexpr int64_t kMomentRun = 64;

/// Adds one bit plane of one frame, pooled: dense[y, x, channel] += weight · scale · bit. With the
/// usual pools, pooled spikes are sums of equal powers of two, so their order does not matter.
using AddSpikes = void(const PooledMap& map, const SpikeWord* words, float weight, float* dense);

/// Number of bits set in `count` words.
using CountSpikes = int64_t(const SpikeWord* words, int64_t count);

/// The same kernels for one instruction set. All sets give the same bits: each uses the reference's
/// operations in the reference's order, and fused multiply-adds only where the reference has them
/// (the norms' affine map, Winograd's products).
struct KernelSet {
  std::string name;
  SpikingStep* spiking_step = nullptr;
  SpikingBackward* spiking_backward = nullptr;
  LeeBackward* lee_backward = nullptr;
  NormBackward* norm_backward = nullptr;
  AddNormalised* add_normalised = nullptr;
  AddGradientSums* gradient_sums = nullptr;
  ChannelMoments* channel_moments = nullptr;
  AddSpikes* add_spikes = nullptr;
  CountSpikes* count_spikes = nullptr;
  ListColumns* list_columns = nullptr;
  SpikeConvRow* spike_conv_row = nullptr;
  PatternConvRow* pattern_conv_row = nullptr;
  SpikeConvWeightGradient* spike_conv_weight_gradient = nullptr;
  SumRows* sum_rows = nullptr;
  WinogradForward* winograd_forward = nullptr;
  WinogradWeightGradient* winograd_weight_gradient = nullptr;
  Bf16Kernels bf16;
  IntegerKernels integer;
  int64_t vector_floats = 1;
  int64_t winograd_panel = 1;  // output channels computed in one pass

  /// Output channels whose sums a spike convolution keeps in registers.
  int64_t channels_per_block(int64_t output_channels) const;
  /// Columns whose row sums stay in registers.
  int64_t columns_per_block(int64_t columns) const;
  /// The same for sums of integers: whole pairs of vectors of 16-bit words.
  int64_t integer_columns_per_block(int64_t columns) const;
};

/// The sets that this machine can run, fastest first; the plain reference last.
const std::vector<KernelSet>& kernel_sets();

/// The set in use: the first, or the one named by the environment variable BNTT_KERNELS.
const KernelSet& kernels();

KernelSet reference_kernels();
void set_reference_winograd(KernelSet& set);
std::vector<KernelSet> simd_kernels();

}  // namespace bntt::kernels
