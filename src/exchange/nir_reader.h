#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "exchange/nir_graph.h"

namespace bntt {

/// The graph in the bytes of an HDF5 file; the caller holds an Hdf5Lock. Checks all that libhdf5
/// lets it check, but libhdf5 itself may crash: for files that one wrote oneself. parse_nir is for
/// those of others.
NirGraph read_graph(std::span<const uint8_t> bytes, const std::string& origin);

}  // namespace bntt
