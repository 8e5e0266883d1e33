#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "cases.h"
#include "networks.h"

namespace bntt {
namespace {

Signal window_of(const Signal& signal, int64_t begin, int64_t end) {
  if (const auto* spikes = std::get_if<SpikeTrain>(&signal)) {
    SpikeTrain part(end - begin, spikes->batch(), spikes->shape(), spikes->plane_weights());
    const int64_t step_words = spikes->batch() * spikes->words_per_frame();
    for (int64_t plane = 0; plane < spikes->planes(); ++plane) {
      std::copy_n(spikes->frame(plane, begin, 0), (end - begin) * step_words,
                  part.frame(plane, 0, 0));
    }
    return part;
  }
  DenseTrain part = std::get<DenseTrain>(signal);
  part.steps = end - begin;
  if (part.constant) return part;
  const int64_t step_values = part.batch * part.shape.size();
  Buffer<float> values(part.steps * step_values);
  std::copy_n(part.values.data() + begin * step_values, values.size(), values.data());
  part.values = std::move(values);
  return part;
}

struct Streamed {
  Buffer<float> logits;
  Activity activity;
};

Streamed stream(const Network& network, const Signal& input, int64_t window,
                AdvanceOptions options = {}) {
  ChainState state = network.start(signal_batch(input));
  Streamed streamed;
  options.activity = &streamed.activity;
  const int64_t steps = signal_steps(input);
  for (int64_t begin = 0; begin < steps; begin += window) {
    network.advance(window_of(input, begin, std::min(begin + window, steps)), state, options);
  }
  EXPECT_EQ(state.steps_done, steps);
  streamed.logits = network.logits(state);
  return streamed;
}

int64_t spikes_at(const SpikeTrain& train, int64_t step) {
  int64_t count = 0;
  for (int64_t image = 0; image < train.batch(); ++image) {
    const SpikeWord* words = train.frame(0, step, image);
    for (int64_t i = 0; i < train.words_per_frame(); ++i) count += std::popcount(words[i]);
  }
  return count;
}

void expect_same_bits(const Buffer<float>& a, const Buffer<float>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (int64_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i], b[i]) << "logit " << i;
}

void expect_activity_of(const Trace& trace, const Network& network, const Activity& activity) {
  const int64_t steps = network.spec().steps;
  EXPECT_EQ(activity.images, signal_batch(trace.input));
  for (std::size_t i = 0; i + 1 < trace.stages.size(); ++i) {
    const StagePlan& plan = network.stages()[i];
    SCOPED_TRACE(plan.name);
    const auto& counts = activity.spikes.at(i);
    ASSERT_EQ(counts.size(), static_cast<std::size_t>(steps));
    const int64_t all = std::accumulate(counts.begin(), counts.end(), int64_t{0});
    if (!plan.spikes()) {
      EXPECT_EQ(all, 0);
      continue;
    }
    EXPECT_GT(all, 0);
    const auto& spikes = std::get<SpikeTrain>(trace.stages[i].output);
    for (int64_t step = 0; step < steps; ++step) {
      const int64_t local = step - plan.first_step;
      const bool active = local >= 0 && local < plan.active_steps;
      EXPECT_EQ(counts[step], active ? spikes_at(spikes, local) : 0) << "step " << step;
    }
  }
}

/// The forward pass stores currents; windows of stages that allow it go row by row.
void expect_windows_give_the_bits_of_forward(Network& network, const Signal& input) {
  const Trace trace = network.forward(input, NormMode::running);
  for (const int64_t window : {int64_t{1}, int64_t{3}, active_steps(network.spec())}) {
    SCOPED_TRACE(window);
    const Streamed streamed = stream(network, input, window);
    expect_same_bits(streamed.logits, trace.logits);
    expect_activity_of(trace, network, streamed.activity);
    expect_same_bits(stream(network, input, window, {.same_input = true}).logits, trace.logits);
  }
}

using Case = std::tuple<std::string, Propagation, Reset, Encoding>;
class Windows : public testing::TestWithParam<Case> {};

TEST_P(Windows, OfAnyLengthGiveTheBitsOfOneForwardPass) {
  const auto [norm, propagation, reset, encoding] = GetParam();
  const NetworkSpec spec = small_network({.norm = {.kind = norm},
                                          .neuron = {.reset = reset},
                                          .propagation = propagation,
                                          .steps = propagation == Propagation::delayed ? 11 : 7});
  Network network(spec, /*seed=*/5);
  make_unremarkable(network, encoding, /*batch=*/3);
  expect_windows_give_the_bits_of_forward(network,
                                          random_input(spec, encoding, /*batch=*/3, /*seed=*/17));
}

INSTANTIATE_TEST_SUITE_P(
    Chain, Windows,
    testing::Combine(testing::ValuesIn(norm_names()),
                     testing::Values(Propagation::instant, Propagation::delayed),
                     testing::Values(Reset::soft, Reset::hard),
                     testing::Values(Encoding::signed_spikes, Encoding::direct)),
    [](const auto& test) {
      return name_of(std::get<0>(test.param)) + "_" + name_of(std::get<1>(test.param)) + "_" +
             name_of(std::get<2>(test.param)) + "_" + name_of(std::get<3>(test.param));
    });

/// Every network with branches, with every input that it takes: all convolutions of spikes walked,
/// all dense, and each frame as its density says.
class BranchedWindows : public testing::TestWithParam<NamedNetwork> {
 protected:
  template <typename Check>
  static void for_each_input(const Check& check) {
    constexpr int64_t kBatch = 3;
    const NetworkSpec& spec = GetParam().spec;
    for (const Encoding encoding : GetParam().encodings) {
      for (const float break_even : {100.0F, -1.0F, 0.3F}) {
        SCOPED_TRACE(name_of(encoding) + ", break-even " + std::to_string(break_even));
        Network network(spec, /*seed=*/5);
        set_break_even(network, break_even);
        make_unremarkable(network, encoding, kBatch);
        check(network, random_input(spec, encoding, kBatch, /*seed=*/17));
      }
    }
  }
};

TEST_P(BranchedWindows, OfAnyLengthGiveTheBitsOfOneForwardPass) {
  for_each_input(expect_windows_give_the_bits_of_forward);
}

TEST_P(BranchedWindows, OfAnyLengthGiveTheSameBitsWhereSynapsesRest) {
  for_each_input([](const Network& network, const Signal& input) {
    StepWindows windows;
    for (std::size_t stage = 0; stage < network.stages().size(); ++stage) {
      auto& active = windows.active.emplace_back();
      for (int64_t step = 0; step < network.spec().steps; ++step) {
        active.push_back((static_cast<int64_t>(stage) + step) % 3 != 1);
      }
    }
    const AdvanceOptions options{.windows = &windows};
    const int64_t steps = active_steps(network.spec());
    const Streamed whole = stream(network, input, steps, options);
    const Streamed single = stream(network, input, 1, options);
    expect_same_bits(single.logits, whole.logits);
    EXPECT_EQ(single.activity.spikes, whole.activity.spikes);
  });
}

TEST_P(BranchedWindows, ImagesThatStayAreNotTouchedByThoseThatLeave) {
  for_each_input([](const Network& network, const Signal& input) {
    const int64_t steps = active_steps(network.spec());
    const std::vector<int64_t> staying = {2, 0};
    ChainState state = network.start(signal_batch(input));
    const int64_t leaving = steps / 2;
    if (leaving > 0) network.advance(window_of(input, 0, leaving), state);
    keep_images(state, staying);
    network.advance(keep_images(window_of(input, leaving, steps), staying), state);
    const Buffer<float> alone = network.logits(state);
    const Buffer<float> together = stream(network, input, steps).logits;
    const int64_t classes = classes_of(network.spec());
    for (std::size_t i = 0; i < staying.size(); ++i) {
      for (int64_t k = 0; k < classes; ++k) {
        EXPECT_EQ(alone[static_cast<int64_t>(i) * classes + k], together[staying[i] * classes + k]);
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Chain, BranchedWindows, testing::ValuesIn(networks_with_branches()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace bntt
