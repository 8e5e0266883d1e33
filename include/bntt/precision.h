#pragma once

namespace bntt {

/// How training stores its currents between forward and backward, and in which format it
/// multiplies.
enum class Precision {
  fp32,   ///< nothing is rounded to fewer bits
  mixed,  ///< bf16, rounded before the neurons see them: half the memory. All arithmetic is fp32.
  bf16,   ///< stores the same as mixed; dense products in bf16, sums in fp32. Fast if the
          ///< processor has AVX512_BF16; otherwise slow, with the same bits. Not in evaluation.
};

/// Whether currents are stored as bf16.
constexpr bool keeps_halves(Precision precision) { return precision != Precision::fp32; }

}  // namespace bntt
