#pragma once

#include <string>

namespace bntt {

/// The output of gnuplot for this script. Ignores the user's settings file. Throws Error if gnuplot
/// is not installed or rejects the script.
std::string run_gnuplot(const std::string& script);

}  // namespace bntt
