#pragma once

#include <string>

namespace bntt {

/// What gnuplot writes to its output for this script. No settings file of the user is read. Throws
/// Error when gnuplot is not installed or refuses the script.
std::string run_gnuplot(const std::string& script);

}  // namespace bntt
