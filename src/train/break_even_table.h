#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "bntt/network.h"
#include "model/break_even_values.h"
#include "train/config.h"

namespace bntt {

/// Where this machine's break-even densities are kept: in user_cache_directory(). Empty where there
/// is none.
std::filesystem::path break_even_file();

/// One entry per branch, as train.break_even says: given, from the formula, or timed and then kept
/// in break_even_file(). Throws Error for a wrong number of values.
std::vector<BreakEven> chosen_break_even(const BreakEvenSetting& setting,
                                         const std::vector<StagePlan>& stages);

/// One entry per branch, from the formula of break_even_formula.h.
std::vector<BreakEven> formula_break_even(const std::vector<StagePlan>& stages);

/// One entry per branch, each measured once per machine, kernel set, number of threads and shape:
/// what the file does not know yet is timed and added. The first value that gets there stays, so
/// that runs on one machine agree; a file that is damaged or cannot be written is ignored, and so
/// is an empty path. `waiting` is called once if another process holds the file.
std::vector<BreakEven> machine_break_even(const std::vector<StagePlan>& stages,
                                          const std::filesystem::path& file,
                                          const std::function<void()>& waiting = {});

/// From which density of input spikes on each synapse goes dense, for those that have the choice.
std::string dense_above_text(const Network& network);

}  // namespace bntt
