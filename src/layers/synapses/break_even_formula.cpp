#include "layers/synapses/break_even_formula.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"
#include "kernels/spike_convolution.h"

// How the coefficients were found: `bntt bench break-even --threads 1` timed the break-even of many
// shapes, once or more often for each kernel set, and scripts/fit-break-even fitted them.
// AVX-512: Winograd's 3x3 convolutions of vgg5, vgg9, resnet19, resnet20 and sew-resnet18 at widths
// 0.125 to 1, two or three passes on a busy Zen 4 with two cores; 1x1 and other convolutions of
// vgg5, vgg9 and resnet19, on an idle one. AVX2: all convolutions of these five networks at widths
// 0.125 to 1, also 0.1875, 0.375 and 0.75 for vgg9 and resnet20, on an idle Zen 4. `reference`:
// vgg5, vgg9 and resnet19 at widths up to 0.5, on a busy Xeon. Residuals |formula / timed - 1|,
// forward; weight gradient:
//
//               Winograd                        1x1                        other
//               median, 90th percentile         median, largest            median, largest
//   avx512      8 %, 16 %;  8 %, 21 %           10 %, 31 %; 16 %, large    6 %, 16 %; 4 %, 17 %
//   avx2        6 %, 21 %;  8 %, 24 %           5 %, 86 %;  8 %, 46 %      5 %, 13 %; 3 %, 52 %
//               median, largest
//   reference   11 %, 45 %; 7 %, 47 %           oneDNN is faster at nearly any density
//
// For the weight gradients of 1x1 convolutions with stride 1 and few channels, dense is faster at
// any density. `neon` uses the coefficients of avx2: no ARM machine was available for timing
// (docs/decisions/0020). A wrong break-even only costs time for frames whose density lies between
// it and the right one, and near the right one both ways take the same time.
namespace bntt {
namespace {

using Terms = std::array<double, 9>;

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
     {{{0.146, 0.468, 1.967, 0.042, -0.057, 4.248, 0.523},
       {0.591, 0.17, 0.069, -0.089, -0.865},
       {0.487, 0.241, -0.071}}},
     {{{0.27, 0.334, 2.161, -0.291, -0.457, 4.646, -0.016},
       {0.211, 0.739, 0.503, -0.137, -1.673},
       {0.488, -0.778, 0.375}}}},
    {"avx2",
     {{{0.188, -0.246, 0.669, -0.01, 0.026, -0.275, 4.976, -0.003, 0.035},
       {0.746, -0.924, -0.164, -0.164, 0.311, 0.201, 3.432},
       {0.538, 0.053, -0.179, 0.0, 0.0, -0.221, 0.506}}},
     {{{0.236, -0.443, 0.794, -0.321, -0.736, 3.538, 2.693, 0.032, 0.089},
       {0.67, -1.157, 0.011, -0.317, 0.3, 0.661, 0.817},
       {0.537, -1.26, 0.413, 0.0, 0.0, 0.72, 0.146}}}},
    {"reference",
     {{{0.687, -0.211, -0.066, -0.092, -0.064, 0.009}, {0.01}, {-0.007, 0.021, 0.101}}},
     {{{0.527, 0.256, 0.275, -0.371, 0.023, -0.404},
       {0.025, 0.041, 0.045, -0.019, -0.077},
       {0.042, -0.012, 0.04}}}},
};

/// How a kernel set divides channels, and whose coefficients it uses.
struct KernelWidths {
  std::string_view kernel_set;
  int64_t lanes;  ///< floats in a vector; 1: plain loops
  int64_t panel;  ///< output channels that Winograd's products compute together
  std::string_view timed;
};

constexpr KernelWidths kWidths[] = {{"avx512", 16, 32, "avx512"},
                                    {"avx2", 8, 16, "avx2"},
                                    {"neon", 4, 8, "avx2"},
                                    {"reference", 1, 1, "reference"}};

template <typename Row, std::size_t rows>
const Row& row_of(const Row (&table)[rows], std::string_view kernel_set) {
  const auto* found = std::ranges::find(table, kernel_set, &Row::kernel_set);
  BNTT_CHECK(found != std::end(table));
  return *found;
}

Way way_of(const BranchPlan& plan) {
  if (plan.geometry.is_same_3x3()) return kWinograd;
  return plan.geometry.kernel == 1 ? kPointwise : kOther;
}

int64_t whole(int64_t count, int64_t unit) { return (count + unit - 1) / unit * unit; }

/// Channel counts outside the timed range are clamped to it.
double clamped(int64_t channels) {
  return static_cast<double>(std::clamp<int64_t>(channels, 8, 512));
}

