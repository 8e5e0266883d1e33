#pragma once

#include <filesystem>

#include "bntt/network.h"

namespace bntt {

/// A trained network from a checkpoint of ours (best.safetensors, checkpoint.safetensors). Throws
/// Error for files that are damaged or foreign.
Network load_network(const std::filesystem::path& checkpoint);

}  // namespace bntt
