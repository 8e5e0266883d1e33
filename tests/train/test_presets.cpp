#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "bntt/encoder.h"
#include "bntt/error.h"
#include "bntt/zoo.h"
#include "train/config.h"
#include "train/method_record.h"
#include "train/presets.h"

namespace bntt {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAreArray;

RunConfig preset(const std::string& name) {
  return config_from_toml(preset_text(name), name + ".toml");
}

TEST(Presets, AreTheFilesOfTheirDirectory) {
  std::vector<std::string> files;
  for (const auto& file : std::filesystem::directory_iterator(BNTT_PRESETS)) {
    if (file.is_regular_file()) files.push_back(file.path().stem().string());
  }
  EXPECT_GE(files.size(), 17U);
  EXPECT_THAT(preset_names(), UnorderedElementsAreArray(files));
}

// Two runs are told apart by what their preset says of itself.
TEST(Presets, BeginWithASentenceOfTheirOwn) {
  std::set<std::string> sentences;
  for (const std::string& name : preset_names()) {
    const std::string_view text = preset_text(name);
    EXPECT_TRUE(text.starts_with("# ")) << name;
    EXPECT_TRUE(sentences.emplace(text.substr(0, text.find('\n'))).second) << name;
  }
}

TEST(Presets, UnknownNamesAreRefusedWithTheNearest) {
  try {
    preset_text("paper-cifar-10");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("unknown preset 'paper-cifar-10'"));
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'paper-cifar10'?"));
  }
}

struct Shape {
  MapShape input;
  int64_t classes;
};

Shape shape_of(const std::string& data) {
  if (data == "fashion-mnist") return {{1, 28, 28}, 10};
  if (data == "cifar10") return {{3, 32, 32}, 10};
  if (data == "cifar100") return {{3, 32, 32}, 100};
  if (data == "tiny-imagenet") return {{3, 64, 64}, 200};
  if (data == "dvs-cifar10") return {{2, 42, 42}, 10};
  if (data == "nmnist") return {{2, 34, 34}, 10};
  if (data == "folder") return {{3, 32, 32}, 4};
  if (data == "event-folder") return {{2, 34, 34}, 4};
  return {{0, 0, 0}, 0};
}

TEST(Presets, EachParsesRoundTripsAndPlans) {
  for (const std::string& name : preset_names()) {
    const RunConfig config = preset(name);
    EXPECT_EQ(config_from_toml(to_toml(config), name), config);
    const Shape shape = shape_of(config.data.name);
    EXPECT_NO_THROW(network_of(config, shape.input, shape.classes)) << name;
  }
}

