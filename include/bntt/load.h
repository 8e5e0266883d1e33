#pragma once

#include <filesystem>

#include "bntt/api.h"
#include "bntt/network.h"

namespace bntt {

/// A trained network from a checkpoint of ours (best.safetensors, checkpoint.safetensors). Throws
/// Error for files that are damaged or foreign.
BNTT_API Network load_network(const std::filesystem::path& checkpoint);

}  // namespace bntt
