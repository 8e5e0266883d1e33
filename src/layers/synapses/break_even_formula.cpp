#include "layers/synapses/break_even_formula.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"

// How the coefficients were found: `bntt bench break-even --threads 1` timed the break-even of
// every shape of vgg5, vgg9 and resnet19 at widths 0.125 to 1, once for each kernel set, and
// scripts/fit-break-even fitted them by least squares of the relative error. AVX-512 (two passes)
// and AVX2 were timed on an idle Zen 4 with two cores, `reference` (24 shapes of widths up to 0.5)
// on a busy Xeon. Residuals, median and largest |formula / timed - 1|, forward and weight gradient:
//
//               Winograd (27 shapes)        1x1 (12)                    other (8)
//   avx512      4 %, 43 %;  9 %, 66 %       10 %, 31 %; 16 %, large     6 %, 16 %; 4 %, 17 %
//   avx2        5 %, 22 %;  11 %, large     5 %, large; 21 %, large     4 %, 6 %;  5 %, 17 %
//   reference   11 %, 45 %; 7 %, 47 %       oneDNN is faster at nearly any density
//
// The largest residuals occur with 8 and 16 channels, where two timings of one shape differ as
// much; for the weight gradients of 1x1 convolutions with stride 1 and few channels, dense is
// faster at any density. `neon` uses the coefficients of avx2: no ARM machine was available for
// timing (docs/decisions/0020). A wrong break-even only costs time for frames whose density lies
// between it and the right one, and near the right one both ways take the same time.
namespace bntt {
namespace {

using Terms = std::array<double, 6>;

/// Winograd has coefficients of its own, and so do 1x1 convolutions, in which a spike reaches only
/// one pixel.
enum Way { kWinograd, kPointwise, kOther, kWays };

struct Coefficients {
  std::string_view kernel_set;
  std::array<Terms, kWays> forward;
  std::array<Terms, kWays> weight_gradient;
};

constexpr Coefficients kCoefficients[] = {
    {"avx512",
     {{{0.137, 0.293, 0.056, 0.508, -0.012, 0.229},
       {0.591, 0.17, 0.069, -0.089, -0.865, 0},
       {0.487, 0.241, -0.071, 0, 0, 0}}},
     {{{0.259, 0.103, -0.505, 0.966, 0.012, -0.745},
       {0.211, 0.739, 0.503, -0.137, -1.673, 0},
       {0.488, -0.778, 0.375, 0, 0, 0}}}},
    {"avx2",
     {{{0.175, 0.053, 0.087, 0.055, -0.02, 0.297},
       {0.568, -0.077, -0.001, -0.082, -0.8, 0},
       {0.513, 0.087, -0.099, 0, 0, 0}}},
     {{{0.282, -0.081, -0.44, 0.519, -0.003, -0.469},
       {0.18, 0.767, 0.549, -0.114, -1.714, 0},
       {0.447, -0.712, 0.41, 0, 0, 0}}}},
    {"reference",
     {{{0.687, -0.211, -0.066, -0.092, -0.064, 0.009},
       {0.01, 0, 0, 0, 0, 0},
       {-0.007, 0.021, 0.101, 0, 0, 0}}},
     {{{0.527, 0.256, 0.275, -0.371, 0.023, -0.404},
       {0.025, 0.041, 0.045, -0.019, -0.077, 0},
       {0.042, -0.012, 0.04, 0, 0, 0}}}},
};

/// The set whose timings serve for `kernel_set`.
std::string_view timed_set(std::string_view kernel_set) {
  return kernel_set == "neon" ? "avx2" : kernel_set;
}

Way way_of(const BranchPlan& plan) {
  if (plan.geometry.is_same_3x3()) return kWinograd;
  return plan.geometry.kernel == 1 ? kPointwise : kOther;
}

/// The terms that the coefficients multiply: keep in step with terms_of in scripts/fit-break-even.
/// They are per channel, because transforms and spike lists are computed once for all channels of
/// the other side. Channel counts outside the timed range are clamped to it.
Terms terms_of(const BranchPlan& plan) {
  const auto inverse = [](int64_t channels) {
    return 8.0 / static_cast<double>(std::clamp<int64_t>(channels, 8, 512));
  };
  const double per_input = inverse(plan.input.channels);
  const double per_output = inverse(plan.output.channels);
  if (way_of(plan) != kWinograd) {
    const double unstrided = plan.geometry.stride == 1 ? 1.0 : 0.0;
    return {1.0, per_input, 1.0 / (32.0 * per_input), unstrided, unstrided * per_output, 0.0};
  }
  const double pooled = plan.pools() ? 1.0 : 0.0;
  Terms terms = {1.0, per_input, per_output, per_input * per_output, pooled, pooled * per_output};
  // Winograd's tiles of 4x4 pixels may extend beyond the map: extra work that a walk does not have.
  const int64_t tiles = ((plan.input.height + 3) / 4) * ((plan.input.width + 3) / 4);
  const double waste = static_cast<double>(16 * tiles) / static_cast<double>(plan.input.pixels());
  for (double& term : terms) term *= waste;
  return terms;
}

/// Only sums and products in a fixed order, then rounding: library functions could differ in their
/// last bits between machines.
float density_of(const Terms& coefficients, const Terms& terms) {
  constexpr double kLeast = 0.02;  // below this neither way takes long
  constexpr double kMost = 2.0;
  double sum = 0.0;
  for (std::size_t i = 0; i < terms.size(); ++i) sum += coefficients[i] * terms[i];
  return static_cast<float>(std::round(std::clamp(sum, kLeast, kMost) * 1000.0) / 1000.0);
}

}  // namespace

BreakEven break_even_by_formula(const BranchPlan& plan, std::string_view kernel_set) {
  const auto* found =
      std::ranges::find(kCoefficients, timed_set(kernel_set), &Coefficients::kernel_set);
  BNTT_CHECK(found != std::end(kCoefficients));
  const Way way = way_of(plan);
  const Terms terms = terms_of(plan);
  return {.forward = density_of(found->forward[way], terms),
          .weight_gradient = density_of(found->weight_gradient[way], terms)};
}

}  // namespace bntt
