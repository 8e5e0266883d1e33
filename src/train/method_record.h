#pragma once

#include <string>

#include "train/config.h"

namespace bntt {

/// What a run is an instance of, in words: so that two runs are not taken for the same.
struct MethodRecord {
  std::string name;      ///< as the settings have it, or what the network is
  std::string source;    ///< the publication; empty: not named
  std::string settings;  ///< what sets it apart from others
};
MethodRecord method_of(const RunConfig& config);

}  // namespace bntt
