#pragma once

#include <string>

#include "experiment/result.h"

namespace bntt {

/// "52.31 (51.33-53.29)": the mean, and Wilson's interval for a single seed or the deviation over
/// several; a dash if nothing was measured.
std::string cell_text(const ResultCell& cell, Column column);
std::string paper_text(const std::optional<double>& value, Column column);

/// Title, notes, table, claims and the names of the figures.
std::string markdown(const ExperimentResult& result);

/// row,column,ours,deviation,seeds,low,high,paper: one line per number, then claims.
std::string csv(const ExperimentResult& result);

}  // namespace bntt
