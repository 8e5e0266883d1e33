#pragma once

#include <filesystem>

#include "bntt/api.h"
#include "bntt/network.h"

namespace bntt {

/// Loads a trained network from one of our checkpoints (best.safetensors, checkpoint.safetensors).
/// Throws Error for damaged or foreign files. May be called from several threads.
BNTT_API Network load_network(const std::filesystem::path& checkpoint);

}  // namespace bntt
