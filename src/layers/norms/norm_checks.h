#pragma once

#include <span>

#include "bntt/norm.h"

namespace bntt {

// Checks of the arguments of a norm's functions. All throw Error.

/// Every size of the split is at least 1, and its channels are those of the norm.
void expect_split(const RowSplit& split, int64_t channels);
/// Also checks that there are as many moments as the split has rows.
void expect_moments(const RowMoments& moments, int64_t channels);
void expect_sums(const RowGradientSums& sums, int64_t channels);
/// A value of the enum; `where` starts the sentence.
void expect_norm_mode(const char* where, NormMode mode);
/// Mean and inverse deviation of every row.
void expect_trace(const NormTrace& trace, int64_t steps, int64_t rows_per_step, int64_t channels);
/// At least `count` statistics of at least `size` numbers each.
void expect_statistics(std::span<const Statistic> statistics, std::size_t count, int64_t size);

}  // namespace bntt
