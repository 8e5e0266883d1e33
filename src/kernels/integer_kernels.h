#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "kernels/pattern_convolution.h"
#include "kernels/spike_convolution.h"
#include "kernels/spike_matmul.h"

namespace bntt::kernels {

/// Weights of int8 lie two to a word of 16 bits. Word i of a row of 2 n channels holds channels i
/// and n + i, as first + 256 · second, with both between −127 and 127. Of the rows that its spikes
/// select an output keeps two sums modulo 2¹⁶: that of the words, and that of their second weights,
/// round(word / 256). The sum of the first weights is the one less 256 times the other. One load
/// and three operations thus add a whole register of int8 weights, where widening them first takes
/// two loads and four operations.
///
/// Sums of up to kIntegerAdds rows are exact, since 256 · 127 < 2¹⁵. Longer lists are cut into
/// pieces, whose sums are added in 32 bits. Integers have no rounding: every order and every
/// instruction set gives the same bits.
inline constexpr int kLargestInteger = 127;
inline constexpr int64_t kIntegerAdds = 256;

/// Words of one row of a block of a convolution: half its channels, filled up to a power of two.
inline int64_t integer_row_words(int64_t block_channels) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(block_channels) / 2));
}
inline int64_t integer_block_words(const SpikeConvolution& convolution) {
  return convolution.geometry.taps() * convolution.map.source.channels *
         integer_row_words(convolution.block_channels);
}

/// [tap, in, out] to [block, tap row, in, tap column, word].
void pack_integer_weights(const SpikeConvolution& convolution, const int8_t* weights,
                          int16_t* words);
/// [row, column] to [block, row, word], blocks of `width` columns; zero past the last column.
void pack_integer_rows(const int8_t* weights, int64_t rows, int64_t columns, int64_t width,
                       int16_t* words);

/// As ColumnSums, of integer weights. The sum of a list is a whole number, taken times `factor` as
/// a float: exact up to 2²⁴, rounded once above.
struct IntegerColumnSums {
  const int32_t* starts = nullptr;  // of the first input column's list of this output row
  const int32_t* entries = nullptr;
  const int16_t* block_words = nullptr;
  float factor = 1.0F;
  bool accumulate = false;
};
using IntegerConvRow = void(const SpikeConvolution& convolution, const IntegerColumnSums& sums,
                            const RowOutput& output);

/// As RowSums, of integer weights.
struct IntegerRowSums {
  const int16_t* table = nullptr;  // [row, width / 2]
  int64_t width = 0;    // whole pairs of vectors of the kernel set, at most kMaxIntegerSumVectors
  int64_t columns = 0;  // really written, at most width
  float factor = 1.0F;
  bool accumulate = false;
  float* out = nullptr;  // [list, stride]
  int64_t out_stride = 0;
};
inline constexpr int64_t kMaxIntegerSumVectors = 4;
using IntegerSumRows = void(const SpikeLists& lists, int64_t count, const IntegerRowSums& sums);

/// The table of pattern_convolution.h with integer sums: [block, group of taps, pattern, channel].
/// Plane weights are whole numbers, small enough for no output to leave 16 bits.
bool suits_integer_table(int64_t channels, double largest_value);
void fill_integer_table(const PatternConvolution& convolution, const int8_t* weights,
                        const std::vector<float>& plane_weights, int16_t* table);
using IntegerPatternRow = void(const PatternConvolution& convolution, const uint8_t* patterns,
                               const int16_t* block_table, const RowOutput& output);

struct IntegerKernels {
  IntegerConvRow* conv_row = nullptr;
  IntegerPatternRow* pattern_row = nullptr;
  IntegerSumRows* sum_rows = nullptr;
};
IntegerKernels reference_integer_kernels();

}  // namespace bntt::kernels