double clamped_extent(const MapShape& map) {
  return static_cast<double>(std::clamp<int64_t>(map.width, 4, 64)) / 32.0;
}

double is_ragged(const BranchPlan& plan, const KernelWidths& widths) {
  return plan.input.channels % widths.lanes != 0 ? 1.0 : 0.0;
}

/// Winograd's tiles of 4x4 pixels may extend beyond the map: extra work that a walk does not have.
double tile_waste(const MapShape& map) {
  const int64_t tiles = whole(map.height, 4) / 4 * (whole(map.width, 4) / 4);
  return static_cast<double>(16 * tiles) / static_cast<double>(map.pixels());
}

// The terms that the coefficients multiply: keep in step with terms_of in scripts/fit-break-even.

/// A spike costs a walk one addition per tap and vector of output channels, in blocks of up to four
/// vectors. So the terms are what a pixel costs otherwise, divided by the input channels and the
/// channels of these vectors: Winograd's products and transforms, for which channels are padded to
/// panels; what either way does once per pixel or per input; and the pool, which the walk reads
/// pixel by pixel. Input channels that do not fill their last vector are loaded with a mask. The
/// last two terms are for wide maps, on which Winograd's weight gradient loses more to its caches.
Terms winograd_terms(const BranchPlan& plan, const KernelWidths& widths) {
  const int64_t outputs = plan.output.channels;
  const int64_t block =
      std::min(whole(outputs, widths.lanes), kernels::kMaxBlockVectors * widths.lanes);
  const auto walked = static_cast<double>(whole(outputs, block));
  const auto multiplied = static_cast<double>(whole(outputs, widths.panel));
  const auto transformed = static_cast<double>(whole(plan.input.channels, widths.panel));
  const auto lanes = static_cast<double>(widths.lanes);
  const double inputs = clamped(plan.input.channels);
  const double waste = tile_waste(plan.input);
  const double pooled = plan.pools() ? 1.0 : 0.0;
  const double extent = clamped_extent(plan.input);
  return {waste * multiplied / walked,
          waste * multiplied / (inputs * walked),
          1.0 / inputs,
          lanes / walked,
          pooled * lanes / walked,
          pooled * lanes / (inputs * walked),
          is_ragged(plan, widths) * waste * transformed / (inputs * walked),
          extent,
          extent * lanes / walked};
}

/// Winograd's against the walk in plain loops, which pad nothing.
Terms plain_winograd_terms(const BranchPlan& plan) {
  const double per_input = 8.0 / clamped(plan.input.channels);
  const double per_output = 8.0 / clamped(plan.output.channels);
  const double pooled = plan.pools() ? 1.0 : 0.0;
  Terms terms = {1.0, per_input, per_output, per_input * per_output, pooled, pooled * per_output};
  for (double& term : terms) term *= tile_waste(plan.input);
  return terms;
}

/// For oneDNN's convolutions, which are slow for channels that do not fill their last vector.
Terms direct_terms(const BranchPlan& plan, const KernelWidths& widths) {
  const double per_input = 8.0 / clamped(plan.input.channels);
  const double per_output = 8.0 / clamped(plan.output.channels);
  const double unstrided = plan.geometry.stride == 1 ? 1.0 : 0.0;
  return {1.0,
          per_input,
          1.0 / (32.0 * per_input),
          unstrided,
          unstrided * per_output,
          per_input * per_input,
          is_ragged(plan, widths)};
}

Terms terms_of(const BranchPlan& plan, const KernelWidths& widths) {
  if (way_of(plan) != kWinograd) return direct_terms(plan, widths);
  return widths.lanes == 1 ? plain_winograd_terms(plan) : winograd_terms(plan, widths);
}

/// Only sums, products and quotients in a fixed order, then rounding: library functions could
/// differ in their last bits between machines.
float density_of(const Terms& coefficients, const Terms& terms) {
  constexpr double kLeast = 0.02;  // below this neither way takes long
  constexpr double kMost = 2.0;
  double sum = 0.0;
  for (std::size_t i = 0; i < terms.size(); ++i) sum += coefficients[i] * terms[i];
  return static_cast<float>(std::round(std::clamp(sum, kLeast, kMost) * 1000.0) / 1000.0);
}

}  // namespace

BreakEven break_even_by_formula(const BranchPlan& plan, std::string_view kernel_set) {
  const KernelWidths& widths = row_of(kWidths, kernel_set);
  const Coefficients& coefficients = row_of(kCoefficients, widths.timed);
  const Way way = way_of(plan);
  const Terms terms = terms_of(plan, widths);
  return {.forward = density_of(coefficients.forward[way], terms),
          .weight_gradient = density_of(coefficients.weight_gradient[way], terms)};
}

}  // namespace bntt
