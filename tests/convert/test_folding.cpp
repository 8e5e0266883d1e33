#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "bntt/norm.h"
#include "convert/folding.h"
#include "data/loader.h"
#include "fixtures.h"
#include "small_anns.h"

namespace bntt {
namespace {

using ::testing::AllOf;
using testing::fill_random;
using ::testing::HasSubstr;
using testing::kNoNorm;
using testing::kRelu;
using testing::logits_of;
using testing::make_unlike_new;
using testing::parameter_of;
using testing::refusal;

const EncoderSpec kDirect{.kind = EncoderKind::direct, .normalisation = {{0.5F}, {0.25F}}};

/// Every kind of stage that a chain may have.
NetworkSpec every_stage(const NormSpec& norm) {
  return {.input = {1, 12, 12},
          .steps = 1,
          .stages = {Conv3x3{.channels = 6, .norm = norm, .neuron = kRelu}, AvgPool{2},
                     Conv{.channels = 5,
                          .kernel = 5,
                          .stride = 2,
                          .padding = 2,
                          .bias = true,
                          .norm = norm,
                          .neuron = kRelu},
                     BranchedStage{.name = "own",
                                   .branches = {{.synapse = {.outputs = 4}, .norm = norm}},
                                   .neuron = kRelu},
                     SumPool{2}, Dense{.features = 9, .norm = norm, .neuron = kRelu, .bias = true},
                     Readout{.classes = 4, .norm = norm, .bias = true}}};
}

Batch some_images() {
  static const ImageSet images = testing::noisy_images(6, {1, 12, 12});
  return EvalLoader(images, 6).batch(0);
}

void expect_near(const Buffer<float>& a, const Buffer<float>& b, float tolerance) {
  ASSERT_EQ(a.size(), b.size());
  float largest = 0.0F;
  for (const float value : a) largest = std::max(largest, std::abs(value));
  ASSERT_GT(largest, 0.0F);
  for (int64_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], tolerance * largest) << i;
}

class FoldedNorms : public ::testing::TestWithParam<std::tuple<std::string, bool>> {};

TEST_P(FoldedNorms, AnswerLikeTheAnn) {
  const auto& [kind, shift] = GetParam();
  Network ann(every_stage({.kind = kind, .shift = shift && kind != "none"}), 4);
  make_unlike_new(ann);
  expect_convertible(ann, "run");
  const Network folded = without_norms(ann);
  for (const StagePlan& plan : folded.stages()) {
    EXPECT_EQ(plan.branches.front().norm.kind, "none") << plan.name;
  }
  expect_near(logits_of(ann, some_images(), kDirect), logits_of(folded, some_images(), kDirect),
              1e-5F);
}

std::vector<std::string> foldable_norms() {
  std::vector<std::string> names;
  for (const NormEntry& entry : norm_table()) {
    if (!make_norm({.kind = entry.name}, {})->per_image()) names.push_back(entry.name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Folding, FoldedNorms,
                         ::testing::Combine(::testing::ValuesIn(foldable_norms()),
                                            ::testing::Bool()));

TEST(Folding, OfOneChannelIsThatOnPaper) {
  Network ann({.input = {1, 1, 1},
               .steps = 1,
               .stages = {Dense{.features = 1,
                                .norm = {.kind = "bn", .epsilon = 0.25F, .shift = true},
                                .neuron = kRelu,
                                .bias = true},
                          Readout{.classes = 4}}},
              1);
  parameter_of(ann, "fc1.weight").value[0] = 3.0F;
  parameter_of(ann, "fc1.bias").value[0] = 1.0F;
  parameter_of(ann, "fc1.norm.weight").value[0] = 4.0F;
  parameter_of(ann, "fc1.norm.bias").value[0] = 0.5F;
  ann.statistics()[0].value[0] = 2.0F;   // μ
  ann.statistics()[1].value[0] = 3.75F;  // σ², whose root with ε is 2
  Network folded = without_norms(ann);
  EXPECT_FLOAT_EQ(parameter_of(folded, "fc1.weight").value[0], 6.0F);
  EXPECT_FLOAT_EQ(parameter_of(folded, "fc1.bias").value[0], 0.5F + (1.0F - 2.0F) * 2.0F);
}

TEST(Folding, LeavesNoBiasWhereThereIsNone) {
  const Network ann(vgg5({.input = {1, 8, 8},
                          .steps = 1,
                          .width = 0.1,
                          .norm = kNoNorm,
                          .neuron = {.kind = "relu", .dropout = 0.5F}}),
                    1);
  const Network folded = without_norms(ann);
  for (const StagePlan& plan : folded.stages()) {
    EXPECT_FALSE(plan.branches.front().bias) << plan.name;
    EXPECT_EQ(plan.neuron.dropout, 0.0F) << plan.name;
  }
}

TEST(Folding, AnAnnWithoutBiasIsAsLargeAsItsInput) {
  const Network ann(vgg5({.input = {1, 12, 12},
                          .classes = 4,
                          .steps = 1,
                          .width = 0.1,
                          .norm = kNoNorm,
                          .neuron = kRelu}),
                    1);
  EncoderSpec twice = kDirect;
  twice.normalisation.deviation[0] *= 0.5F;
  Buffer<float> doubled = logits_of(ann, some_images(), kDirect);
  for (float& logit : doubled) logit *= 2.0F;
  expect_near(doubled, logits_of(ann, some_images(), twice), 1e-6F);
}

// Scaling a stage's weights and undoing it in the next one changes no logit.
TEST(Folding, AnAnnWithoutBiasKnowsNoScaleOfItsStages) {
  Network ann(vgg5({.input = {1, 12, 12},
                    .classes = 4,
                    .steps = 1,
                    .width = 0.1,
                    .norm = kNoNorm,
                    .neuron = kRelu}),
              1);
  const Buffer<float> before = logits_of(ann, some_images(), kDirect);
  for (float& weight : parameter_of(ann, "conv2.weight").value) weight *= 3.0F;
  for (float& weight : parameter_of(ann, "conv3.weight").value) weight /= 3.0F;
  expect_near(before, logits_of(ann, some_images(), kDirect), 1e-5F);
}

TEST(Folding, StagesThatNoRuleCoversAreNamed) {
  const auto told = [](const NetworkSpec& spec) {
    return refusal([&] { expect_convertible(Network(spec, 1), "runs/x"); });
  };
  ZooOptions small{
      .input = {1, 16, 16}, .steps = 1, .width = 0.1, .norm = kNoNorm, .neuron = kRelu};
  ZooOptions spiking = small;
  spiking.steps = 3;
  spiking.neuron.kind = "lif";
  EXPECT_EQ(told(vgg5(spiking)),
            "runs/x: cannot be converted: conv1 has lif neurons, but only an ANN of relu neurons "
            "can be converted");
  ZooOptions layered = small;
  layered.norm.kind = "layer";
  EXPECT_THAT(told(vgg5(layered)),
              AllOf(HasSubstr("conv1 has the norm 'layer'"), HasSubstr("cannot be folded")));
  EXPECT_THAT(told(resnet20(small)), HasSubstr("block1 has 2 branches"));
  EXPECT_THAT(told(ms_resnet18(small)), HasSubstr("stem has no neurons"));
  NetworkSpec pooled = vgg5(small);
  std::ranges::replace_if(
      pooled.stages, [](const StageSpec& stage) { return std::holds_alternative<AvgPool>(stage); },
      StageSpec(MaxPool{2}));
  EXPECT_THAT(told(pooled), HasSubstr("conv2 reads a max pool"));
}

}  // namespace
}  // namespace bntt
