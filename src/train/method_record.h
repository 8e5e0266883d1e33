#pragma once

#include <string>

#include "train/config.h"

namespace bntt {

/// The method of which a run is an instance, in words, so that different runs can be told apart.
struct MethodRecord {
  std::string name;      ///< as in the settings, or the kind of network
  std::string source;    ///< the publication; empty: not given
  std::string settings;  ///< what distinguishes it from others
};
MethodRecord method_of(const RunConfig& config);

}  // namespace bntt
