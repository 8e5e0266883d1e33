#pragma once

#include "base/json.h"
#include "classical/run_files.h"

namespace bntt {

/// A classical run as the page shows it: {settings, learning, network, gamma, classical}. The first
/// ones are as of a network's run, as far as there is something to say.
Json classical_document(const ClassicalRun& run);

}  // namespace bntt
