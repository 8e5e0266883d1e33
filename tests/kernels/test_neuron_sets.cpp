#include <gtest/gtest.h>

#include <cmath>

#include "guarded.h"
#include "kernels/surrogates.h"

namespace bntt::kernels {
namespace {

using testing::EverySet;
using testing::Guarded;
using testing::Numbers;

struct NeuronCase {
  NeuronShape shape;
  MapShape map;
  int64_t pool_height = 1;
  int64_t pool_width = 1;
  Dynamics dynamics = dynamics_of({.leak = 1.0F}, Propagation::instant);
  bool rows_per_image = false;
  bool constant_current = false;
  bool halves = false;  // of currents
  bool half_gradients = false;
  int64_t block_pixels = PixelBlock::kMaxPixels;
};

std::ostream& operator<<(std::ostream& out, const NeuronCase& c) {
  return out << c.map.channels << "x" << c.map.height << "x" << c.map.width << ", " << c.shape.batch
             << " images, " << c.shape.steps << " steps, pool " << c.pool_height << "x"
             << c.pool_width << (c.dynamics.reset == Reset::hard ? ", hard" : ", soft")
             << (c.dynamics.reset_before_leak ? "" : ", leak first")
             << (c.dynamics.detach_reset ? ", detached" : "")
             << (c.dynamics.fire == Fire::ge ? ", fires at θ" : "") << ", surrogate "
             << static_cast<int>(c.dynamics.surrogate.kind) << " of width "
             << c.dynamics.surrogate.width << (c.rows_per_image ? ", rows per image" : "")
             << (c.constant_current ? ", constant" : "") << (c.halves ? ", halves" : "")
             << (c.half_gradients ? ", half gradients" : "") << ", blocks of " << c.block_pixels;
}

NeuronCase neuron_case(MapShape map, int64_t batch, int64_t steps) {
  NeuronCase result;
  result.shape = {steps, batch, map.pixels(), map.channels};
  result.map = map;
  return result;
}

std::vector<Dynamics> every_dynamics() {
  std::vector<Dynamics> result;
  for (const Reset reset : {Reset::soft, Reset::hard}) {
    for (const Propagation propagation : {Propagation::instant, Propagation::delayed}) {
      for (const bool detach : {true, false}) {
        for (const auto& [kind, name, meaning] : kSurrogates) {
          // Numbers to the kernels, not variants: they can change together.
          for (const auto& [fire, width] : {std::pair{Fire::gt, 0.0F}, {Fire::ge, 1.4F}}) {
            result.push_back(dynamics_of(
                {.leak = 0.95F,
                 .threshold = 0.9F,
                 .fire = fire,
                 .reset = reset,
                 .detach_reset = detach,
                 .floor = width > 0.0F ? std::optional(-0.1F) : std::nullopt,
                 .surrogate =
                     {.kind = kind, .alpha = 0.3F, .width = width, .per_threshold = width > 0.0F}},
                propagation));
          }
        }
      }
    }
  }
  return result;
}

/// Everything that goes into the kernels, and the views of it that they take.
struct Inputs {
  explicit Inputs(const NeuronCase& c) {
    Numbers numbers(static_cast<uint32_t>(c.shape.channels * 31 + c.shape.steps));
    const int64_t rows = c.shape.steps * (c.rows_per_image ? c.shape.batch : 1);
    const int64_t stored = c.constant_current ? 1 : c.shape.steps;
    current = numbers.vector(stored * c.shape.batch * c.shape.frame(), 1.5F, 0.2F);
    mean = numbers.vector(rows * c.shape.channels, 0.2F);
    inverse_deviation = numbers.vector(rows * c.shape.channels, 0.2F, 1.0F);
    slope_of_y = numbers.vector(rows * c.shape.channels, 0.3F, 1.0F);
    shift = numbers.vector(rows * c.shape.channels, 0.3F);
    carry = numbers.vector(c.shape.batch * c.shape.frame(), 0.5F);
    pool = {c.map, c.pool_height, c.pool_width};
    arriving = numbers.vector(c.shape.steps * c.shape.batch * pool.pooled().size());
    scale = numbers.vector(rows * c.shape.channels);
    slope = numbers.vector(rows * c.shape.channels);
    offset = numbers.vector(rows * c.shape.channels);
    affine = {.scale = slope_of_y.data(),
              .shift = shift.data(),
              .mean = mean.data(),
              .inverse_deviation = inverse_deviation.data(),
              .rows_per_step = c.rows_per_image ? c.shape.batch : 1};
    floats = {current.data(), c.constant_current ? 0 : c.shape.batch * c.shape.frame()};
    currents = floats;
    if (!c.halves) return;
    halves.resize(current.size());
    round_to_bfloat16(current.data(), std::ssize(current), halves.data());
    currents = {nullptr, floats.step_stride, halves.data()};
  }
  Inputs(const Inputs&) = delete;
  Inputs& operator=(const Inputs&) = delete;

