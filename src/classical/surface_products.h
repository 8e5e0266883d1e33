#pragma once

#include <cstdint>
#include <span>

namespace bntt {

// The inner loops of HOTS. Each prototype has its own lane and sums are taken in one fixed order,
// so vectors of every width give the same bits.

inline constexpr int64_t kPrototypeLanes = 16;
inline constexpr int64_t kMostPrototypes = 256;

/// Rows of a table are padded to whole vectors.
constexpr int64_t padded_prototypes(int64_t prototypes) {
  return (prototypes + kPrototypeLanes - 1) / kPrototypeLanes * kPrototypeLanes;
}

/// A square piece of a larger map.
struct MapPiece {
  const float* first = nullptr;
  int64_t rows = 0;
  int64_t row_entries = 0;
  int64_t row_stride = 0;
  float factor = 1.0F;
  float cutoff = 0.0F;
};

/// Writes the entries times `factor` that are above `cutoff`, and their indices in the piece;
/// returns their number. There must be room for all entries.
int64_t gather_surface(const MapPiece& piece, int32_t* indices, float* values);

/// products[k] = Σ values[i] · table[indices[i]][k] for all lanes of the table's rows.
void surface_products(std::span<const int32_t> indices, std::span<const float> values,
                      const float* table, int64_t stride, float* products);

}  // namespace bntt
