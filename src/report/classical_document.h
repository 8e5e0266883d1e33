#pragma once

#include "base/json.h"
#include "classical/run_files.h"

namespace bntt {

/// A classical run as the page shows it: {settings, learning, network, gamma, classical}. The first
/// four are as for a network's run, as far as they apply.
Json classical_document(const ClassicalRun& run);

}  // namespace bntt
