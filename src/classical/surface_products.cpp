#include "classical/surface_products.h"

// One source, compiled by Highway once per target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "classical/surface_products.cpp"
#include "kernels/simd_targets.h"

HWY_BEFORE_NAMESPACE();
namespace bntt::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// At most as wide as a block of lanes.
using Tag = hn::CappedTag<float, kPrototypeLanes>;
using IndexTag = hn::RebindToSigned<Tag>;

int64_t GatherSurface(const MapPiece& piece, int32_t* indices, float* values) {
  const Tag tag;
  const IndexTag index_tag;
  const auto lanes = static_cast<int64_t>(hn::Lanes(tag));
  const auto factor = hn::Set(tag, piece.factor);
  const auto cutoff = hn::Set(tag, piece.cutoff);
  const auto first_indices = hn::Iota(index_tag, 0);  // created via memory: not once per vector
  const int64_t row_entries = piece.row_entries;
  int64_t count = 0;
  for (int64_t row = 0; row < piece.rows; ++row) {
    const float* from = piece.first + row * piece.row_stride;
    const auto base = static_cast<int32_t>(row * row_entries);
    int64_t i = 0;
    // Compressed vectors are stored whole: later entries overwrite the part beyond their end.
    // (Compressing into memory is many times slower on some processors.)
    for (; i + lanes <= row_entries; i += lanes) {
      const auto value = hn::Mul(factor, hn::LoadU(tag, from + i));
      const auto kept = hn::Gt(value, cutoff);
      const auto index = hn::Add(first_indices, hn::Set(index_tag, base + static_cast<int32_t>(i)));
      hn::StoreU(hn::Compress(index, hn::RebindMask(index_tag, kept)), index_tag, indices + count);
      hn::StoreU(hn::Compress(value, kept), tag, values + count);
      count += static_cast<int64_t>(hn::CountTrue(tag, kept));
    }
    for (; i < row_entries; ++i) {
      const float value = piece.factor * from[i];
      indices[count] = base + static_cast<int32_t>(i);
      values[count] = value;
      count += value > piece.cutoff ? 1 : 0;
    }
  }
  return count;
}

void SurfaceProducts(std::span<const int32_t> indices, std::span<const float> values,
                     const float* table, int64_t stride, float* products) {
  const Tag tag;
  const auto lanes = static_cast<int64_t>(hn::Lanes(tag));
  const std::size_t fours = indices.size() / 4 * 4;
  for (int64_t k = 0; k < stride; k += lanes) {
    // Four sums, so that an addition need not wait for the previous one.
    auto sum0 = hn::Zero(tag);
    auto sum1 = hn::Zero(tag);
    auto sum2 = hn::Zero(tag);
    auto sum3 = hn::Zero(tag);
    const auto term = [&](std::size_t i) HWY_ATTR {
      return hn::Mul(hn::Set(tag, values[i]), hn::LoadU(tag, table + indices[i] * stride + k));
    };
    std::size_t i = 0;
    for (; i < fours; i += 4) {
      sum0 = hn::Add(sum0, term(i));
      sum1 = hn::Add(sum1, term(i + 1));
      sum2 = hn::Add(sum2, term(i + 2));
      sum3 = hn::Add(sum3, term(i + 3));
    }
    for (; i < indices.size(); ++i) sum0 = hn::Add(sum0, term(i));
    hn::StoreU(hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3)), tag, products + k);
  }
}

}  // namespace bntt::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bntt {

HWY_EXPORT(GatherSurface);
HWY_EXPORT(SurfaceProducts);

int64_t gather_surface(const MapPiece& piece, int32_t* indices, float* values) {
  return HWY_DYNAMIC_DISPATCH(GatherSurface)(piece, indices, values);
}

void surface_products(std::span<const int32_t> indices, std::span<const float> values,
                      const float* table, int64_t stride, float* products) {
  HWY_DYNAMIC_DISPATCH(SurfaceProducts)(indices, values, table, stride, products);
}

}  // namespace bntt
#endif
