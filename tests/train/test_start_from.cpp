#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures.h"
#include "small_networks.h"
#include "train/start_from.h"

namespace bntt {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::make_unlike_new;
using testing::refusal;
using testing::same_numbers;
using ::testing::StartsWith;

ZooOptions small_options() {
  return {.input = {1, 8, 8}, .classes = 10, .steps = 3, .width = 0.05};
}

Network network_with(const ZooOptions& options, uint64_t seed = 1) { return {vgg5(options), seed}; }

Network trained(const ZooOptions& options) {
  Network network = network_with(options);
  make_unlike_new(network);
  return network;
}

template <typename Numbers>
const Buffer<float>& value_of(const std::vector<Numbers>& all, const std::string& name) {
  return std::ranges::find(all, name, &Numbers::name)->value;
}

TEST(StartFrom, TheSameNetworkTakesEverything) {
  const Network source = trained(small_options());
  Network network = network_with(small_options(), 2);
  const TakenNumbers taken = start_from(source, "source", network);
  EXPECT_TRUE(same_numbers(network, source));
  EXPECT_THAT(taken.drawn, IsEmpty());
  EXPECT_THAT(taken.by_step, IsEmpty());
}

TEST(StartFrom, OtherClassesDrawTheReadoutAnew) {
  const Network source = trained(small_options());
  ZooOptions options = small_options();
  options.classes = 7;
  Network network = network_with(options, 2);
  const Network drawn = network_with(options, 2);
  const TakenNumbers taken = start_from(source, "source", network);
  const std::string readout = network.stages().back().name + ".";
  EXPECT_FALSE(taken.drawn.empty());
  EXPECT_THAT(taken.drawn, Each(StartsWith(readout)));
  for (const Parameter& parameter : network.parameters()) {
    const auto& from = parameter.name.starts_with(readout) ? drawn : source;
    EXPECT_TRUE(same_numbers(parameter.value, value_of(from.parameters(), parameter.name)))
        << parameter.name;
  }
}

class StartWithOtherSteps : public ::testing::TestWithParam<std::string> {};

// Step t takes what step min(t, last) had.
TEST_P(StartWithOtherSteps, RepeatsTheLastOrCutsOff) {
  ZooOptions options = small_options();
  options.norm.kind = GetParam();
  const Network source = trained(options);
  for (const int64_t steps : {2, 5}) {
    options.steps = steps;
    Network network = network_with(options, 2);
    const TakenNumbers taken = start_from(source, "source", network);
    EXPECT_FALSE(taken.by_step.empty());
    const auto check = [&](const auto& wanted, const auto& available) {
      const Buffer<float>& from = value_of(available, wanted.name);
      if (std::ranges::count(taken.by_step, wanted.name) == 0) {
        EXPECT_TRUE(same_numbers(wanted.value, from)) << wanted.name;
        return;
      }
      const int64_t row = wanted.value.size() / steps;
      ASSERT_EQ(from.size(), 3 * row) << wanted.name;
      for (int64_t i = 0; i < wanted.value.size(); ++i) {
        const int64_t step = std::min<int64_t>(i / row, 2);
        EXPECT_EQ(wanted.value[i], from[step * row + i % row]) << wanted.name << " " << i;
      }
    };
    for (const Parameter& parameter : network.parameters()) check(parameter, source.parameters());
    for (const Statistic& statistic : network.statistics()) check(statistic, source.statistics());
  }
}

INSTANTIATE_TEST_SUITE_P(NormsPerStep, StartWithOtherSteps, ::testing::Values("bntt", "tebn"),
                         [](const auto& norm) { return norm.param; });

// With delayed propagation the last rows of early stages belong to steps that lead nowhere.
TEST(StartFrom, RepeatsTheLastStepThatWasTrained) {
  ZooOptions options = small_options();
  options.propagation = Propagation::delayed;
  options.steps = 7;
  const Network source = trained(options);
  options.steps = 9;
  Network network = network_with(options, 2);
  start_from(source, "source", network);
  const StagePlan& first = source.stages().front();
  const int64_t last = first.first_step + first.active_steps - 1;
  ASSERT_LT(last, 6);
  const std::string name = first.name + ".norm.weight";
  const Buffer<float>& from = value_of(source.parameters(), name);
  const Buffer<float>& to = value_of(network.parameters(), name);
  const int64_t row = from.size() / 7;
  for (int64_t i = last * row; i < to.size(); ++i) {
    EXPECT_EQ(to[i], from[last * row + i % row]);
  }
}

TEST(StartFrom, OtherShapesAreRefusedAndChangeNothing) {
  ZooOptions options = small_options();
  options.width = 0.1;
  const Network source = trained(options);
  Network network = network_with(small_options(), 2);
  EXPECT_THAT(refusal([&] { start_from(source, "runs/wide", network); }),
              StartsWith("runs/wide: tensor 'conv1.weight' is ["));
  options = small_options();
  options.norm.kind = "none";
  EXPECT_THAT(refusal([&] { start_from(trained(options), "runs/bare", network); }),
              HasSubstr("runs/bare: has no tensor 'conv1.norm.weight'"));
  EXPECT_TRUE(same_numbers(network, network_with(small_options(), 2)));
}

TEST(StartFrom, ADirectoryWithoutWeightsIsRefused) {
  const testing::TemporaryDirectory directory;
  EXPECT_THAT(refusal([&] { load_start(directory.path().string()); }),
              HasSubstr("holds no weights to start from"));
  EXPECT_THAT(refusal([&] { load_start("nowhere"); }), StartsWith("nowhere: "));
}

}  // namespace
}  // namespace bntt