  std::vector<float> current, slope_of_y, shift, mean, inverse_deviation, carry, arriving;
  std::vector<float> scale, slope, offset;  // of the norm's gradient
  std::vector<BFloat16> halves;
  PooledMap pool;
  Affine affine;
  Currents currents;
  Currents floats;  // the same numbers
};

/// Gradients in the number format of a case.
class GuardedGradient {
 public:
  GuardedGradient(const NeuronCase& c, const std::vector<float>& values)
      : halves_(c.half_gradients), of_floats_(values), of_halves_(rounded(values)) {}

  GradientPlace place() {
    return halves_ ? GradientPlace{nullptr, of_halves_.data()} : GradientPlace{of_floats_.data()};
  }
  GradientView view() { return place().view(); }
  float at(int64_t i) const {
    return halves_ ? widened(of_halves_.data()[i]) : of_floats_.data()[i];
  }
  int64_t size() const { return of_floats_.size(); }
  bool same_bits(const GuardedGradient& other) const {
    return halves_ ? of_halves_.same_bits(other.of_halves_)
                   : of_floats_.same_bits(other.of_floats_);
  }
  bool guards_intact() const { return of_floats_.guards_intact() && of_halves_.guards_intact(); }

 private:
  static std::vector<BFloat16> rounded(const std::vector<float>& values) {
    std::vector<BFloat16> halves;
    for (const float value : values) halves.push_back(rounded_to_bfloat16(value));
    return halves;
  }

  bool halves_;
  Guarded<float> of_floats_;
  Guarded<BFloat16> of_halves_;
};

template <typename Work>
void for_each_block(const NeuronCase& c, const Work& work) {
  for (int64_t image = 0; image < c.shape.batch; ++image) {
    for (int64_t begin = 0; begin < c.shape.pixels; begin += c.block_pixels) {
      work(PixelBlock{image, begin, std::min(c.shape.pixels, begin + c.block_pixels)});
    }
  }
}

struct Outputs {
  Guarded<float> carry;
  Guarded<SpikeWord> spikes;
  GuardedGradient norm_gradient, in_place, current_gradient;
  Guarded<float> sum, sum_unit, branch_sum, branch_sum_unit, step_sum, scratch;
  Guarded<float> lee_gradient, lee_in_place, lee_sum, lee_sum_unit, lee_scratch_space;

