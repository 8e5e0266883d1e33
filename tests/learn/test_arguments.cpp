// A wrong argument of a public function is an Error, never undefined behaviour. One test for each
// header of include/bntt; training's are in test_training_arguments.cpp. Run under the sanitizers
// by scripts/check.
#include <gtest/gtest.h>

#include <limits>

#include "halves.h"

namespace bntt {
namespace {

using testing::direct_input;
using testing::Halves;
using testing::small_network;

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(Arguments, OfBuffers) {
  EXPECT_THROW(Buffer<float>(-1), Error);
  EXPECT_THROW(Buffer<double>::zeros(std::numeric_limits<int64_t>::min()), Error);
  EXPECT_THROW(Buffer<double>{kHuge}, std::bad_alloc);
  EXPECT_THROW((void)allocate_buffer(std::numeric_limits<std::size_t>::max()), std::bad_alloc);
  EXPECT_EQ(buffer_bytes(3, 4), 12U);
  EXPECT_THROW((void)buffer_bytes(-1, 4), Error);
  EXPECT_THROW((void)buffer_bytes(kHuge, 4), std::bad_alloc);
  EXPECT_NO_THROW(free_buffer(nullptr, 0));
  Buffer<float> none(0);
  none.fill(1.0F);
  EXPECT_TRUE(Buffer<float>(none).empty());
}

TEST(Arguments, OfShapesAndDeclarations) {
  EXPECT_EQ((ConvGeometry{.stride = 0}.output_extent(8)), 0);
  EXPECT_EQ((ConvGeometry{.kernel = 9, .padding = 0}.output_extent(8)), 0);
  EXPECT_THROW(size_of(std::vector<int64_t>{2, -1}), Error);
  EXPECT_THROW(size_of(std::vector<int64_t>{kHuge, 2}), Error);
  const auto declared = [](int64_t extent) {
    return ParameterDeclaration{.name = "weight", .pytorch_shape = {extent}};
  };
  EXPECT_EQ(size_of(std::vector{declared(2), declared(3)}), 5);
  EXPECT_THROW(size_of(std::vector{declared(2), declared(-3)}), Error);
  EXPECT_THROW(size_of(std::vector{declared(kHuge), declared(kHuge)}), Error);
}

TEST(Arguments, OfThreads) {
  const int before = threads();
  EXPECT_THROW(set_threads(-1), Error);
  EXPECT_THROW(set_threads(std::numeric_limits<int>::max()), Error);
  EXPECT_EQ(threads(), before);
  EXPECT_FALSE(version().empty());
}

TEST(Arguments, OfSpikeTrains) {
  const MapShape map{3, 2, 2};
  EXPECT_THROW(SpikeTrain(0, 1, map), Error);
  EXPECT_THROW(SpikeTrain(1, -1, map), Error);
  EXPECT_THROW(SpikeTrain(1, 1, {0, 2, 2}), Error);
  EXPECT_THROW(SpikeTrain(1, 1, {-3, 2, 2}), Error);
  EXPECT_THROW(SpikeTrain(1, 1, map, {}), Error);
  EXPECT_THROW(SpikeTrain(kHuge, kHuge, map), Error);
  SpikeTrain train(2, 2, map);
  for (const int64_t wrong : {int64_t{-1}, int64_t{3}, kHuge}) {
    EXPECT_THROW((void)train.value(wrong, 0, 0, 0, 0), Error);
    EXPECT_THROW((void)train.value(0, wrong, 0, 0, 0), Error);
    EXPECT_THROW((void)train.value(0, 0, wrong, 0, 0), Error);
    EXPECT_THROW((void)train.value(0, 0, 0, wrong, 0), Error);
    EXPECT_THROW((void)train.value(0, 0, 0, 0, wrong), Error);
    EXPECT_THROW(train.set(wrong, 0, 0, 0, 0, 0), Error);
    EXPECT_THROW(train.set(0, 0, 0, 0, 0, wrong), Error);
  }
  train.words() = Buffer<SpikeWord>(1);
  EXPECT_THROW((void)train.value(1, 1, 1, 1, 0), Error);
  EXPECT_THROW(train.set(0, 1, 1, 1, 1, 0), Error);
  EXPECT_THROW((void)SpikeTrain().value(0, 0, 0, 0, 0), Error);
}

TEST(Arguments, OfSignals) {
  const MapShape map{3, 2, 2};
  const Signal spikes = SpikeTrain(2, 2, map);
  const auto dense = [&](int64_t steps, int64_t values, bool constant = false) {
    return DenseTrain{steps, 2, map, constant, Buffer<float>::zeros(values)};
  };
  const Signal whole = dense(2, 48);
  EXPECT_NO_THROW(check_signal(whole));
  EXPECT_THROW(check_signal(dense(2, 47)), Error);
  EXPECT_THROW(check_signal(dense(-2, 48)), Error);
  EXPECT_THROW(check_signal(dense(kHuge, 48)), Error);
  EXPECT_THROW(check_signal(Signal{}), Error);
  EXPECT_THROW(check_signal(SpikeTrain(1, 1, map, {std::numeric_limits<float>::infinity()})),
               Error);
  SpikeTrain stray(1, 1, map);
  stray.words()[0] = 0b1000;
  EXPECT_THROW(check_signal(stray), Error);
  for (const Signal& signal : {spikes, whole}) {
    EXPECT_THROW((void)slice_steps(signal, -1, 1), Error);
    EXPECT_THROW((void)slice_steps(signal, 0, 0), Error);
    EXPECT_THROW((void)slice_steps(signal, 1, 2), Error);
    EXPECT_THROW((void)slice_steps(signal, kHuge, 1), Error);
    EXPECT_THROW((void)keep_images(signal, {}), Error);
    EXPECT_THROW((void)keep_images(signal, std::vector<int64_t>{2}), Error);
    EXPECT_THROW((void)keep_images(signal, std::vector<int64_t>{-1}), Error);
    EXPECT_EQ(signal_steps(join_steps({signal, signal})), 4);
    EXPECT_THROW((void)join_steps({signal, Signal{}}), Error);
  }
  EXPECT_THROW((void)slice_steps(dense(2, 40), 0, 1), Error);
  EXPECT_THROW((void)keep_images(dense(2, 40), std::vector<int64_t>{0}), Error);
  EXPECT_THROW((void)join_steps({}), Error);
  EXPECT_THROW((void)join_steps({spikes, whole}), Error);
  EXPECT_THROW((void)join_steps({spikes, SpikeTrain(2, 1, map)}), Error);
  EXPECT_THROW((void)join_steps({spikes, SpikeTrain(2, 2, {3, 2, 1})}), Error);
  EXPECT_THROW((void)join_steps({spikes, SpikeTrain(2, 2, map, {1.0F, 2.0F})}), Error);
  EXPECT_THROW((void)join_steps({whole, dense(2, 47)}), Error);
  EXPECT_THROW((void)join_steps({dense(2, 24, true)}), Error);
}

TEST(Arguments, OfEncoders) {
  const Batch right{.sample_ids = {0, 1},
                    .shape = {2, 3, 3},
                    .images = Buffer<float>::zeros(36),
                    .frames = 2,
                    .counts = Buffer<uint8_t>::zeros(72)};
  const ChannelStatistics statistics{{0.5F, 0.5F}, {0.2F, 0.2F}};
  for (const auto& [kind, name] : enum_names(EncoderKind{})) {
    EXPECT_EQ(encoder_from_name(encoder_name(kind), "test"), kind);
    const EncoderSpec spec{kind, statistics};
    EXPECT_NO_THROW((void)encode(right, 2, spec, 1, 0)) << name;
    const auto refused = [&](auto change) {
      Batch wrong = right;
      change(wrong);
      EXPECT_THROW((void)encode(wrong, 2, spec, 1, 0), Error) << encoder_name(spec.kind);
    };
    refused([](Batch& batch) { batch.sample_ids.clear(); });
    refused([](Batch& batch) { batch.sample_ids.push_back(2); });
    refused([](Batch& batch) { batch.shape.width = 4; });
    refused([](Batch& batch) { batch.shape.width = -3; });
    refused([](Batch& batch) { batch.shape.height = kHuge; });
    refused([](Batch& batch) { batch.shape.channels = 0; });
    refused([](Batch& batch) {
      batch.images = {};
      batch.counts = {};
    });
    for (const int64_t steps : {int64_t{0}, int64_t{-1}, kHuge}) {
      EXPECT_THROW((void)encode(right, steps, spec, 1, 0), Error) << name;
    }
    for (const int64_t first : {int64_t{-1}, kHuge}) {
      EXPECT_THROW((void)encode(right, 1, spec, 1, 0, first), Error) << name;
    }
  }
  const EncoderSpec events{.kind = EncoderKind::events};
  EXPECT_THROW((void)encode(right, 3, events, 1, 0), Error);
  Batch many = right;
  many.frames = kHuge;
  EXPECT_THROW((void)encode(many, 2, events, 1, 0), Error);
  EXPECT_THROW((void)encode(right, 2, {.kind = EncoderKind::direct}, 1, 0), Error);
  EXPECT_THROW((void)encode(right, 2, {.kind = static_cast<EncoderKind>(9)}, 1, 0), Error);
  EXPECT_THROW((void)encoder_name(static_cast<EncoderKind>(-1)), Error);
  EXPECT_THROW((void)encoder_from_name("poison", "test"), Error);
  EXPECT_THROW((void)encoder_from_name("", ""), Error);

  EXPECT_THROW((void)normalise(right, {{0.5F}, {0.2F, 0.2F}}), Error);
  EXPECT_THROW((void)normalise(right, {{0.5F, 0.5F}, {}}), Error);
  Batch flat = right;
  flat.shape.channels = 0;
  EXPECT_THROW((void)normalise(flat, {}), Error);
  Batch torn = right;
  torn.images = Buffer<float>::zeros(35);
  EXPECT_THROW((void)normalise(torn, statistics), Error);
}

TEST(Arguments, OfSpecs) {
  const auto refused = [](auto change) {
    NetworkSpec spec = small_network();
    change(spec);
    EXPECT_THROW((void)plan_stages(spec), Error);
    EXPECT_THROW(Network(spec, 1), Error);
    EXPECT_THROW((void)network_from_json(to_json(spec), "test"), Error);
  };
  refused([](NetworkSpec& spec) { spec.steps = 0; });
  refused([](NetworkSpec& spec) { spec.steps = kHuge; });
  refused([](NetworkSpec& spec) { spec.input.width = 0; });
  refused([](NetworkSpec& spec) { spec.input.channels = kHuge; });
  refused([](NetworkSpec& spec) { spec.stages.clear(); });
  refused([](NetworkSpec& spec) { spec.stages.pop_back(); });
  refused([](NetworkSpec& spec) { spec.stages.push_back(spec.stages.back()); });
  refused([](NetworkSpec& spec) { std::get<Conv3x3>(spec.stages[0]).channels = -1; });
  refused([](NetworkSpec& spec) { std::get<Conv3x3>(spec.stages[0]).norm.kind = "bntts"; });
  refused([](NetworkSpec& spec) { std::get<Conv3x3>(spec.stages[0]).neuron.kind = "lif2"; });
  refused([](NetworkSpec& spec) { std::get<AvgPool>(spec.stages[1]).size = 9; });
  refused([](NetworkSpec& spec) { std::get<Dense>(spec.stages[2]).features = kHuge; });
  refused([](NetworkSpec& spec) { std::get<Readout>(spec.stages[3]).classes = 0; });
  refused([](NetworkSpec& spec) { std::get<Readout>(spec.stages[3]).source = {"conv9"}; });
  refused([](NetworkSpec& spec) { spec.stages[0] = Conv{.stride = 0}; });
  refused([](NetworkSpec& spec) { spec.stages[0] = Conv{.kernel = -3}; });
  refused([](NetworkSpec& spec) { spec.stages[0] = BranchedStage{}; });
  // Numbers that are no value of their enum.
  NetworkSpec unnamed = small_network();
  unnamed.init = static_cast<Init>(99);
  EXPECT_THROW((void)to_json(unnamed), Error);
  refused([](NetworkSpec& spec) { spec.init = static_cast<Init>(99); });
  refused([](NetworkSpec& spec) { spec.propagation = static_cast<Propagation>(-1); });
  const auto neuron_refused = [&](auto change) {
    refused([&](NetworkSpec& spec) { change(std::get<Conv3x3>(spec.stages[0]).neuron); });
  };
  neuron_refused([](NeuronSpec& neuron) { neuron.fire = static_cast<Fire>(2); });
  neuron_refused([](NeuronSpec& neuron) { neuron.reset = static_cast<Reset>(2); });
  neuron_refused(
      [](NeuronSpec& neuron) { neuron.surrogate.kind = static_cast<SurrogateKind>(99); });
  const auto branch_refused = [&](auto change) {
    refused([&](NetworkSpec& spec) {
      BranchedStage stage{.branches = {BranchSpec{}}};
      change(stage.branches[0]);
      spec.stages[0] = stage;
    });
  };
  branch_refused([](BranchSpec& branch) { branch.synapse.kind = static_cast<SynapseKind>(9); });
  branch_refused([](BranchSpec& branch) { branch.pool = {static_cast<PoolKind>(9), 2}; });
  branch_refused([](BranchSpec& branch) { branch.pool.size = -1; });
  EXPECT_THROW((void)classes_of({}), Error);
  EXPECT_THROW((void)readout_of({}), Error);
  EXPECT_EQ(active_steps({.steps = 3}), 3);
  for (const int64_t steps : {int64_t{0}, int64_t{-1}, std::numeric_limits<int64_t>::min()}) {
    EXPECT_THROW((void)active_steps({.steps = steps}), Error) << steps;
  }
  NetworkSpec short_of_steps = small_network();
  short_of_steps.propagation = Propagation::delayed;
  EXPECT_EQ(active_steps(short_of_steps), 1);
  short_of_steps.steps = 2;
  EXPECT_THROW((void)active_steps(short_of_steps), Error);
  EXPECT_THROW((void)network_from_json("{", "test"), Error);
  EXPECT_FALSE(norm_kinds().empty() || neuron_kinds().empty());
}

TEST(Arguments, OfTheZoo) {
  EXPECT_THROW((void)zoo_network("vgg", {}), Error);
  for (const std::string& name : zoo_names()) {
    EXPECT_THROW((void)zoo_network(name, {.width = 0.0}), Error) << name;
    EXPECT_THROW((void)zoo_network(name, {.width = 1e9}), Error) << name;
    EXPECT_THROW((void)zoo_network(name, {.width = kNan}), Error) << name;
    for (const float threshold : {-1.0F, kNan, std::numeric_limits<float>::infinity()}) {
      EXPECT_THROW((void)zoo_network(name, {.pool_threshold = threshold}), Error) << name;
    }
    const auto refused = [&](const ZooOptions& options) {
      EXPECT_THROW((void)plan_stages(zoo_network(name, options)), Error) << name;
    };
    refused({.input = {3, 0, 32}});
    refused({.input = {-1, 32, 32}});
    refused({.input = {3, 32, kHuge}});
    refused({.classes = -1});
    refused({.steps = -1});
    refused({.norm = {.kind = "bnt"}});
    refused({.neuron = {.kind = ""}});
    refused({.readout_votes = 0});
    refused({.propagation = static_cast<Propagation>(9)});
    refused({.init = static_cast<Init>(-1)});
    refused({.neuron = {.reset = static_cast<Reset>(9)}});
    for (const float leak : {0.0F, -1.0F, 2.0F, kNan}) refused({.readout_leak = leak});
  }
}

TEST(Arguments, OfParameterOrders) {
  Parameter weights = Network(small_network(), 1).parameters().front();
  const Buffer<float> values = weights.value;
  const Buffer<float> there = to_pytorch_order(weights, values);
  EXPECT_TRUE(std::ranges::equal(from_pytorch_order(weights, there), values));
  const auto refused = [&](const Parameter& parameter, const Buffer<float>& given) {
    EXPECT_THROW((void)to_pytorch_order(parameter, given), Error);
    EXPECT_THROW((void)from_pytorch_order(parameter, given), Error);
  };
  refused(weights, Buffer<float>::zeros(values.size() - 1));
  refused(weights, {});
  Parameter wrong = weights;
  wrong.pytorch_shape = {};
  refused(wrong, values);
  wrong.pytorch_shape = {kHuge, kHuge};
  refused(wrong, values);
  wrong.pytorch_shape = {0, 1};
  refused(wrong, {});
  wrong = weights;
  wrong.input_channels = -1;
  refused(wrong, values);
  wrong.input_channels = 7;
  refused(wrong, values);
}

}  // namespace
}  // namespace bntt
