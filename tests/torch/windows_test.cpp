#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "cases.h"

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

Streamed stream(const Network& network, const Signal& input, int64_t window) {
  ChainState state = network.start(signal_batch(input));
  Streamed streamed;
  const int64_t steps = signal_steps(input);
  for (int64_t begin = 0; begin < steps; begin += window) {
    network.advance(window_of(input, begin, std::min(begin + window, steps)), state,
                    &streamed.activity);
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
  const Signal input = random_input(spec, encoding, /*batch=*/3, /*seed=*/17);
  const Trace trace = network.forward(input, NormMode::running);

  for (const int64_t window : {int64_t{1}, int64_t{3}, active_steps(spec)}) {
    SCOPED_TRACE(window);
    const Streamed streamed = stream(network, input, window);
    expect_same_bits(streamed.logits, trace.logits);
    EXPECT_EQ(streamed.activity.images, 3);
    for (std::size_t i = 0; i + 1 < trace.stages.size(); ++i) {
      const StagePlan& plan = network.stages()[i];
      SCOPED_TRACE(plan.name);
      const auto& counts = streamed.activity.spikes.at(i);
      const auto& spikes = std::get<SpikeTrain>(trace.stages[i].output);
      ASSERT_EQ(counts.size(), static_cast<std::size_t>(spec.steps));
      EXPECT_GT(std::accumulate(counts.begin(), counts.end(), int64_t{0}), 0);
      for (int64_t step = 0; step < spec.steps; ++step) {
        const int64_t local = step - plan.first_step;
        const bool active = local >= 0 && local < plan.active_steps;
        EXPECT_EQ(counts[step], active ? spikes_at(spikes, local) : 0) << "step " << step;
      }
    }
  }
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

}  // namespace
}  // namespace bntt
