#include "base/cache_directory.h"

#include <cstdlib>

namespace bntt {
namespace fs = std::filesystem;

fs::path user_cache_directory() {
  const auto named = [](const char* variable) -> fs::path {
    const char* value = std::getenv(variable);
    return value == nullptr ? "" : value;
  };
  const fs::path cache = named("XDG_CACHE_HOME");
  if (cache.is_absolute()) return cache / "bntt";
  const fs::path home = named("HOME");
  return home.is_absolute() ? home / ".cache" / "bntt" : fs::path();
}

}  // namespace bntt
