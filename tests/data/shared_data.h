#pragma once

#include <cstdlib>
#include <filesystem>

namespace bntt::testing {

/// The folder of real files, where there is one: $BNTT_SHARED_DATA, or shared/data beside the
/// project.
inline std::filesystem::path shared_data() {
  const char* named = std::getenv("BNTT_SHARED_DATA");
  const std::filesystem::path place = named != nullptr ? named : BNTT_SHARED_DATA;
  return std::filesystem::is_directory(place) ? place : std::filesystem::path();
}

}  // namespace bntt::testing
