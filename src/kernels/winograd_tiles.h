#pragma once

#include <algorithm>
#include <array>

#include "kernels/kernel_set.h"

// What the plain Winograd kernels of every precision do with a tile: where it lies, how it is read
// and written, and a transform applied to its columns, then to its rows.
namespace bntt::kernels {

constexpr int64_t kWinogradTile = WinogradConvolution::kTile;
constexpr int64_t kWinogradWindow = WinogradConvolution::kWindow;

using WinogradColumn = std::array<float, kWinogradWindow>;
template <std::size_t rows, std::size_t columns = rows>
using Tile = std::array<std::array<float, columns>, rows>;

/// transform · tile · transformᵀ: columns first, then rows.
template <std::size_t to, std::size_t from, typename Transform>
Tile<to> both_ways(const Tile<from>& tile, const Transform& transform) {
  Tile<to, from> half;
  for (std::size_t j = 0; j < from; ++j) {
    std::array<float, from> column;
    for (std::size_t i = 0; i < from; ++i) column[i] = tile[i][j];
    const auto result = transform(column);
    for (std::size_t i = 0; i < to; ++i) half[i][j] = result[i];
  }
  Tile<to> whole;
  for (std::size_t i = 0; i < to; ++i) whole[i] = transform(half[i]);
  return whole;
}

struct TilePlace {
  int64_t frame, y, x;
};

inline TilePlace place_of(const WinogradConvolution& convolution, int64_t tile) {
  const int64_t in_frame = tile % convolution.tiles_per_frame();
  return {tile / convolution.tiles_per_frame(),
          in_frame / convolution.tile_columns() * kWinogradTile,
          in_frame % convolution.tile_columns() * kWinogradTile};
}

/// Zero outside the map and in channels past the last one.
template <std::size_t size>
Tile<size> window(const MapShape& map, int64_t channels, const float* frame, int64_t top,
                  int64_t left, int64_t channel) {
  Tile<size> tile;
  for (int64_t i = 0; i < std::ssize(tile); ++i) {
    for (int64_t j = 0; j < std::ssize(tile); ++j) {
      const bool inside = channel < channels && top + i >= 0 && top + i < map.height &&
                          left + j >= 0 && left + j < map.width;
      tile[i][j] = inside ? frame[((top + i) * map.width + left + j) * channels + channel] : 0.0F;
    }
  }
  return tile;
}

/// Writes the part of a tile of outputs that lies inside the map.
inline void store_tile(const WinogradConvolution& convolution, const TilePlace& at, int64_t channel,
                       const Tile<kWinogradTile>& tile, float* const* outputs) {
  const MapShape& map = convolution.map;
  for (int64_t i = 0; i < std::min(kWinogradTile, map.height - at.y); ++i) {
    for (int64_t j = 0; j < std::min(kWinogradTile, map.width - at.x); ++j) {
      const int64_t pixel = (at.y + i) * map.width + at.x + j;
      outputs[at.frame][pixel * convolution.output_channels + channel] = tile[i][j];
    }
  }
}

}  // namespace bntt::kernels
