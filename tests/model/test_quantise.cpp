#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/random.h"
#include "base/threads.h"
#include "bntt/error.h"
#include "bntt/zoo.h"
#include "model/model_file.h"
#include "model/quantise.h"

namespace bntt {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::SizeIs;

template <typename Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

constexpr int64_t kBatch = 3;

/// Gains, shifts and statistics that make all stages fire, and are of no round size.
void make_lively(Network& network) {
  uint32_t which = 0;
  const auto fill = [&](Buffer<float>& values, float low, float high) {
    ++which;
    for (int64_t i = 0; i < values.size(); ++i) {
      const auto bits =
          draw4(3, Purpose::weights, {.sample = which, .block = static_cast<uint32_t>(i)});
      values[i] = low + (high - low) * uniform01(bits[0]);
    }
  };
  for (Parameter& parameter : network.parameters()) {
    if (parameter.group == ParameterGroup::gain) fill(parameter.value, 0.8F, 1.6F);
    if (parameter.group == ParameterGroup::bias) fill(parameter.value, -0.1F, 0.1F);
  }
  for (Statistic& statistic : network.statistics()) {
    const bool variance = statistic.name.ends_with("var");
    fill(statistic.value, variance ? 0.05F : -0.2F, variance ? 0.2F : 0.1F);
  }
}

Network lively(const NetworkSpec& spec) {
  Network network(spec, 4);
  make_lively(network);
  return network;
}

Signal spikes_for(const Network& network, const std::vector<float>& plane_weights = {1.0F, -1.0F}) {
  SpikeTrain spikes(active_steps(network.spec()), kBatch, network.spec().input, plane_weights);
  const int64_t channels = network.spec().input.channels;
  for (int64_t i = 0; i < spikes.words().size(); ++i) {
    const auto bits = draw4(9, Purpose::encoding, {.block = static_cast<uint32_t>(i)});
    spikes.words()[i] = bits[0] & bits[1] & ((SpikeWord{1} << channels) - 1);
  }
  return spikes;
}

Buffer<float> logits(const Network& network, const Signal& input) {
  ChainState state = network.start(signal_batch(input));
  network.advance(input, state);
  return network.logits(state);
}

Network int8_of(const Network& network, bool input_spikes = true) {
  return quantise(network,
                  scales_of_largest(network, quantisable_branches(network, input_spikes, "run")));
}

const ZooOptions kSmall{.input = {2, 8, 8}, .classes = 3, .steps = 6, .width = 0.125};

NetworkSpec with_layer_norm() {
  ZooOptions options = kSmall;
  options.norm.kind = "layer";
  return vgg5(options);
}

std::vector<NetworkSpec> networks() {
  ZooOptions large = kSmall;
  large.input = {2, 32, 32};
  large.steps = 3;
  large.width = 0.05;
  return {vgg5(kSmall),    with_layer_norm(),   cifarnet(large),
          resnet19(large), sew_resnet18(large), ms_resnet18(large)};
}

TEST(Quantise, RoundsEveryWeightToTheNearestStepOfItsChannel) {
  const Network network = lively(vgg5(kSmall));
  const Network int8 = int8_of(network);
  EXPECT_TRUE(int8.quantised());
  EXPECT_FALSE(network.quantised());
  for (std::size_t i = 0; i < network.stages().size(); ++i) {
    const BranchPlan& branch = network.stages()[i].branches.front();
    const Parameter& before = *weights_of(network, branch);
    const Parameter& after = *weights_of(int8, branch);
    const std::vector<float>& scales = scales_of(int8, i);
    ASSERT_EQ(std::ssize(scales), branch.output.channels);
    std::vector<float> largest(scales.size(), 0.0F);
    for (int64_t k = 0; k < before.value.size(); ++k) {
      const std::size_t c = static_cast<std::size_t>(k) % scales.size();
      EXPECT_LE(std::abs(before.value[k] - after.value[k]), 0.5001F * scales[c]);
      largest[c] = std::max(largest[c], std::abs(after.value[k] / scales[c]));
    }
    EXPECT_THAT(largest, Each(::testing::FloatNear(127.0F, 1e-3F)));
  }
}

// The sums of integers and the sums of the same floats differ by rounding alone, in every kind of
// network: chains, biases, norms per image, spikes of several stages added up, running currents.
TEST(Quantise, IntegersGiveWhatTheSameWeightsGiveAsFloats) {
  for (const NetworkSpec& spec : networks()) {
    SCOPED_TRACE(to_json(spec).substr(0, 200));
    const Network int8 = int8_of(lively(spec));
    const Signal input = spikes_for(int8);
    Network floats = with_float_weights(int8);
    EXPECT_FALSE(floats.quantised());
    Network watched = int8.copy();
    const Trace ours = watched.forward(input, NormMode::running);
    const Trace theirs = floats.forward(input, NormMode::running);
    int64_t spikes = 0;
    int64_t different = 0;
    for (std::size_t i = 0; i < ours.stages.size(); ++i) {
      const auto* own = std::get_if<SpikeTrain>(&ours.stages[i].output);
      if (own == nullptr) continue;
      const auto& other = std::get<SpikeTrain>(theirs.stages[i].output);
      for (int64_t w = 0; w < own->words().size(); ++w) {
        spikes += std::popcount(own->words()[w]);
        different += std::popcount(own->words()[w] ^ other.words()[w]);
      }
    }
    EXPECT_GT(spikes, 100);
    EXPECT_LE(different * 200, spikes) << different << " of " << spikes;
  }
}

TEST(Quantise, TraceAndInferenceHaveTheSameBits) {
  for (const NetworkSpec& spec : networks()) {
    SCOPED_TRACE(to_json(spec).substr(0, 200));
    Network int8 = int8_of(lively(spec));
    const Signal input = spikes_for(int8);
    const Trace trace = int8.forward(input, NormMode::running);
    EXPECT_TRUE(std::ranges::equal(trace.logits, logits(int8, input)));
  }
}

TEST(Quantise, BitsDoNotDependOnTheBatchTheThreadsOrTheWindows) {
  const Network int8 = int8_of(lively(vgg5(kSmall)));
  const Signal input = spikes_for(int8);
  const Buffer<float> together = logits(int8, input);
  for (int64_t image = 0; image < kBatch; ++image) {
    const std::vector<int64_t> one = {image};
    const Buffer<float> alone = logits(int8, keep_images(input, one));
    EXPECT_TRUE(std::equal(alone.begin(), alone.end(), together.data() + image * alone.size()));
  }
  const int before = threads();
  set_threads(1);
  EXPECT_TRUE(std::ranges::equal(logits(int8, input), together));
  set_threads(before);
  ChainState state = int8.start(kBatch);
  for (int64_t step = 0; step < signal_steps(input); ++step) {
    int8.advance(slice_steps(input, step, 1), state);
  }
  EXPECT_TRUE(std::ranges::equal(int8.logits(state), together));
}

// Scales of powers of two: nothing is rounded anywhere, so that floats give the same bits.
TEST(Quantise, PowersOfTwoAsScalesGiveTheBitsOfFloats) {
  const Network network = lively(vgg5(kSmall));
  WeightScales scales = scales_of_largest(network, quantisable_branches(network, true, "run"));
  for (auto& of_branch : scales) {
    for (float& scale : of_branch) scale = std::exp2(std::ceil(std::log2(scale)));
  }
  const Network int8 = quantise(network, scales);
  for (const std::vector<float>& planes :
       {std::vector{1.0F}, std::vector{1.0F, -1.0F}, std::vector{1.0F, 2.0F, 4.0F}}) {
    const Signal input = spikes_for(int8, planes);
    EXPECT_TRUE(std::ranges::equal(logits(int8, input), logits(with_float_weights(int8), input)));
  }
}

TEST(Quantise, WhatReadsRealValuesKeepsItsFloats) {
  const Network network = lively(vgg5(kSmall));
  const Network int8 = int8_of(network, false);
  EXPECT_THAT(int8.weight_scales(), SizeIs(network.stages().size()));
  EXPECT_THAT(scales_of(int8, 0), SizeIs(0));
  EXPECT_THAT(scales_of(int8, 1), SizeIs(network.stages()[1].output.channels));
  EXPECT_TRUE(
      std::ranges::equal(int8.parameters().front().value, network.parameters().front().value));
  EXPECT_FALSE(adds_integers(int8, 0));
  EXPECT_TRUE(adds_integers(int8, 1));
  // In a network with a running current, those that read the current.
  ZooOptions large = kSmall;
  large.input = {2, 32, 32};
  large.width = 0.05;
  const Network residual(ms_resnet18(large), 1);
  const std::vector<bool> branches = quantisable_branches(residual, false, "run");
  EXPECT_TRUE(std::ranges::any_of(branches, [](bool b) { return b; }));
  std::size_t next = 0;
  for (const StagePlan& stage : residual.stages()) {
    for (const BranchPlan& branch : stage.branches) {
      const bool wanted = branches[next++];
      const bool spikes = branch.sources.front() != BranchPlan::kInput &&
                          residual.stages()[branch.sources.front()].spikes();
      EXPECT_EQ(wanted, spikes && branch.weights > 0) << branch.name;
    }
  }
}

TEST(Quantise, RefusesWhatHasNoIntegersAndSaysWhy) {
  ZooOptions ann = kSmall;
  ann.steps = 1;
  ann.neuron.kind = "relu";
  const auto message = [](const Network& network, bool input_spikes = true) {
    return refusal([&] { quantisable_branches(network, input_spikes, "runs/a"); });
  };
  EXPECT_THAT(message(Network(vgg5(ann), 1)),
              AllOf(HasSubstr("runs/a: cannot be quantised"), HasSubstr("stage conv1 has ReLU")));
  EXPECT_THAT(message(int8_of(lively(vgg5(kSmall)))), HasSubstr("int8 already"));
  Network broken = lively(vgg5(kSmall));
  broken.parameters().front().value[3] = std::nanf("");
  EXPECT_THAT(message(broken), HasSubstr("conv1 has a weight that is not a finite number"));
  const Network readout({.input = {2, 4, 4}, .steps = 2, .stages = {Readout{.classes = 2}}}, 1);
  EXPECT_THAT(message(readout, false), HasSubstr("no stage has weights and reads spikes"));
}

TEST(Quantise, AQuantisedNetworkIsNotTrained) {
  Network int8 = int8_of(lively(vgg5(kSmall)));
  const Signal input = spikes_for(int8);
  EXPECT_THAT(refusal([&] { int8.forward(input, NormMode::batch); }), HasSubstr("int8"));
  Trace trace = int8.forward(input, NormMode::running);
  const Buffer<float> gradient = Buffer<float>::zeros(trace.logits.size());
  EXPECT_THAT(refusal([&] { int8.backward(std::move(trace), gradient); }),
              HasSubstr("no gradients"));
}

TEST(Quantise, ScalesMustFitTheWeights) {
  Network int8 = int8_of(lively(vgg5(kSmall)));
  const auto with = [&](const auto& change) {
    return refusal([&] {
      WeightScales scales = int8.weight_scales();
      change(scales);
      int8.set_weight_scales(scales);
    });
  };
  EXPECT_THAT(with([](WeightScales& s) { s.pop_back(); }), HasSubstr("branches"));
  EXPECT_THAT(with([](WeightScales& s) { s[1].pop_back(); }), HasSubstr("conv2"));
  EXPECT_THAT(with([](WeightScales& s) { s[1][0] = 0.0F; }), HasSubstr("conv2"));
  EXPECT_THAT(with([](WeightScales& s) { s[1][0] = -s[1][0]; }), HasSubstr("conv2"));
  EXPECT_THAT(with([](WeightScales& s) { s[1][0] = INFINITY; }), HasSubstr("conv2"));
  EXPECT_THAT(with([](WeightScales& s) { s[1][0] *= 1.1F; }), HasSubstr("times an integer"));
  EXPECT_TRUE(int8.quantised()) << "nothing was changed";
  // Weights that were changed afterwards are found when they are first needed.
  int8.parameters().front().value[0] += 1e-3F;
  EXPECT_THAT(refusal([&] { logits(int8, spikes_for(int8)); }), HasSubstr("times an integer"));
}

class QuantisedFile : public ::testing::Test {
 protected:
  QuantisedFile() : int8_(int8_of(lively(vgg5(kSmall)), false)), file_(pack_model(int8_, {})) {}

