#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "exchange/nir_graph.h"

namespace bntt {

/// The graph in the bytes of an HDF5 file; the caller holds an Hdf5Lock. Checks everything that
/// libhdf5 allows it to check, but libhdf5 itself may crash, so use it only for trusted files.
/// parse_nir is for all others.
NirGraph read_graph(std::span<const uint8_t> bytes, const std::string& origin);

}  // namespace bntt
