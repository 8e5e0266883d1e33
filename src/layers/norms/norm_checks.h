#pragma once

#include <span>

#include "bntt/norm.h"

namespace bntt {

// Checks of what the functions of a norm are given. All throw Error.

/// The split has every size, and the norm's channels.
void expect_split(const RowSplit& split, int64_t channels);
/// Also as many moments as the split has rows.
void expect_moments(const RowMoments& moments, int64_t channels);
void expect_sums(const RowGradientSums& sums, int64_t channels);
/// Mean and inverse deviation of every row.
void expect_trace(const NormTrace& trace, int64_t steps, int64_t rows_per_step, int64_t channels);
/// At least `count` statistics of at least `size` numbers each.
void expect_statistics(std::span<const Statistic> statistics, std::size_t count, int64_t size);

}  // namespace bntt