  std::string refused(const std::function<void(TensorFile&)>& damage) const {
    TensorFile damaged = file_;
    damage(damaged);
    return refusal([&] { network_in(damaged, "file"); });
  }
  static Tensor& tensor(TensorFile& file, const std::string& name) {
    return *std::ranges::find(file.tensors, name, &Tensor::name);
  }

  Network int8_;
  TensorFile file_;
};

TEST_F(QuantisedFile, HoldsBytesAndScalesAndComesBackTheSame) {
  const Tensor* weights = file_.find("conv2.weight");
  ASSERT_NE(weights, nullptr);
  EXPECT_EQ(weights->type, TensorType::i8);
  const Tensor* first = file_.find("conv1.weight");
  EXPECT_EQ(first->type, TensorType::f32);
  EXPECT_EQ(file_.find("conv1.weight_scale"), nullptr);
  ASSERT_NE(file_.find("conv2.weight_scale"), nullptr);
  EXPECT_THAT(file_.find("conv2.weight_scale")->floats(),
              ::testing::ElementsAreArray(scales_of(int8_, 1)));

  const std::vector<uint8_t> bytes = format_tensors(file_);
  const Network back = network_in(parse_tensors(bytes, "file"), "file");
  EXPECT_EQ(back.weight_scales(), int8_.weight_scales());
  EXPECT_EQ(format_tensors(pack_model(back, {})), bytes);
  const Signal input = spikes_for(int8_);
  EXPECT_TRUE(std::ranges::equal(logits(back, input), logits(int8_, input)));
}

TEST_F(QuantisedFile, IsUntrusted) {
  EXPECT_THAT(refused([](TensorFile& f) {
                std::erase_if(f.tensors,
                              [](const Tensor& t) { return t.name == "conv2.weight_scale"; });
              }),
              HasSubstr("expected a tensor 'conv2.weight_scale'"));
  EXPECT_THAT(refused([](TensorFile& f) { tensor(f, "conv2.weight").bytes[5] = 0x80; }),
              HasSubstr("holds -128"));
  const auto with_scale = [&](float scale) {
    return refused([&](TensorFile& f) {
      std::vector<float> scales = scales_of(int8_, 1);
      scales.back() = scale;
      tensor(f, "conv2.weight_scale") =
          float_tensor("conv2.weight_scale", {std::ssize(scales)}, scales);
    });
  };
  for (const float bad : {0.0F, -0.01F, INFINITY, std::nanf(""), 1e-40F, 3e38F}) {
    EXPECT_THAT(with_scale(bad), HasSubstr("expected a positive number")) << bad;
  }
  EXPECT_THAT(refused([](TensorFile& f) {
                Tensor& scale = tensor(f, "conv2.weight_scale");
                scale.shape = {scale.shape.front(), 1};
              }),
              HasSubstr("conv2.weight_scale"));
  EXPECT_THAT(refused([](TensorFile& f) {
                Tensor& weights = tensor(f, "conv2.weight");
                std::swap(weights.shape[0], weights.shape[1]);
                weights.shape.push_back(1);
              }),
              HasSubstr("conv2.weight"));
  EXPECT_THAT(refused([](TensorFile& f) {
                Tensor& gains = tensor(f, "conv2.norm.weight");
                const std::vector<int8_t> ones(gains.bytes.size() / 4, 1);
                gains = small_integer_tensor(gains.name, gains.shape, ones);
              }),
              AllOf(HasSubstr("conv2.norm.weight"), HasSubstr("expected float32")));
  EXPECT_THAT(refused([](TensorFile& f) { tensor(f, "conv2.weight").type = TensorType::u8; }),
              HasSubstr("conv2.weight"));
}

}  // namespace
}  // namespace bntt
