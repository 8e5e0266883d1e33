#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "bntt/network.h"
#include "model/break_even_values.h"
#include "train/config.h"

namespace bntt {

/// The file with this machine's break-even densities, in user_cache_directory(). Empty if there is
/// no such directory.
std::filesystem::path break_even_file();

/// One entry per branch, according to train.break_even: given values, from the formula, or timed
/// and then stored in break_even_file(). Throws Error for a wrong number of values.
std::vector<BreakEven> chosen_break_even(const BreakEvenSetting& setting,
                                         const std::vector<StagePlan>& stages);

/// One entry per branch, from the formula of break_even_formula.h.
std::vector<BreakEven> formula_break_even(const std::vector<StagePlan>& stages);

/// One entry per branch, each measured once per machine, kernel set, number of threads and shape:
/// entries missing from the file are timed and added. The first value stored is kept, so that runs
/// on one machine agree. A file that is damaged or cannot be written is ignored, and so is an empty
/// path. `waiting` is called once if another process has locked the file.
std::vector<BreakEven> machine_break_even(const std::vector<StagePlan>& stages,
                                          const std::filesystem::path& file,
                                          const std::function<void()>& waiting = {});

/// The density of input spikes above which each synapse uses a dense way, for synapses with a
/// choice; empty if there are none.
std::string dense_above_text(const Network& network);

}  // namespace bntt
