#include <gtest/gtest.h>

#include <cmath>

#include "kernels/kernel_set.h"
#include "layers/synapses/break_even_formula.h"

namespace bntt {
namespace {

BranchPlan plan_of(int64_t inputs, int64_t outputs, int64_t side, ConvGeometry geometry = {},
                   int64_t pool = 1) {
  BranchPlan plan;
  plan.source = {inputs, side * pool, side * pool};
  plan.pool_height = pool;
  plan.pool_width = pool;
  plan.input = {inputs, side, side};
  plan.geometry = geometry;
  plan.output = geometry.output(plan.input, outputs);
  return plan;
}

void expect_density(float value) {
  EXPECT_GE(value, 0.02F);
  EXPECT_LE(value, 2.0F);
  const double thousandths = static_cast<double>(value) * 1000.0;
  EXPECT_NEAR(thousandths, std::round(thousandths), 1e-3) << "not rounded";
}

TEST(BreakEvenFormula, KnowsEveryKernelSetAndShape) {
  std::vector<std::string> sets = {"reference", "avx2", "avx512", "neon"};
  for (const kernels::KernelSet& set : kernels::kernel_sets()) sets.push_back(set.name);
  for (const std::string& set : sets) {
    SCOPED_TRACE(set);
    for (const ConvGeometry geometry :
         {ConvGeometry{}, ConvGeometry{1, 1, 0}, ConvGeometry{1, 2, 0}, ConvGeometry{3, 2, 1},
          ConvGeometry{5, 1, 2}}) {
      for (const int64_t inputs : {8, 20, 512, 4096}) {
        for (const int64_t outputs : {8, 20, 512, 4096}) {
          for (const int64_t side : {2, 7, 32}) {
            const BreakEven found = break_even_by_formula(
                plan_of(inputs, outputs, side, geometry, side == 7 ? 2 : 1), set);
            expect_density(found.forward);
            expect_density(found.weight_gradient);
          }
        }
      }
    }
  }
}

// Runs must be repeatable: whoever changes a number here changes the result of every run.
TEST(BreakEvenFormula, GivesTheRecordedNumbers) {
  const BreakEven wide = break_even_by_formula(plan_of(64, 64, 32), "avx512");
  EXPECT_FLOAT_EQ(wide.forward, 0.195F);
  EXPECT_FLOAT_EQ(wide.weight_gradient, 0.236F);
  const BreakEven pooled = break_even_by_formula(plan_of(64, 128, 16, {}, 2), "avx2");
  EXPECT_FLOAT_EQ(pooled.forward, 0.195F);
  EXPECT_FLOAT_EQ(pooled.weight_gradient, 0.198F);
  const BreakEven on_arm = break_even_by_formula(plan_of(64, 64, 32), "neon");
  EXPECT_FLOAT_EQ(on_arm.forward, 0.193F);
  EXPECT_FLOAT_EQ(on_arm.weight_gradient, 0.259F);
  const BreakEven plain = break_even_by_formula(plan_of(16, 16, 16), "reference");
  EXPECT_FLOAT_EQ(plain.forward, 0.526F);
  EXPECT_FLOAT_EQ(plain.weight_gradient, 0.7F);
}

// Winograd pads channels to panels of two vectors, the walk to one vector up to four: with 16 of 32
// channels in use, Winograd multiplies twice as much as it needs to. Timed on Zen 4, the break-even
// of the demo network's conv2 is 1.67 and 0.99 with AVX-512.
TEST(BreakEvenFormula, PaddedChannelsMakeDenseDearer) {
  const BreakEven conv2 = break_even_by_formula(plan_of(8, 16, 14, {}, 2), "avx512");
  EXPECT_NEAR(conv2.forward, 1.67F, 0.25F);
  EXPECT_NEAR(conv2.weight_gradient, 0.99F, 0.15F);
  EXPECT_GT(break_even_by_formula(plan_of(48, 48, 16), "avx512").weight_gradient,
            1.2F * break_even_by_formula(plan_of(64, 64, 16), "avx512").weight_gradient);
  EXPECT_LT(break_even_by_formula(plan_of(48, 48, 16), "avx2").weight_gradient,
            break_even_by_formula(plan_of(64, 64, 16), "avx2").weight_gradient)
      << "here it is the walk that pads, from six vectors to eight";
}

// oneDNN is slow for channels that do not fill a vector. Timed with AVX2 on Zen 4, in a 1x1
// convolution of stride 2: 0.01 to 0.14 for 8 channels, 0.25 to 0.5 for 16, and 3.4 to 4.0 for 12.
TEST(BreakEvenFormula, ChannelsThatDoNotFillAVectorMakePointwiseConvolutionsDearer) {
  const ConvGeometry strided{.kernel = 1, .stride = 2, .padding = 0};
  const auto forward = [&](int64_t inputs) {
    return break_even_by_formula(plan_of(inputs, 2 * inputs, 32, strided), "avx2").forward;
  };
  EXPECT_LT(forward(8), 0.2F);
  EXPECT_LT(forward(16), 0.5F);
  EXPECT_GT(forward(12), 1.5F);
}

TEST(BreakEvenFormula, TilesBeyondTheMapMakeDenseDearer) {
  EXPECT_GT(break_even_by_formula(plan_of(64, 64, 5), "avx2").forward,
            1.5F * break_even_by_formula(plan_of(64, 64, 8), "avx2").forward);
}

}  // namespace
}  // namespace bntt
