#pragma once

#include <filesystem>

namespace bntt {

/// The directory for files that can be recreated: $XDG_CACHE_HOME/bntt, or $HOME/.cache/bntt. A
/// variable that is unset, empty or a relative path is ignored (XDG Base Directory Specification);
/// the result is empty if both are ignored.
std::filesystem::path user_cache_directory();

}  // namespace bntt
