#pragma once

#include <filesystem>

#include "bench/compare.h"

namespace bntt::cli {

/// Times every case of the file and prints whether its recorded ratios still hold. The exit code is
/// 1 if one does not.
int run_gate(const std::filesystem::path& file, const bench::Options& options);

}  // namespace bntt::cli
