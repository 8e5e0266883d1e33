#pragma once

#include <string>

#include "train/config.h"

namespace bntt {

/// The method of which a run is an instance, in words, so that different runs can be told apart.
struct MethodRecord {
  std::string name;      ///< as in the settings, or the kind of training
  std::string source;    ///< the publication; empty: not given
  std::string settings;  ///< what distinguishes it from others
};

/// The name and source of [method] hold as long as norm, neurons, reset, surrogate, propagation,
/// encoder, pools, readout and loss are those of a preset with this method. If they were changed,
/// the record names the kind of training instead, and its settings tell the difference.
MethodRecord method_of(const RunConfig& config);

}  // namespace bntt
