#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/threads.h"
#include "bntt/model.h"
#include "convert/quantised_run.h"
#include "fixtures.h"
#include "small_anns.h"
#include "train/method_record.h"
#include "train/run_settings.h"
#include "train/start_from.h"

namespace bntt {
namespace {

using ::testing::HasSubstr;
using testing::refusal;

constexpr MapShape kShape = {1, 8, 8};
constexpr SampleRange kTrain = {0, 24};

Network spiking_network() {
  Network network(vgg5({.input = kShape, .classes = 4, .steps = 5, .width = 0.1}), 2);
  testing::make_unlike_new(network);
  // Lively enough for every stage to fire.
  for (Statistic& statistic : network.statistics()) {
    const bool variance = statistic.name.ends_with("var");
    for (float& value : statistic.value) value *= variance ? 0.1F : 0.3F;
  }
  // One weight of every channel is far from the others: the largest value is a bad scale then.
  for (Parameter& parameter : network.parameters()) {
    if (parameter.group != ParameterGroup::weight) continue;
    const int64_t channels = parameter.pytorch_shape.front();
    for (int64_t c = 0; c < channels; ++c) parameter.value[c] *= 1.5F;
  }
  return network;
}

const EncoderSpec kPoisson{EncoderKind::poisson_unsigned, {}};

class QuantisedRun : public ::testing::Test {
 protected:
  Quantisation quantised(const QuantiseOptions& options = {.calibration_images = 20},
                         const EncoderSpec& encoder = kPoisson) const {
    return quantise(network_, encoder, images_, kTrain, options, "runs/a");
  }

  Network network_ = spiking_network();
  ImageSet images_ = testing::noisy_images(32, kShape);
};

TEST_F(QuantisedRun, ScalesOfLeastErrorAreNoWorseThanThoseOfTheLargestWeight) {
  const Quantisation least = quantised();
  double gained = 0.0;
  ASSERT_EQ(least.branches.size(), network_.stages().size());
  for (const QuantisedBranch& branch : least.branches) {
    EXPECT_TRUE(branch.int8) << branch.name;
    EXPECT_GT(branch.errors.of_largest, 0.0) << branch.name;
    EXPECT_LT(branch.errors.of_largest, 0.05) << branch.name;
    EXPECT_LE(branch.errors.of_chosen, branch.errors.of_largest) << branch.name;
    gained += branch.errors.of_largest - branch.errors.of_chosen;
  }
  EXPECT_GT(gained, 0.0) << "some channel has a better scale than that of its largest weight";
  const Quantisation largest = quantised({.scales = ScaleRule::max});
  EXPECT_EQ(largest.network.weight_scales(),
            scales_of_largest(network_, quantisable_branches(network_, true, "")));
  EXPECT_NE(least.network.weight_scales(), largest.network.weight_scales());
}

// The error that is reported is the one that the chosen weights make: recomputed for the first
// stage, whose input is the encoder's.
TEST_F(QuantisedRun, ErrorsAreThoseOfTheCurrents) {
  const Quantisation least = quantised();
  const auto batches = calibration_batches(images_, kTrain, 20, 1, 8);
  Network before = network_.copy();
  Network after = least.network.copy();
  double error = 0.0;
  double size = 0.0;
  for (const Batch& batch : batches) {
    const Signal input = encode(batch, 5, kPoisson, 1, 0);
    const Trace exact = before.forward(input, NormMode::running);
    const Trace rough = after.forward(input, NormMode::running);
    const Buffer<float>& x = exact.stages[0].branches[0].current;
    const Buffer<float>& q = rough.stages[0].branches[0].current;
    const std::vector<float>& scales = scales_of(after, 0);
    for (int64_t i = 0; i < x.size(); ++i) {
      const double away =
          x[i] - static_cast<double>(scales[static_cast<std::size_t>(i) % scales.size()]) * q[i];
      error += away * away;
      size += static_cast<double>(x[i]) * x[i];
    }
  }
  EXPECT_NEAR(least.branches.front().errors.of_chosen, std::sqrt(error / size),
              1e-6 + 1e-3 * std::sqrt(error / size));
}

TEST_F(QuantisedRun, ScalesDoNotDependOnThreads) {
  const Quantisation several = quantised();
  const int before = threads();
  set_threads(1);
  EXPECT_EQ(quantised().network.weight_scales(), several.network.weight_scales());
  set_threads(before);
}

TEST_F(QuantisedRun, ADirectInputKeepsTheFloatsOfItsSynapse) {
  const EncoderSpec direct{EncoderKind::direct, {{0.5F}, {0.25F}}};
  const Quantisation result = quantised({.calibration_images = 8}, direct);
  EXPECT_FALSE(result.branches[0].int8);
  EXPECT_TRUE(result.branches[1].int8);
  EXPECT_EQ(result.branches[0].errors.of_largest, 0.0);
}

TEST_F(QuantisedRun, ImagesMustBeThere) {
  EXPECT_THAT(refusal([&] { quantised({.calibration_images = 25}); }),
              HasSubstr("--calibration-images is 25, expected 1 to the 24 training images"));
}

TEST_F(QuantisedRun, CanBeStopped) {
  QuantiseOptions options{.calibration_images = 20};
  options.progress = [](const std::string&, int64_t, int64_t) { return true; };
  EXPECT_TRUE(quantised(options).stopped);
}

TEST_F(QuantisedRun, IsARunThatSaysHowItWasMade) {
  const testing::TemporaryDirectory directory;
  const QuantiseOptions options{.calibration_images = 20};
  const Quantisation quantisation = quantised(options);
  RunConfig config;
  config.data.name = "mnist";
  config.model = {.name = "vgg5", .steps = 5, .width = 0.1};
  config.encoder.kind = EncoderKind::poisson_unsigned;
  const RunConfig settings = quantised_settings(config, options, "runs/a");
  const RunPaths paths{directory.path() / "int8"};
  write_quantised_run(paths, settings, quantisation,
                      {.input = {.encoder = kPoisson},
                       .class_names = {"a", "b", "c", "d"},
                       .training = {.validation_accuracy = 90.0, .validation_images = 8}});

  EXPECT_EQ(read_run_settings(paths), settings);
  const Model model = Model::load(paths.directory);
  EXPECT_TRUE(model.network().quantised());
  EXPECT_EQ(model.class_name(1), "b");
  EXPECT_FALSE(model.card().training.validation_accuracy)
      << "what was measured with other weights is not said of these";
  EXPECT_THAT(method_of(settings).settings,
              HasSubstr("weights of runs/a as int8, scales by the least error on 20 training "
                        "images; vgg5"));
  Network fresh(network_.spec(), 1);
  EXPECT_THAT(refusal([&] { start_from(model.network(), "runs/a8", fresh); }),
              HasSubstr("runs/a8: its weights are int8"));
  EXPECT_LT(std::filesystem::file_size(paths.checkpoint()),
            format_tensors(pack_model(network_, model.card())).size());
}

}  // namespace
}  // namespace bntt
