#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bntt/model.h"
#include "convert/converted_run.h"
#include "fixtures.h"
#include "small_anns.h"
#include "train/method_record.h"
#include "train/run_settings.h"

namespace bntt {
namespace {

using ::testing::HasSubstr;

TEST(ConvertedRun, SaysWhatItIsAndHowItCameToBe) {
  const testing::TemporaryDirectory directory;
  const ImageSet images = testing::noisy_images(20, {1, 8, 8});
  const Network ann(vgg5({.input = {1, 8, 8},
                          .classes = 4,
                          .steps = 1,
                          .width = 0.1,
                          .norm = testing::kNoNorm,
                          .neuron = testing::kRelu}),
                    2);
  const EncoderSpec encoder{EncoderKind::direct, {{0.5F}, {0.25F}}};
  ConversionOptions options{.method = "spike-norm",
                            .steps = 40,
                            .calibration_steps = 30,
                            .calibration_images = 8,
                            .threshold_scale = 0.5};
  const Conversion conversion =
      convert(ann, encoder, {images, {0, 16}, {16, 20}}, options, "runs/ann");
  RunConfig config;
  config.data.name = "mnist";
  config.data.mean = {0.5F};
  config.data.deviation = {0.25F};
  config.model = {.name = "vgg5", .steps = 1, .width = 0.1, .norm = "none", .neuron = "relu"};
  config.encoder.kind = EncoderKind::direct;
  const RunConfig settings = converted_settings(config, conversion, options, "runs/ann");
  const RunPaths paths{directory.path() / "converted"};
  write_converted_run(paths, settings, conversion,
                      {.input = {.encoder = encoder}, .class_names = {"a", "b", "c", "d"}});

  const RunConfig read = read_run_settings(paths);
  EXPECT_EQ(read, settings);
  const Model model = Model::load(paths.directory);
  EXPECT_EQ(model.network().spec(), conversion.network.spec());
  EXPECT_EQ(model.card().input.encoder.kind, EncoderKind::poisson_signed);
  EXPECT_EQ(model.class_name(2), "c");
  expect_network_of(paths, read, model.network().spec());

  const MethodRecord method = method_of(read);
  EXPECT_EQ(method.name, "spike-norm");
  EXPECT_THAT(method.source, HasSubstr("Sengupta"));
  EXPECT_THAT(method.settings,
              HasSubstr("converted from runs/ann, hard reset, percentile 100 of 8 images over 30 "
                        "steps, thresholds times 0.5; a network of its own with "));
  EXPECT_THAT(method.settings,
              HasSubstr(" weights, 40 steps, norm none, "
                        "if neurons, hard reset, instant propagation, encoder poisson-signed"));
  EXPECT_THAT(testing::refusal([&] {
                write_converted_run(paths, settings, conversion, {.input = {.encoder = encoder}});
              }),
              HasSubstr("already holds a run"));
}

}  // namespace
}  // namespace bntt
