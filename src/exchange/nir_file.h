#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "exchange/nir_graph.h"

namespace bntt {

/// Throws Error, with one sentence that begins with `origin`, for bytes that are not a complete NIR
/// file. Memory is proportional to the bytes. Follows no links out of the file and loads no filter
/// that is not part of libhdf5. Reads the file in a child process because libhdf5 may crash.
NirGraph parse_nir(std::span<const uint8_t> bytes, const std::string& origin);
NirGraph read_nir(const std::filesystem::path& path);

/// Equal graphs give equal bytes. An array with one value for all elements takes no space in the
/// file.
std::vector<uint8_t> format_nir(const NirGraph& graph);
void write_nir(const std::filesystem::path& path, const NirGraph& graph);

}  // namespace bntt
