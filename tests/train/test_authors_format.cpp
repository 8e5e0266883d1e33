#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures.h"
#include "small_networks.h"
#include "train/authors_format.h"

namespace bntt {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::make_unlike_new;
using testing::refusal;
using testing::same_numbers;

Network tiny_vgg9(uint64_t seed, ZooOptions options = {}) {
  options.input = {3, 8, 8};
  options.steps = 2;
  options.width = 1.0 / 64;
  return {vgg9(options), seed};
}

TEST(AuthorsFormat, HasTheNamesAndShapesOfTheirModel) {
  const TensorFile file = to_authors_format(tiny_vgg9(1));
  const auto shape = [&](const std::string& name) {
    const Tensor* tensor = file.find(name);
    EXPECT_NE(tensor, nullptr) << name;
    return tensor == nullptr ? std::vector<int64_t>{-1} : tensor->shape;
  };
  const std::vector<int64_t> channels = {1, 1, 2, 2, 4, 4, 4};
  int64_t inputs = 3;
  for (std::size_t i = 0; i < channels.size(); ++i) {
    const std::string number = std::to_string(i + 1);
    EXPECT_THAT(shape("conv" + number + ".weight"), ElementsAre(channels[i], inputs, 3, 3));
    for (const char* step : {"0", "1"}) {
      const std::string norm = "bntt" + number + "." + step;
      EXPECT_THAT(shape(norm + ".weight"), ElementsAre(channels[i]));
      EXPECT_THAT(shape(norm + ".running_mean"), ElementsAre(channels[i]));
      EXPECT_THAT(shape(norm + ".running_var"), ElementsAre(channels[i]));
      EXPECT_THAT(shape(norm + ".num_batches_tracked"), ElementsAre());
    }
    inputs = channels[i];
  }
  EXPECT_THAT(shape("fc1.weight"), ElementsAre(16, 4));
  EXPECT_THAT(shape("bntt_fc.1.running_var"), ElementsAre(16));
  EXPECT_THAT(shape("fc2.weight"), ElementsAre(10, 16));
  EXPECT_EQ(file.tensors.size(), 7 + 2 + 8 * 2 * 4);
}

TEST(AuthorsFormat, WeightsHavePytorchsAxes) {
  Network network = tiny_vgg9(1);
  const TensorFile file = to_authors_format(network);
  // Ours is [ky, kx, in, out]; theirs [out, in, ky, kx].
  const auto theirs = file.find("conv3.weight")->floats();
  const auto conv3 = std::find_if(network.parameters().begin(), network.parameters().end(),
                                  [](const Parameter& p) { return p.name == "conv3.weight"; });
  ASSERT_NE(conv3, network.parameters().end());
  for (int64_t tap = 0; tap < 9; ++tap) {
    for (int64_t out = 0; out < 2; ++out) {
      EXPECT_EQ(theirs[static_cast<std::size_t>(out * 9 + tap)], conv3->value[tap * 2 + out]);
    }
  }
}

TEST(AuthorsFormat, RoundTrips) {
  Network network = tiny_vgg9(1);
  make_unlike_new(network);
  const std::vector<uint8_t> bytes =
      format_tensors(to_authors_format(network), {.checksum = false});
  const TensorFile file = parse_tensors(bytes, "export");
  Network back = tiny_vgg9(2);
  from_authors_format(file, "export", back);
  EXPECT_TRUE(same_numbers(back, network));
  const AuthorsModelShape shape = authors_model_shape(file, "export");
  EXPECT_EQ(shape.input_channels, 3);
  EXPECT_EQ(shape.first_channels, 1);
  EXPECT_EQ(shape.classes, 10);
  EXPECT_EQ(shape.steps, 2);
  EXPECT_EQ(shape.hidden_inputs, 4);
}

// Searching all tensors once per step would take minutes.
TEST(AuthorsFormat, CountsTheStepsOfAFileWithManyTensors) {
  constexpr int64_t kSteps = 200'000;
  const std::vector<float> one = {1.0F};
  TensorFile file;
  file.tensors.push_back(float_tensor("conv1.weight", {1, 1, 1, 1}, one));
  file.tensors.push_back(float_tensor("fc1.weight", {1, 1}, one));
  for (int64_t step = kSteps - 1; step >= 0; --step) {
    file.tensors.push_back(float_tensor(fmt::format("bntt1.{}.weight", step), {1}, one));
  }
  EXPECT_EQ(authors_model_shape(file, "long").steps, kSteps);
}

TEST(AuthorsFormat, RefusesWhatTheirModelsCannotExpress) {
  for (const std::string kind : {"none", "bn", "bn-time", "layer"}) {
    const Network network = tiny_vgg9(1, {.norm = {.kind = kind}});
    EXPECT_THAT(refusal([&] { to_authors_format(network); }),
                ::testing::AllOf(HasSubstr("conv1"), HasSubstr("BNTT")));
  }
  const Network normed = tiny_vgg9(1, {.readout_norm = {.kind = "bntt"}});
  EXPECT_THAT(refusal([&] { to_authors_format(normed); }), HasSubstr("fc2"));
  const Network relu(
      vgg9({.input = {3, 8, 8}, .steps = 1, .width = 1.0 / 64, .neuron = {.kind = "relu"}}), 1);
  EXPECT_THAT(refusal([&] { to_authors_format(relu); }), HasSubstr("'relu'"));
}

TEST(AuthorsFormat, RefusesMissingSuperfluousAndMisshapenTensors) {
  const TensorFile whole = to_authors_format(tiny_vgg9(1));
  Network network = tiny_vgg9(1);
  const auto refused = [&](const TensorFile& file) {
    return refusal([&] { from_authors_format(file, "f", network); });
  };
  for (const char* name : {"conv1.weight", "bntt3.1.weight", "bntt_fc.0.running_var"}) {
    TensorFile file = whole;
    std::erase_if(file.tensors, [&](const Tensor& tensor) { return tensor.name == name; });
    EXPECT_EQ(refused(file), "f: expected a tensor '" + std::string(name) + "', found none");
  }
  TensorFile more = whole;
  more.tensors.push_back(float_tensor("bntt1.2.weight", {1}, std::vector<float>{1.0F}));
  EXPECT_THAT(refused(more), HasSubstr("'bntt1.2.weight' that this network does not have"));

  TensorFile turned = whole;
  for (Tensor& tensor : turned.tensors) {
    if (tensor.name == "fc2.weight") tensor.shape = {16, 10};
  }
  EXPECT_EQ(refused(turned), "f: tensor 'fc2.weight' has shape [16, 10], expected [10, 16]");

  TensorFile whole_numbers = whole;
  for (Tensor& tensor : whole_numbers.tensors) {
    if (tensor.name == "fc2.weight") tensor.type = TensorType::i32;
  }
  EXPECT_THAT(refused(whole_numbers), ::testing::StartsWith("f: "));
}

TEST(AuthorsFormat, DoesWithoutPytorchsBatchCounters) {
  TensorFile file = to_authors_format(tiny_vgg9(1));
  std::erase_if(file.tensors,
                [](const Tensor& tensor) { return tensor.name.ends_with("num_batches_tracked"); });
  Network network = tiny_vgg9(2);
  EXPECT_NO_THROW(from_authors_format(file, "f", network));
}

TEST(AuthorsFormat, AnotherModelsFileHasNoShape) {
  EXPECT_THAT(refusal([] { authors_model_shape({}, "f"); }), HasSubstr("conv1.weight"));
}

}  // namespace
}  // namespace bntt
