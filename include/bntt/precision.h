#pragma once

namespace bntt {

/// What training keeps of its currents between forward and backward, and what it multiplies.
enum class Precision {
  fp32,
  mixed,  ///< bf16, rounded before the neurons see them: half the memory. All arithmetic is fp32.
  bf16,   ///< keeps what mixed keeps; dense products are of bf16, added in fp32. Fast where the
          ///< processor has AVX512_BF16, the same bits and slow elsewhere. Not in evaluation.
};

/// Whether currents are kept as bf16.
constexpr bool keeps_halves(Precision precision) { return precision != Precision::fp32; }

}  // namespace bntt
