#pragma once

#include <filesystem>

namespace bntt {

/// The directory for files that can be made again: $XDG_CACHE_HOME/bntt, or $HOME/.cache/bntt. A
/// variable that is unset, empty or a relative path does not count (XDG Base Directory
/// Specification); empty where neither does.
std::filesystem::path user_cache_directory();

}  // namespace bntt
