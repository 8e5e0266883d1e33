#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "bntt/error.h"
#include "bntt/optimizer.h"
#include "bntt/zoo.h"
#include "model/learned_windows.h"
#include "model/model_file.h"
#include "model/working_steps.h"

namespace bntt {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t kBatch = 5;
constexpr int64_t kSteps = 6;

Network small_network(const NormSpec& norm = {}) {
  return {vgg5({.input = {3, 12, 10}, .classes = 4, .steps = kSteps, .width = 0.2, .norm = norm}),
          3};
}

Signal random_input(const Network& network, uint32_t seed = 9) {
  SpikeTrain spikes(active_steps(network.spec()), kBatch, network.spec().input, {1.0F, -1.0F});
  for (int64_t i = 0; i < spikes.words().size(); ++i) {
    spikes.words()[i] =
        draw4(seed, Purpose::encoding, {.block = static_cast<uint32_t>(i)})[0] & 0b111U;
  }
  return spikes;
}

/// A band that moves from stage to stage, with a hole in the second.
LearnedWindows some_windows(const Network& network) {
  LearnedWindows windows = all_steps(network);
  for (std::size_t i = 0; i < network.stages().size(); ++i) {
    if (!network.can_switch_steps(i, 0)) continue;
    for (int64_t step = 0; step < kSteps; ++step) {
      const auto first = static_cast<int64_t>(i) / 2;
      windows.active[i][0][step] = step >= first && step < first + 4 && !(i == 1 && step == 2);
    }
  }
  return windows;
}

/// Another network with the same rows of γ at 0, which computes every step.
Network computing_all(const Network& network) {
  Network other = network.copy();
  other.set_windows({});
  return other;
}

double distance(const Buffer<float>& a, const Buffer<float>& b) {
  double squares = 0.0;
  double size = 0.0;
  for (int64_t i = 0; i < a.size(); ++i) {
    squares += (a[i] - b[i]) * (a[i] - b[i]);
    size += b[i] * b[i];
  }
  return size > 0.0 ? std::sqrt(squares / size) : std::sqrt(squares);
}

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(WorkingSteps, AreRunsAndShareTheCurrentsOfNeighbours) {
  const WorkingSteps steps({false, true, true, false, true, false});
  ASSERT_EQ(steps.runs().size(), 2U);
  EXPECT_EQ(steps.runs()[0].begin, 1);
  EXPECT_EQ(steps.runs()[0].end, 3);
  EXPECT_EQ(steps.runs()[1].begin, 4);
  EXPECT_EQ(steps.runs()[1].stored, 2);
  EXPECT_EQ(steps.count(), 3);
  EXPECT_THAT(steps.stored_steps(), ElementsAre(0, 0, 1, 2, 2, 2));
  EXPECT_TRUE(WorkingSteps({true, true}).all());
  EXPECT_TRUE(WorkingSteps({true, true}).stored_steps().empty());
}

TEST(LearnedWindows, ForwardGivesTheBitsOfRowsAtZeroAndStoresNothingForThem) {
  for (const Precision precision : {Precision::fp32, Precision::mixed}) {
    Network network = small_network();
    network.set_precision(precision);
    network.set_windows(some_windows(network));
    Network whole = computing_all(network);
    const Trace ours = network.forward(random_input(network), NormMode::batch);
    const Trace expected = whole.forward(random_input(network), NormMode::batch);
    EXPECT_TRUE(std::ranges::equal(ours.logits, expected.logits));
    for (std::size_t i = 0; i < ours.stages.size(); ++i) {
      const BranchTrace& branch = ours.stages[i].branches.front();
      const int64_t frame = network.stages()[i].output.size();
      const auto& active = network.windows().active[i][0];
      EXPECT_EQ(branch.current.size() + branch.half_current.size(),
                std::count(active.begin(), active.end(), true) * kBatch * frame);
      const auto* spikes = std::get_if<SpikeTrain>(&ours.stages[i].output);
      if (spikes == nullptr) continue;
      EXPECT_TRUE(std::ranges::equal(spikes->words(),
                                     std::get<SpikeTrain>(expected.stages[i].output).words()));
    }
  }
}

TEST(LearnedWindows, GradientsAreThoseOfRowsAtZeroButTheRowsAreFrozen) {
  Network network = small_network();
  network.set_windows(some_windows(network));
  Network whole = computing_all(network);
  Trace ours = network.forward(random_input(network), NormMode::batch, Keep::for_backward);
  Trace expected = whole.forward(random_input(network), NormMode::batch, Keep::for_backward);
  Buffer<float> gradient(ours.logits.size());
  for (int64_t i = 0; i < gradient.size(); ++i) gradient[i] = static_cast<float>(i % 5) - 2.0F;
  Buffer<float> at_input;
  Buffer<float> expected_at_input;
  network.backward(std::move(ours), gradient, &at_input);
  whole.backward(std::move(expected), gradient, &expected_at_input);
  EXPECT_LT(distance(at_input, expected_at_input), 1e-6);
  bool moved_by_the_other = false;
  for (std::size_t p = 0; p < network.parameters().size(); ++p) {
    const Parameter& parameter = network.parameters()[p];
    Buffer<float> wanted = whole.parameters()[p].gradient;
    if (parameter.group == ParameterGroup::gain) {
      for (std::size_t i = 0; i < network.stages().size(); ++i) {
        if (network.gain(i) != &parameter) continue;
        const int64_t channels = network.stages()[i].output.channels;
        for (int64_t k = 0; k < wanted.size(); ++k) {
          if (network.windows().active[i][0][k / channels]) continue;
          moved_by_the_other = moved_by_the_other || wanted[k] != 0.0F;
          wanted[k] = 0.0F;
          EXPECT_EQ(parameter.gradient[k], 0.0F);
        }
      }
    }
    EXPECT_LT(distance(parameter.gradient, wanted), 1e-5) << parameter.name;
  }
  EXPECT_TRUE(moved_by_the_other) << "freezing would need no windows";
}

TEST(LearnedWindows, StayAtZeroWhateverTheOptimiser) {
  for (const std::string kind : {"sgd", "adam"}) {
    Network network = small_network();
    network.set_windows(some_windows(network));
    const auto optimizer = make_optimizer(network, {.kind = kind});
    for (uint32_t step = 0; step < 3; ++step) {
      Trace trace = network.forward(random_input(network, step), NormMode::batch);
      Buffer<float> gradient(trace.logits.size());
      gradient.fill(0.25F);
      gradient[0] = -1.0F;
      network.backward(std::move(trace), gradient);
      optimizer->step(network, 0.1);
    }
    for (std::size_t i = 0; i < network.stages().size(); ++i) {
      if (!network.can_switch_steps(i, 0)) continue;
      const int64_t channels = network.stages()[i].output.channels;
      for (int64_t k = 0; k < network.gain(i)->value.size(); ++k) {
        EXPECT_EQ(network.gain(i)->value[k] == 0.0F, !network.windows().active[i][0][k / channels]);
      }
    }
  }
}

TEST(LearnedWindows, StopTheRunningStatisticsOfTheirSteps) {
  Network network = small_network();
  network.set_windows(some_windows(network));
  const std::vector<Statistic> before = network.statistics();
  network.forward(random_input(network), NormMode::batch);
  for (std::size_t i = 0; i < network.stages().size(); ++i) {
    if (!network.can_switch_steps(i, 0)) continue;
    const int64_t channels = network.stages()[i].output.channels;
    for (const Statistic& statistic : network.norm_statistics(i)) {
      const auto& old = before[static_cast<std::size_t>(&statistic - network.statistics().data())];
      for (int64_t step = 0; step < kSteps; ++step) {
        const bool same = std::equal(statistic.value.data() + step * channels,
                                     statistic.value.data() + (step + 1) * channels,
                                     old.value.data() + step * channels);
        EXPECT_EQ(same, !network.windows().active[i][0][step]) << statistic.name << step;
      }
    }
  }
}

TEST(LearnedWindows, InferenceGivesTheBitsOfRowsAtZero) {
  Network network = small_network();
  network.forward(random_input(network), NormMode::batch);
  network.set_windows(some_windows(network));
  const Network whole = computing_all(network);
  const auto logits = [&](const Network& one) {
    ChainState state = one.start(kBatch);
    one.advance(random_input(network), state);
    return one.logits(state);
  };
  EXPECT_TRUE(std::ranges::equal(logits(network), logits(whole)));
  EXPECT_TRUE(whole.stage_windows().empty());
  const StepWindows rests = network.stage_windows();
  EXPECT_FALSE(rests.active[0][5]);
  EXPECT_TRUE(rests.active[0][0]);
  StepWindows others{.active = std::vector(network.stages().size(), std::vector<bool>(6, true))};
  others.active[0][0] = false;
  EXPECT_FALSE(network.stage_windows(others).active[0][0]);
  EXPECT_FALSE(network.stage_windows(others).active[0][5]);
}

TEST(LearnedWindows, GoWithACopyAndAFile) {
  Network network = small_network();
  const ModelCard card;
  EXPECT_FALSE(pack_model(network, card).metadata.contains("bntt.windows"));
  network.set_windows(some_windows(network));
  EXPECT_EQ(network.copy().windows(), network.windows());
  const TensorFile file = pack_model(network, card);
  EXPECT_EQ(file.metadata.at("bntt.windows"),
            R"({"conv1":"####..","conv2":"##.#..","conv3":".####.","fc1":".####."})");
  const Network again = network_in(file, "file");
  EXPECT_EQ(again.windows(), network.windows());
  EXPECT_EQ(pack_model(again, card).metadata, file.metadata);

  const auto refused = [&](const char* text) {
    TensorFile wrong = file;
    wrong.metadata["bntt.windows"] = text;
    return refusal([&] { network_in(wrong, "file"); });
  };
  EXPECT_EQ(refused(R"({"conv1":"####"})"),
            "file: windows: conv1 is '####', expected 6 of '#' and '.'");
  EXPECT_EQ(refused(R"({"conv1":"......"})"),
            "file: windows: conv1 is '......', expected a step that works");
  EXPECT_EQ(refused(R"({"conv9":"####.."})"),
            "file: windows: name a branch that the network does not have");
  EXPECT_EQ(refused(R"({"fc2":"####.."})"),
            "file: windows: fc2 has a norm 'none', whose steps cannot be switched off");
  EXPECT_THAT(refused("[1]"), HasSubstr("file: windows"));
  EXPECT_THAT(refused(R"({"conv1":3})"), HasSubstr("file: windows"));
}

TEST(LearnedWindows, AreRefusedWhereTheyCannotWork) {
  Network network = small_network();
  const auto refused = [&](auto change) {
    LearnedWindows windows = all_steps(network);
    change(windows);
    return refusal([&] { network.set_windows(windows); });
  };
  EXPECT_EQ(refused([](auto& windows) { windows.active.pop_back(); }),
            "network: the learned windows are not those of 5 stages and 6 steps");
  EXPECT_EQ(refused([](auto& windows) { windows.active[1][0].pop_back(); }),
            "network: the learned windows are not those of 5 stages and 6 steps");
  EXPECT_EQ(refused([](auto& windows) { windows.active[1][0].assign(6, false); }),
            "network: conv2 works at none of its 6 steps, expected at least one");
  EXPECT_EQ(refused([](auto& windows) { windows.active[4][0][2] = false; }),
            "network: steps of fc2 are switched off, but its norm 'none' is not one with a gain "
            "for every step and no shift");
  EXPECT_TRUE(network.windows().empty());
  EXPECT_FALSE(small_network({.shift = true}).can_switch_steps(0, 0));
  EXPECT_FALSE(small_network({.kind = "tebn"}).can_switch_steps(0, 0));
  EXPECT_THAT(refusal([&] { static_cast<void>(network.can_switch_steps(9, 0)); }),
              HasSubstr("no stage 9"));
}

TEST(LearnedWindows, ATraceOfOtherWindowsIsRefused) {
  Network network = small_network();
  Trace trace = network.forward(random_input(network), NormMode::batch);
  network.set_windows(some_windows(network));
  const Buffer<float> gradient(trace.logits.size());
  EXPECT_EQ(refusal([&] { network.backward(std::move(trace), gradient); }),
            "network: the trace does not belong to this network");
}

TEST(LearnedWindows, LeaveTheirShareOfTheWork) {
  const Network network = small_network();
  LearnedWindows windows = all_steps(network);
  EXPECT_EQ(work_left(network, windows, false), 1.0);
  for (int64_t step = 3; step < kSteps; ++step) windows.active[0][0][step] = false;
  double macs = 0.0;
  for (const StagePlan& plan : network.stages()) macs += static_cast<double>(plan.macs);
  const auto first = static_cast<double>(network.stages()[0].macs);
  EXPECT_DOUBLE_EQ(work_left(network, windows, false), 1.0 - 0.5 * first / macs);
  EXPECT_EQ(work_left(network, windows, true), 1.0) << "a constant input is worked on once";
}

}  // namespace
}  // namespace bntt
