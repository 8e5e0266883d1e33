#include <gtest/gtest.h>

#include <cmath>

#include "guarded.h"

namespace bntt::kernels {
namespace {

using testing::EverySet;
using testing::Guarded;
using testing::Numbers;

using RowSumsOfEverySet = EverySet;
INSTANTIATE_TEST_SUITE_P(Sets, RowSumsOfEverySet, ::testing::ValuesIn(kernel_sets()),
                         testing::set_name);

/// A table of 20 rows in the set's layout, and lists of 0 to 7 of them.
Guarded<float> row_sums(const KernelSet& set, int64_t columns, bool accumulate) {
  constexpr int64_t kRows = 20;
  constexpr int64_t kLists = 8;
  constexpr int64_t kStride = 70;
  const int64_t width = set.columns_per_block(columns);
  Numbers numbers(5);
  Guarded<float> table(kRows * width);
  for (int64_t row = 0; row < kRows; ++row) {
    for (int64_t c = 0; c < columns; ++c) table.data()[row * width + c] = numbers.around_zero();
  }
  std::vector<int32_t> starts = {0};
  std::vector<int32_t> entries;
  for (int32_t list = 0; list < kLists; ++list) {
    for (int32_t i = 0; i < list; ++i) entries.push_back((list * 7 + i * 3) % kRows);
    starts.push_back(static_cast<int32_t>(entries.size()));
  }
  Guarded<float> out(kLists * kStride, 2.0F);
  set.sum_rows({starts.data(), entries.data()}, kLists,
               {.table = table.data(),
                .width = width,
                .columns = columns,
                .factor = -0.25F,
                .accumulate = accumulate,
                .out = out.data(),
                .out_stride = kStride});
  EXPECT_TRUE(out.guards_intact());
  for (int64_t list = 0; list < kLists; ++list) {
    for (int64_t c = 0; c < kStride; ++c) {
      double expected = accumulate || c >= columns ? 2.0 : 0.0;
      for (int32_t e = starts[list]; c < columns && e < starts[list + 1]; ++e) {
        expected -= 0.25 * table.data()[entries[e] * width + c];
      }
      EXPECT_NEAR(out.data()[list * kStride + c], expected, 1e-5) << "list " << list;
    }
  }
  return out;
}

TEST_P(RowSumsOfEverySet, AreRightAndHaveTheReferencesBits) {
  for (const int64_t columns : {1, 7, 8, 9, 16, 31, 32, 33, 63, 64}) {
    if (columns > set().columns_per_block(columns)) continue;  // callers take it in blocks
    for (const bool accumulate : {false, true}) {
      SCOPED_TRACE(columns);
      EXPECT_TRUE(row_sums(set(), columns, accumulate)
                      .same_bits(row_sums(reference_, columns, accumulate)));
    }
  }
}

TEST(SpikeMatmulLists, NameInputsAndFramesThroughThePool) {
  const PooledMap map{{65, 5, 4}, 2, 2};  // the last row is dropped
  SpikeTrain spikes(1, 3, map.source);
  spikes.set(0, 0, 1, 0, 0, 3);
  spikes.set(0, 0, 1, 1, 1, 3);   // same window, same channel
  spikes.set(0, 0, 1, 2, 3, 64);  // pooled pixel 3
  spikes.set(0, 0, 2, 0, 1, 3);
  spikes.set(0, 0, 2, 4, 0, 9);  // dropped
  std::vector<int32_t> inputs(16, -1);
  EXPECT_EQ(count_pooled_spikes(map, spikes.frame(0, 0, 1)), 3);
  ASSERT_EQ(list_inputs(map, spikes.frame(0, 0, 1), inputs.data()), 3);
  EXPECT_EQ(inputs[0], 3);
  EXPECT_EQ(inputs[1], 3);
  EXPECT_EQ(inputs[2], 3 * 65 + 64);
  EXPECT_EQ(count_pooled_spikes(map, spikes.frame(0, 0, 2)), 1);

  Guarded<int32_t> starts(kSpikesPerWord + 1);
  Guarded<int32_t> entries(frame_list_entries(map, 3));
  const SpikeLists lists{starts.data(), entries.data()};
  list_frames(map, {spikes.frame(0, 0, 0), 1.0F, 3}, 0, 0, lists);
  EXPECT_TRUE(starts.guards_intact() && entries.guards_intact());
  EXPECT_EQ(starts.data()[3], 0);
  ASSERT_EQ(starts.data()[4], 3);
  EXPECT_EQ(starts.data()[64], 3);
  EXPECT_EQ(entries.data()[0], 1);
  EXPECT_EQ(entries.data()[1], 1);
  EXPECT_EQ(entries.data()[2], 2);
}

}  // namespace
}  // namespace bntt::kernels
