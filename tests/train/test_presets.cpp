#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "bntt/error.h"
#include "train/config.h"
#include "train/presets.h"

namespace bntt {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAreArray;

RunConfig preset(const std::string& name) {
  return config_from_toml(preset_text(name), name + ".toml");
}

TEST(Presets, AreTheFilesOfTheirDirectory) {
  std::vector<std::string> files;
  for (const auto& file : std::filesystem::directory_iterator(BNTT_PRESETS)) {
    files.push_back(file.path().stem().string());
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

TEST(Presets, OfPublishedMethodsNameThem) {
  for (const std::string& name : preset_names()) {
    for (const char* family : {"paper-", "authors-", "ann-", "rathi-", "no-norm-"}) {
      if (!name.starts_with(family)) continue;
      EXPECT_FALSE(preset(name).method.name.empty()) << name;
      EXPECT_FALSE(preset(name).method.source.empty()) << name;
    }
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