  explicit Outputs(const NeuronCase& c, const Inputs& in)
      : carry(in.carry),
        spikes(c.shape.steps * c.shape.batch * c.shape.pixels * c.shape.words_per_pixel()),
        norm_gradient(c,
                      std::vector<float>(c.shape.steps * c.shape.batch * c.shape.frame(), -3.0F)),
        in_place(c, in.arriving),
        current_gradient(c, Numbers(8).vector(norm_gradient.size())),
        sum(c.shape.steps * c.shape.channels, 0.5F),
        sum_unit(c.shape.steps * c.shape.channels, 0.25F),
        branch_sum(sum),
        branch_sum_unit(sum_unit),
        step_sum(c.shape.batch * c.shape.frame(), 0.125F),
        scratch(backward_scratch(c.shape, c.dynamics, std::min(c.block_pixels, c.shape.pixels))),
        lee_gradient(norm_gradient.size(), -3.0F),
        lee_in_place(in.arriving),
        lee_sum(sum),
        lee_sum_unit(sum_unit),
        lee_scratch_space(lee_scratch(c.shape, std::min(c.block_pixels, c.shape.pixels))) {}
};

void run_lee(const KernelSet& set, const NeuronCase& c, const Inputs& in, const Currents& currents,
             const PixelBlock& block, Outputs& out) {
  const LeeRule rule{.log_leak = std::log(c.dynamics.leak), .height = 1.0F / c.dynamics.threshold};
  const GradientSums sums{out.lee_sum.data(), out.lee_sum_unit.data()};
  set.lee_backward(c.shape, c.dynamics, rule, in.affine, currents, {{in.arriving.data()}, in.pool},
                   block, out.lee_scratch_space.data(), out.lee_gradient.data(), sums);
  if (!in.pool.is_identity()) return;
  set.lee_backward(c.shape, c.dynamics, rule, in.affine, currents,
                   {{out.lee_in_place.data()}, in.pool}, block, out.lee_scratch_space.data(),
                   out.lee_in_place.data(), sums);
}

Outputs run(const KernelSet& set, const NeuronCase& c, const Inputs& in, const Currents& currents) {
  Outputs out(c, in);
  const bool pooled = !in.pool.is_identity();
  GuardedGradient arriving(c, in.arriving);
  for_each_block(c, [&](const PixelBlock& block) {
    spiking_forward(set, c.shape, c.dynamics, in.affine, currents, block, out.carry.data(),
                    out.spikes.data());
    const GradientSums sums{out.sum.data(), out.sum_unit.data()};
    set.spiking_backward(c.shape, c.dynamics, in.affine, currents, {arriving.view(), in.pool},
                         block, out.scratch.data(), out.norm_gradient.place(), sums);
    if (!pooled) {
      set.spiking_backward(c.shape, c.dynamics, in.affine, currents, {out.in_place.view(), in.pool},
                           block, out.scratch.data(), out.in_place.place(), sums);
    }
    if (c.dynamics.reset == Reset::hard) run_lee(set, c, in, currents, block, out);
    set.gradient_sums(c.shape, in.affine, currents, out.current_gradient.view(), block,
                      {out.branch_sum.data(), out.branch_sum_unit.data()});
    set.norm_backward(c.shape, in.affine, {in.scale.data(), in.slope.data(), in.offset.data()},
                      currents, block, out.current_gradient.place(), out.step_sum.data());
  });
  if (!pooled) {
    EXPECT_TRUE(out.in_place.same_bits(out.norm_gradient)) << set.name << " in place: " << c;
  }
  if (!pooled && c.dynamics.reset == Reset::hard) {
    EXPECT_TRUE(out.lee_in_place.same_bits(out.lee_gradient)) << set.name << " in place: " << c;
  }
  return out;
}

void expect_reference_bits(const KernelSet& set, const KernelSet& reference, const NeuronCase& c) {
  const Inputs in(c);
  const Outputs ours = run(set, c, in, in.currents);
  const Outputs expected = run(reference, c, in, in.floats);
  EXPECT_TRUE(ours.carry.same_bits(expected.carry)) << c;
  EXPECT_TRUE(ours.spikes.same_bits(expected.spikes)) << c;
  EXPECT_TRUE(ours.norm_gradient.same_bits(expected.norm_gradient)) << c;
  EXPECT_TRUE(ours.sum.same_bits(expected.sum)) << c;
  EXPECT_TRUE(ours.sum_unit.same_bits(expected.sum_unit)) << c;
  EXPECT_TRUE(ours.branch_sum.same_bits(expected.branch_sum)) << c;
  EXPECT_TRUE(ours.branch_sum_unit.same_bits(expected.branch_sum_unit)) << c;
  EXPECT_TRUE(ours.current_gradient.same_bits(expected.current_gradient)) << c;
  EXPECT_TRUE(ours.step_sum.same_bits(expected.step_sum)) << c;
  EXPECT_TRUE(ours.lee_gradient.same_bits(expected.lee_gradient)) << c;
  EXPECT_TRUE(ours.lee_sum.same_bits(expected.lee_sum)) << c;
  EXPECT_TRUE(ours.lee_sum_unit.same_bits(expected.lee_sum_unit)) << c;
  EXPECT_TRUE(ours.lee_gradient.guards_intact() && ours.lee_in_place.guards_intact() &&
              ours.lee_sum.guards_intact() && ours.lee_sum_unit.guards_intact() &&
              ours.lee_scratch_space.guards_intact())
      << "written past the end: " << c;
  EXPECT_TRUE(ours.carry.guards_intact() && ours.spikes.guards_intact() &&
              ours.norm_gradient.guards_intact() && ours.in_place.guards_intact() &&
              ours.sum.guards_intact() && ours.sum_unit.guards_intact() &&
              ours.branch_sum.guards_intact() && ours.branch_sum_unit.guards_intact() &&
              ours.step_sum.guards_intact() && ours.current_gradient.guards_intact() &&
              ours.scratch.guards_intact())
      << "written past the end: " << c;
}

class NeuronsOfEverySet : public EverySet {};
INSTANTIATE_TEST_SUITE_P(Sets, NeuronsOfEverySet, ::testing::ValuesIn(kernel_sets()),
                         testing::set_name);

TEST_P(NeuronsOfEverySet, GiveTheReferencesBitsForEveryShape) {
  const auto dynamics = every_dynamics();
  uint32_t turn = 0;  // takes the options in rotation, so that every shape meets several
  for (const int64_t channels : {1, 3, 7, 8, 9, 16, 63, 64, 65, 130}) {
    for (const MapShape& map :
         {MapShape{channels, 1, 1}, MapShape{channels, 3, 3}, MapShape{channels, 2, 5}}) {
      for (const int64_t batch : {1, 3}) {
        for (const int64_t steps : {1, 5, 64}) {
          for (int repeat = 0; repeat < 2; ++repeat, ++turn) {
            NeuronCase c = neuron_case(map, batch, steps);
            c.dynamics = dynamics[turn * 7 % dynamics.size()];
            c.pool_height = std::min<int64_t>(1 + turn % 3, map.height);
            c.pool_width = std::min<int64_t>(1 + turn / 3 % 3, map.width);
            c.rows_per_image = (turn & 1) != 0;
            c.constant_current = (turn & 2) != 0;
            c.halves = (turn & 4) != 0;
            c.half_gradients = (turn & 8) != 0;
            c.block_pixels = 1 + turn % 5 * 2;
            expect_reference_bits(set(), reference_, c);
          }
        }
      }
    }
  }
}

TEST_P(NeuronsOfEverySet, GiveTheReferencesBitsForEveryOption) {
  int turn = 0;  // gradients are floats and halves in turn, so that every option meets both
  for (const int64_t channels : {9, 65}) {
    for (const Dynamics& dynamics : every_dynamics()) {
      ++turn;  // five per dynamics: an odd number, so that every pool meets both, too
      for (const auto& [pool_height, pool_width] :
           {std::pair{1, 1}, std::pair{2, 2}, std::pair{3, 3}, std::pair{1, 2}}) {
        ++turn;
        for (int flags = 0; flags < 8; ++flags) {
          NeuronCase c = neuron_case({channels, 3, 4}, 3, 5);
          c.dynamics = dynamics;
          c.pool_height = pool_height;
          c.pool_width = pool_width;
          c.rows_per_image = (flags & 1) != 0;
          c.constant_current = (flags & 2) != 0;
          c.halves = (flags & 4) != 0;
          c.half_gradients = (flags + turn) % 2 != 0;
          c.block_pixels = 5;
          expect_reference_bits(set(), reference_, c);
        }
      }
    }
  }
}

// Rows of a block of channels, as a synapse hands them over: strides of their own, and bytes of
// other channels' spikes on both sides.
TEST_P(NeuronsOfEverySet, TakeSomeChannelsAndLeaveTheOthersBits) {
  constexpr int64_t kPixels = 5;
  constexpr int64_t kBytes = 24;  // three words per pixel
  Numbers numbers(5);
  for (const int64_t channels : {1, 7, 8, 9, 16, 17, 31, 32, 33, 40, 64, 65, 72}) {
    for (const Dynamics& dynamics : every_dynamics()) {
      const auto current = numbers.vector(kPixels * (channels + 3), 1.5F, 0.2F);
      const auto scale = numbers.vector(channels, 0.3F, 1.0F);
      const auto shift = numbers.vector(channels, 0.3F);
      const auto before = numbers.vector(kPixels * (channels + 5), 0.5F);
      const auto run = [&](const KernelSet& set, Guarded<float>& carry, Guarded<uint8_t>& spikes) {
        set.spiking_step(dynamics, {.pixels = kPixels,
                                    .channels = channels,
                                    .scale = scale.data(),
                                    .shift = shift.data(),
                                    .currents = {.data = current.data()},
                                    .current_stride = channels + 3,
                                    .carry = carry.data(),
                                    .carry_stride = channels + 5,
                                    .spikes = spikes.data() + 4,
                                    .spike_stride = kBytes});
      };
      Guarded<float> carry(before);
      Guarded<float> expected_carry(before);
      Guarded<uint8_t> spikes(kPixels * kBytes, 0x5a);
      Guarded<uint8_t> expected(kPixels * kBytes, 0x5a);
      run(set(), carry, spikes);
      run(reference_, expected_carry, expected);
      EXPECT_TRUE(carry.same_bits(expected_carry)) << channels;
      EXPECT_TRUE(spikes.same_bits(expected)) << channels;
      const int64_t used = (channels + 7) / 8;
      for (int64_t i = 0; i < spikes.size(); ++i) {
        const int64_t byte = i % kBytes;
        if (byte >= 4 && byte < 4 + used) continue;
        EXPECT_EQ(spikes.data()[i], 0x5a) << channels;
      }
      EXPECT_TRUE(carry.guards_intact() && spikes.guards_intact()) << channels;
    }
  }
}

// Gradients in bf16 are those in fp32, rounded where they are stored: what is carried through time
// is not rounded.
TEST_P(NeuronsOfEverySet, RoundGradientsOnlyWhereTheyAreStored) {
  for (const bool constant : {false, true}) {
    NeuronCase c = neuron_case({21, 3, 4}, 2, 6);
    c.constant_current = constant;
    Inputs in(c);
    for (float& value : in.arriving) value = widened(rounded_to_bfloat16(value));
    const Outputs floats = run(set(), c, in, in.currents);
    c.half_gradients = true;
    const Outputs halves = run(set(), c, in, in.currents);
    for (int64_t i = 0; i < halves.norm_gradient.size(); ++i) {
      ASSERT_EQ(halves.norm_gradient.at(i),
                widened(rounded_to_bfloat16(floats.norm_gradient.at(i))))
          << i;
    }
    if (constant) continue;
    Outputs before(c, in);
    const float* scale = in.scale.data();
    const auto step_size = c.shape.batch * c.shape.frame();
    for (int64_t i = 0; i < halves.current_gradient.size(); ++i) {
      const int64_t row = i / step_size * c.shape.channels + i % c.shape.channels;
      const float unit = (in.current[i] - in.mean[row]) * in.inverse_deviation[row];
      const float expected =
          (scale[row] * before.current_gradient.at(i) - in.slope[row] * unit) - in.offset[row];
      ASSERT_EQ(halves.current_gradient.at(i), widened(rounded_to_bfloat16(expected))) << i;
    }
  }
}

TEST_P(NeuronsOfEverySet, TakeTheLargestBlock) {
  expect_reference_bits(set(), reference_, neuron_case({3, 32, 32}, 1, 5));
}

/// One neuron per channel, norm left out.
Guarded<SpikeWord> spikes_of(const KernelSet& set, const std::vector<float>& current,
                             std::vector<float>& carry, int64_t steps,
                             const NeuronSpec& neuron = {.leak = 0.5F}) {
  const auto channels = static_cast<int64_t>(carry.size());
  const NeuronShape shape{steps, 1, 1, channels};
  const std::vector<float> zeros(static_cast<std::size_t>(steps * channels), 0.0F);
  const std::vector<float> ones(static_cast<std::size_t>(steps * channels), 1.0F);
  Guarded<SpikeWord> spikes(steps * shape.words_per_pixel());
  spiking_forward(set, shape, dynamics_of(neuron, Propagation::instant),
                  {.scale = ones.data(), .shift = zeros.data()}, {current.data(), channels},
                  {0, 0, 1}, carry.data(), spikes.data());
  return spikes;
}

TEST_P(NeuronsOfEverySet, FireStrictlyAboveTheThreshold) {
  const float above = std::nextafter(1.0F, 2.0F);
  std::vector<float> carry(3, 0.0F);
  const auto spikes = spikes_of(set(), {1.0F, above, 0.5F}, carry, 1);
  EXPECT_EQ(spikes.data()[0], 0b010U);
  EXPECT_EQ(carry[0], 0.5F);
  EXPECT_EQ(carry[1], 0.5F * (above - 1.0F));
  EXPECT_EQ(carry[2], 0.25F);
}

TEST_P(NeuronsOfEverySet, FireAtTheThresholdWhereAsked) {
  const float below = std::nextafter(1.0F, 0.0F);
  constexpr std::size_t kChannels = 19;  // whole vectors and a rest
  std::vector<float> current(kChannels, below);
  for (std::size_t c = 0; c < kChannels; c += 2) current[c] = 1.0F;
  for (const Reset reset : {Reset::soft, Reset::hard}) {
    std::vector<float> carry(kChannels, 0.0F);
    const auto spikes =
        spikes_of(set(), current, carry, 1, {.leak = 0.5F, .fire = Fire::ge, .reset = reset});
    for (std::size_t c = 0; c < kChannels; ++c) {
      EXPECT_EQ(spikes.data()[0] >> c & 1, c % 2 == 0 ? 1U : 0U) << c;
      EXPECT_EQ(carry[c], c % 2 == 0 ? 0.0F : 0.5F * below) << c;
    }
  }
}

// A hard reset at the threshold itself: the spike of the first step clears the carry, and the
// second step's gradient does not reach the first.
TEST_P(NeuronsOfEverySet, BackwardFiresWhereForwardDid) {
  constexpr int64_t kChannels = 19;
  const NeuronShape shape{.steps = 2, .batch = 1, .pixels = 1, .channels = kChannels};
  const std::vector<float> ones(2 * kChannels, 1.0F);
  const std::vector<float> zeros(2 * kChannels, 0.0F);
  const Affine affine{ones.data(), zeros.data(), zeros.data(), ones.data()};
  for (const Fire fire : {Fire::gt, Fire::ge}) {
    const Dynamics dynamics = dynamics_of(
        {.leak = 0.5F,
         .fire = fire,
         .reset = Reset::hard,
         .surrogate = {.kind = SurrogateKind::rectangle, .alpha = 0.25F, .width = 0.5F}},
        Propagation::instant);
    std::vector<float> sum(2 * kChannels, 0.0F);
    std::vector<float> sum_unit(2 * kChannels, 0.0F);
    std::vector<float> gradient(2 * kChannels, 0.0F);
    std::vector<float> scratch(static_cast<std::size_t>(backward_scratch(shape, dynamics, 1)));
    set().spiking_backward(shape, dynamics, affine, {ones.data(), kChannels},
                           {{ones.data()}, {{kChannels, 1, 1}}}, {0, 0, 1}, scratch.data(),
                           {gradient.data()}, {sum.data(), sum_unit.data()});
    // The membranes are 1 and 1, or without a spike 1 and 3/2, where the rectangle is over.
    const float last = fire == Fire::ge ? 0.25F : 0.0F;
    for (int64_t c = 0; c < kChannels; ++c) {
      EXPECT_EQ(gradient[c], 0.25F) << c;
      EXPECT_EQ(gradient[kChannels + c], last) << c;
    }
  }
}

TEST_P(NeuronsOfEverySet, LeaveNoBitPastTheLastChannel) {
  for (const std::size_t channels : {1, 7, 63, 64, 65, 130}) {
    std::vector<float> carry(channels, 0.0F);
    const auto all = spikes_of(set(), std::vector<float>(2 * channels, 5.0F), carry, 2);
    EXPECT_EQ(count_spikes(all.data(), all.size()), static_cast<int64_t>(2 * channels));
    std::fill(carry.begin(), carry.end(), 0.0F);
    const auto none = spikes_of(set(), std::vector<float>(2 * channels, -5.0F), carry, 2);
    EXPECT_EQ(count_spikes(none.data(), none.size()), 0);
    EXPECT_TRUE(all.guards_intact() && none.guards_intact());
  }
}

}  // namespace
}  // namespace bntt::kernels