// The examples of a chain and of branches can be copied as they are.
TEST(NetworksPage, HasWholeSettingsFiles) {
  std::ifstream file(std::filesystem::path(BNTT_DOCS) / "networks.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  const std::string fence = "```";
  int examples = 0;
  for (std::size_t at = page.find(fence + "toml\n"); at != std::string::npos;
       at = page.find(fence + "toml\n", at + 1)) {
    const std::size_t begin = page.find('\n', at) + 1;
    const std::string text = page.substr(begin, page.find(fence, begin) - begin);
    const RunConfig config = config_from_toml(text, "networks.md");
    ASSERT_TRUE(config.network.has_value());
    const Shape shape = shape_of(config.data.name);
    EXPECT_NO_THROW(network_of(config, shape.input, shape.classes)) << text;
    ++examples;
  }
  EXPECT_EQ(examples, 2);
}

TEST(Presets, NameTheirMethodAndItsSource) {
  for (const std::string& name : preset_names()) {
    const RunConfig config = preset(name);
    const MethodRecord method = method_of(config);
    EXPECT_FALSE(method.name.empty()) << name;
    EXPECT_FALSE(method.source.empty()) << name;
    EXPECT_THAT(method.settings, HasSubstr(fmt::format("norm {}", config.model.norm))) << name;
    EXPECT_THAT(method.settings, Not(HasSubstr("instead of"))) << name;
    if (!config.method.name.empty()) {
      EXPECT_EQ(method.name, config.method.name);
    }
  }
}

// Settings that are changed may make another method of it, whatever the preset says.
TEST(Presets, AMethodIsWhatItsSettingsMakeIt) {
  RunConfig config = preset("authors-cifar10");
  EXPECT_EQ(method_of(config).name, "BNTT");
  apply_setting(config, "model.width=0.5");
  EXPECT_EQ(method_of(config).name, "BNTT");
  apply_setting(config, "model.norm=none");
  EXPECT_EQ(method_of(config).name, "surrogate gradient without norm");
  EXPECT_EQ(method_of(config).source, "");
  EXPECT_THAT(method_of(config).settings, HasSubstr("BNTT with norm none instead of bntt; vgg9"));
  config = preset("rathi-hybrid-2020-cifar10");
  apply_setting(config, "model.surrogate=triangle");
  EXPECT_THAT(method_of(config).settings, HasSubstr("surrogate triangle instead of stdb"));
}

TEST(Presets, AMethodHasItsDynamicsInputPoolsAndReadout) {
  const auto changed = [](const std::string& name, const std::string& setting) {
    RunConfig config = preset(name);
    const std::string published = method_of(config).name;
    apply_setting(config, setting);
    const MethodRecord method = method_of(config);
    EXPECT_NE(method.name, published) << setting;
    EXPECT_EQ(method.source, "") << setting;
    return method.settings;
  };
  EXPECT_THAT(changed("wu-cifar10", "model.reset=soft"),
              HasSubstr("STBP with reset soft instead of hard; cifarnet"));
  EXPECT_THAT(changed("wu-cifar10", "model.propagation=delayed"),
              HasSubstr("propagation delayed instead of instant"));
  EXPECT_THAT(changed("wu-cifar10", "encoder.kind=poisson-signed"),
              HasSubstr("encoder poisson-signed instead of direct"));
  EXPECT_THAT(changed("wu-cifar10", "model.readout_votes=1"),
              HasSubstr("readout mean voltages instead of mean voltages of 10 votes"));
  EXPECT_THAT(changed("wu-cifar10", "model.pool_threshold=0.75"),
              HasSubstr("pools average with neurons instead of average"));
  EXPECT_THAT(changed("plif-cifar10", "model.name=cifarnet"),
              HasSubstr("pools average instead of max"));
  // A reset without effect makes no other method of it.
  RunConfig lee = preset("lee-cifar10");
  apply_setting(lee, "model.reset=hard");
  EXPECT_EQ(method_of(lee).name, "spike-based backpropagation");
}

TEST(Presets, AMethodNamesItsWidthAndWhereItStarted) {
  RunConfig config = preset("rathi-hybrid-cifar10");
  apply_setting(config, "model.width=0.25");
  EXPECT_THAT(method_of(config).settings, HasSubstr("rathi-vgg16, width 0.25, 100 steps"));
  config.train.from = "/runs/converted";
  EXPECT_THAT(method_of(config).settings,
              HasSubstr(", started from /runs/converted with its thresholds"));
  config.train.from_thresholds = false;
  EXPECT_THAT(method_of(config).settings, ::testing::EndsWith(", started from /runs/converted"));
  config.model = {};
  config.network = vgg9({.steps = 4, .width = 0.25});
  const std::string narrow = method_of(config).settings;
  config.network = vgg9({.steps = 4, .width = 0.5});
  EXPECT_NE(method_of(config).settings, narrow);
  EXPECT_THAT(narrow, HasSubstr("a network of its own with "));
}

// Lee's input: a spike where a random number is below |x|, x = (pixel - mean)/0.557 for red.
TEST(Presets, OfLeeHasThePublishedRates) {
  for (const char* name : {"lee-cifar10", "no-norm-cifar10"}) {
    const RunConfig config = preset(name);
    ASSERT_EQ(config.encoder.kind, EncoderKind::poisson_signed);
    const EncoderSpec encoder{config.encoder.kind,
                              {config.data.mean.value(), config.data.deviation.value()}};
    Batch batch{.sample_ids = {1}, .labels = {0}, .shape = {3, 1, 1}, .images = Buffer<float>(3)};
    batch.images.fill(0.8F);
    constexpr int64_t kSteps = 20'000;
    const auto spikes = std::get<SpikeTrain>(encode(batch, kSteps, encoder, 1, 0));
    const std::vector<float> expected = {(0.8F - 0.4914F) / 0.557F, (0.8F - 0.4822F) / 0.549F,
                                         (0.8F - 0.4465F) / 0.5534F};
    for (int64_t c = 0; c < 3; ++c) {
      double rate = 0.0;
      for (int64_t step = 0; step < kSteps; ++step) rate += spikes.value(step, 0, 0, 0, c);
      EXPECT_NEAR(rate / kSteps, expected[static_cast<std::size_t>(c)], 0.02) << name << " " << c;
    }
  }
}

// A converted network must see what its ANN was trained with, and no rate of input spikes
// saturates.
TEST(Presets, OfAnnsAndHybridTrainingReadTheSameImages) {
  for (const char* name :
       {"ann-cifar10", "ann-bn-cifar10", "ann-cifar100", "rathi-ann-cifar10",
        "sengupta-ann-cifar10", "rathi-hybrid-cifar10", "rathi-hybrid-2020-cifar10"}) {
    EXPECT_THAT(preset(name).data.mean.value(), ::testing::Each(0.5F)) << name;
    EXPECT_THAT(preset(name).data.deviation.value(), ::testing::Each(0.25F)) << name;
  }
}

// conv: 0.3, or 0 before a pool; fully connected: 0.5.
TEST(Presets, OfHybridTrainingHaveThePublishedDropout) {
  std::vector<float> dropout;
  for (const StagePlan& plan :
       plan_stages(network_of(preset("rathi-hybrid-cifar10"), {3, 32, 32}, 10))) {
    if (!plan.readout) dropout.push_back(plan.neuron.dropout);
  }
  EXPECT_THAT(dropout, ::testing::ElementsAre(0.3F, 0.0F, 0.3F, 0.0F, 0.3F, 0.3F, 0.0F, 0.3F, 0.3F,
                                              0.0F, 0.3F, 0.3F, 0.3F, 0.5F, 0.5F));
}

// No published network drops its votes; PLIF's code drops before the first fully connected stage
// alone, the paper before both.
TEST(Presets, OfVotingNetworksHaveThePublishedDropout) {
  const auto dropout_of = [](RunConfig config) {
    std::vector<std::string> dropped;
    for (const StagePlan& plan : plan_stages(network_of(config, {3, 32, 32}, 10))) {
      if (plan.neuron.dropout > 0.0F) dropped.push_back(plan.name);
    }
    return dropped;
  };
  EXPECT_THAT(dropout_of(preset("wu-cifar10")),
              ::testing::ElementsAre("conv1", "conv2", "conv3", "conv4", "conv5", "fc1"));
  RunConfig plif = preset("plif-cifar10");
  EXPECT_THAT(dropout_of(plif), ::testing::ElementsAre("pool", "fc1"));
  apply_setting(plif, "model.dense_dropout=0");
  EXPECT_THAT(dropout_of(plif), ::testing::ElementsAre("pool"));
}

struct Row {
  const char* preset;
  const char* net;
  int64_t steps;
  int64_t epochs;
  int64_t batch;
  float leak;
  double weight_decay;
  EncoderKind encoder;
  Propagation propagation;
};

TEST(Presets, HoldTheValuesOfThePaperAndItsCode) {
  constexpr auto kDelayed = Propagation::delayed;
  constexpr auto kInstant = Propagation::instant;
  constexpr auto kUnsigned = EncoderKind::poisson_unsigned;
  constexpr auto kSigned = EncoderKind::poisson_signed;
  for (const Row& row : {
           Row{"paper-cifar10", "vgg9", 25, 120, 128, 0.95F, 5e-4, kUnsigned, kDelayed},
           Row{"paper-cifar100", "vgg11", 50, 240, 128, 0.99F, 5e-4, kUnsigned, kDelayed},
           Row{"paper-tiny-imagenet", "vgg11", 30, 90, 128, 0.99F, 5e-4, kUnsigned, kDelayed},
           Row{"paper-dvs-cifar10", "dvs-net", 20, 60, 64, 0.95F, 5e-4, EncoderKind::events,
               kDelayed},
           Row{"authors-cifar10", "vgg9", 25, 100, 256, 0.95F, 1e-4, kSigned, kInstant},
           Row{"authors-cifar100", "vgg11", 30, 100, 128, 0.99F, 1e-4, kSigned, kInstant},
       }) {
    const RunConfig config = preset(row.preset);
    EXPECT_EQ(config.model.name, row.net) << row.preset;
    EXPECT_EQ(config.model.steps, row.steps) << row.preset;
    EXPECT_EQ(config.train.epochs, row.epochs) << row.preset;
    EXPECT_EQ(config.train.batch, row.batch) << row.preset;
    EXPECT_EQ(config.model.leak, row.leak) << row.preset;
    EXPECT_EQ(config.train.weight_decay, row.weight_decay) << row.preset;
    EXPECT_EQ(config.encoder.kind, row.encoder) << row.preset;
    EXPECT_EQ(config.model.propagation, row.propagation) << row.preset;
    EXPECT_EQ(config.model.width, 1.0) << row.preset;
    EXPECT_EQ(config.train.learning_rate, 0.3) << row.preset;
  }
  EXPECT_EQ(preset("authors-cifar100").data.normalisation, "cifar10");
}

}  // namespace
}  // namespace bntt
