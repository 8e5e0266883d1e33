// A wrong argument of a network, a norm, a model or a session is an Error, never undefined
// behaviour. Run under the sanitizers by scripts/check.
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

#include "halves.h"

namespace bntt {
namespace {

using testing::direct_input;
using testing::Halves;
using testing::small_network;

constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

class NetworkArguments : public ::testing::Test {
 protected:
  Signal input(int64_t batch = 2, int64_t steps = 3) const {
    return SpikeTrain(steps, batch, spec_.input);
  }
  Trace trace() { return network_.forward(input(), NormMode::batch); }
  Buffer<float> gradient() const { return Buffer<float>::zeros(2 * 2); }

  NetworkSpec spec_ = small_network();
  NetworkSpec other_spec_ = [] {
    NetworkSpec spec = small_network();
    std::get<Conv3x3>(spec.stages[0]).channels = 7;
    return spec;
  }();
  Network network_{spec_, 1};
  Network other_{other_spec_, 1};
};

TEST_F(NetworkArguments, StagesAndBranches) {
  EXPECT_NE(network_.gain(0), nullptr);
  EXPECT_THROW((void)network_.gain(3), Error);
  EXPECT_THROW((void)network_.gain(0, 1), Error);
  EXPECT_THROW((void)network_.norm_statistics(9), Error);
  EXPECT_THROW((void)network_.norm_statistics(0, 9), Error);
  EXPECT_THROW((void)network_.neuron_parameters(9), Error);
  EXPECT_THROW(network_.set_break_even({}), Error);
  for (const float wrong :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    EXPECT_THROW(network_.set_break_even({{wrong, 0.1F}, {}, {}}), Error);
    EXPECT_THROW(network_.set_break_even({{}, {}, {0.1F, wrong}}), Error);
  }
  EXPECT_EQ(network_.break_even()[0].forward, BreakEven{}.forward) << "nothing was changed";
  EXPECT_THROW((void)network_.can_switch_steps(3, 0), Error);
  EXPECT_THROW((void)network_.can_switch_steps(0, 1), Error);
  EXPECT_THROW(network_.set_weight_scales({{1.0F}}), Error);
  EXPECT_THROW((void)Network::unfilled({}), Error);
}

TEST_F(NetworkArguments, Windows) {
  const std::vector<bool> first = {true, false, false};
  const std::vector<bool> always = {true, true, true};
  EXPECT_THROW(network_.set_windows({{{first}}}), Error);
  EXPECT_THROW(network_.set_windows({{{first}, {always}, {{true}}}}), Error);
  EXPECT_THROW(network_.set_windows({{{{false, false, false}}, {always}, {always}}}), Error);
  network_.set_windows({{{first}, {always}, {always}}});
  EXPECT_EQ(network_.stage_windows().active[0], first);
  EXPECT_THROW((void)network_.stage_windows({{always}}), Error);
  EXPECT_THROW((void)network_.stage_windows({{always, {}, always}}), Error);
}

TEST_F(NetworkArguments, NumbersThatLostTheirSize) {
  const auto refused = [&](auto change) {
    Network broken(spec_, 1);
    ChainState state = broken.start(2);
    change(broken);
    EXPECT_THROW((void)broken.forward(input(), NormMode::batch), Error);
    EXPECT_THROW((void)broken.start(1), Error);
    EXPECT_THROW(broken.advance(input(), state), Error);
    EXPECT_THROW((void)broken.gain(0), Error);
    EXPECT_THROW((void)broken.copy(), Error);
    EXPECT_THROW(Model(std::move(broken), {.input = {}}), Error);
  };
  refused([](Network& network) { network.parameters().front().value = Buffer<float>(1); });
  refused([](Network& network) { network.parameters().pop_back(); });
  refused([](Network& network) { network.parameters().clear(); });
  refused([](Network& network) { network.statistics().back().value = {}; });
  refused([](Network& network) { network.statistics().push_back({}); });
  network_.parameters().front().gradient = Buffer<float>(1);
  EXPECT_NO_THROW(network_.backward(trace(), gradient())) << "gradients are allocated anew";
}

TEST_F(NetworkArguments, Inputs) {
  const auto refused = [&](const Signal& wrong) {
    EXPECT_THROW((void)network_.forward(wrong, NormMode::batch), Error);
    ChainState state = network_.start(2);
    EXPECT_THROW(network_.advance(wrong, state), Error);
    EXPECT_EQ(state.steps_done, 0);
  };
  refused(Signal{});
  refused(DenseTrain{});
  refused(input(2, 4));
  refused(SpikeTrain(3, 2, {1, 8, 7}));
  refused(DenseTrain{3, 2, spec_.input, false, Buffer<float>(5)});
  EXPECT_THROW((void)network_.forward(input(2, 2), NormMode::batch), Error) << "not all steps";
  ChainState state = network_.start(2);
  EXPECT_THROW(network_.advance(input(1), state), Error) << "another batch";
  const DropoutDraws draws{.samples = {1}};
  EXPECT_THROW((void)network_.forward(input(), NormMode::batch, Keep::everything, &draws), Error);
  EXPECT_THROW(network_.set_precision(static_cast<Precision>(9)), Error);
  EXPECT_EQ(network_.precision(), Precision::fp32);
  EXPECT_THROW((void)network_.forward(input(), static_cast<NormMode>(9)), Error);
  EXPECT_THROW((void)network_.forward(input(), NormMode::batch, static_cast<Keep>(9)), Error);
}

TEST_F(NetworkArguments, Traces) {
  EXPECT_THROW(network_.backward(trace(), Buffer<float>(3)), Error);
  EXPECT_THROW(network_.backward_from_steps(trace(), gradient()), Error);
  const auto refused = [&](auto change) {
    Trace wrong = trace();
    change(wrong);
    EXPECT_THROW(network_.backward(std::move(wrong), gradient()), Error);
    Trace again = trace();
    change(again);
    EXPECT_THROW(network_.backward_from_steps(std::move(again), Buffer<float>::zeros(12)), Error);
  };
  refused([](Trace& trace) { trace = Trace{}; });
  refused([&](Trace& trace) { trace = other_.forward(input(), NormMode::batch); });
  refused([](Trace& trace) { trace.stages.pop_back(); });
  refused([](Trace& trace) { trace.stages[0].branches.clear(); });
  refused([](Trace& trace) { trace.stages[0].branches[0].current = Buffer<float>(1); });
  refused([](Trace& trace) { trace.stages[0].branches[0].half_current = Buffer<uint16_t>(1); });
  refused([](Trace& trace) { trace.stages[0].branches[0].current_constant = true; });
  refused([](Trace& trace) { trace.stages[0].branches[0].norm.scale = {}; });
  refused([](Trace& trace) { trace.stages[0].branches[0].norm.rows_per_step = 0; });
  refused([](Trace& trace) { trace.stages[0].output = Signal{}; });
  refused([](Trace& trace) { trace.stages[1].output = trace.stages[0].output; });
  refused([](Trace& trace) { trace.stages[0].dropped.emplace(); });
  refused([](Trace& trace) { trace.logits = {}; });
  refused([](Trace& trace) { trace.mode = static_cast<NormMode>(9); });
  refused([](Trace& trace) { trace.input = Signal{}; });
  EXPECT_THROW((void)network_.step_logits(Trace{}), Error);
  Trace torn = trace();
  torn.stages.back().output = Signal{};
  EXPECT_THROW((void)network_.step_logits(torn), Error);
}

TEST_F(NetworkArguments, States) {
  for (const int64_t batch : {int64_t{0}, int64_t{-1}, kHuge}) {
    EXPECT_THROW((void)network_.start(batch), Error) << batch;
    ChainState state = network_.start(1);
    EXPECT_THROW(network_.restart(state, batch), Error) << batch;
    EXPECT_THROW(Session(network_, batch), Error) << batch;
  }
  const auto refused = [&](auto change) {
    ChainState wrong = network_.start(2);
    change(wrong);
    EXPECT_THROW(network_.advance(input(), wrong), Error);
    EXPECT_THROW((void)network_.logits(wrong), Error);
    EXPECT_THROW((void)network_.membranes(wrong, 0), Error);
  };
  refused([](ChainState& state) { state = ChainState{}; });
  refused([&](ChainState& state) { state = other_.start(2); });
  refused([&](ChainState& state) { state = Network(spec_, 2).start(2); });
  refused([](ChainState& state) { state.prepared = nullptr; });
  refused([](ChainState& state) { state.batch = 0; });
  refused([](ChainState& state) { state.batch = 3; });
  refused([](ChainState& state) { state.steps_done = -1; });
  refused([](ChainState& state) { state.membranes.pop_back(); });
  refused([](ChainState& state) { state.membranes[0] = Buffer<float>(1); });
  refused([](ChainState& state) { state.constant_currents.clear(); });
  refused([](ChainState& state) { state.constant_currents[0][0] = Buffer<float>(1); });
  ChainState foreign = other_.start(1);
  EXPECT_THROW(network_.restart(foreign, 1), Error);

  ChainState state = network_.start(2);
  EXPECT_EQ(network_.membranes(state, 0).size(), 2 * network_.stages()[0].output.size());
  EXPECT_THROW((void)network_.membranes(state, 3), Error);
  EXPECT_THROW(keep_images(state, {}), Error);
  EXPECT_THROW(keep_images(state, std::vector<int64_t>{2}), Error);
  EXPECT_THROW(keep_images(state, std::vector<int64_t>{-1}), Error);
  ChainState empty;
  EXPECT_THROW(keep_images(empty, std::vector<int64_t>{0}), Error);
}

TEST_F(NetworkArguments, Observers) {
  ChainState state = network_.start(2);
  StepWindows windows{{{true, true, true}}};
  EXPECT_THROW(network_.advance(input(), state, AdvanceOptions{.windows = &windows}), Error);
  windows.active = {{true}, {true}, {true}};
  EXPECT_THROW(network_.advance(input(), state, AdvanceOptions{.windows = &windows}), Error);
  Activity activity{.spikes = {{1}}};
  EXPECT_THROW(network_.advance(input(), state, &activity), Error);
  EXPECT_EQ(state.steps_done, 0);
}

// The state must not read the old scales, which are gone.
TEST_F(NetworkArguments, StatesOfOlderScales) {
  // Weights of 0 are a product of any scale.
  for (Parameter& parameter : network_.parameters()) {
    if (parameter.group == ParameterGroup::weight) parameter.value.fill(0.0F);
  }
  const auto scales = [&](float scale) {
    std::vector<std::vector<float>> all;
    for (const StagePlan& plan : network_.stages()) {
      all.emplace_back(static_cast<std::size_t>(plan.output.channels), scale);
    }
    return all;
  };
  ChainState of_floats = network_.start(2);
  network_.set_weight_scales(scales(0.5F));
  EXPECT_THROW(network_.advance(input(), of_floats), Error);
  ChainState of_halves = network_.start(2);
  network_.set_weight_scales(scales(0.25F));
  EXPECT_THROW(network_.advance(input(), of_halves), Error);
  EXPECT_THROW((void)network_.logits(of_halves), Error);
  EXPECT_THROW(network_.restart(of_halves, 2), Error);
  network_.set_weight_scales(scales(0.5F));
  EXPECT_NO_THROW(network_.advance(input(), of_halves)) << "the same scales again";
}

TEST_F(NetworkArguments, NetworksThatWereMovedFrom) {
  ChainState state = network_.start(2);
  const Trace kept = trace();
  Network moved = std::move(network_);
  EXPECT_NO_THROW(moved.advance(input(), state)) << "the state belongs to the new one";
  // NOLINTBEGIN(bugprone-use-after-move)
  ChainState empty;
  EXPECT_THROW((void)network_.start(1), Error);
  EXPECT_THROW(network_.restart(empty, 1), Error);
  EXPECT_THROW(network_.advance(input(), state), Error);
  EXPECT_THROW(network_.advance(input(), empty), Error);
  EXPECT_THROW((void)network_.logits(empty), Error);
  EXPECT_THROW((void)network_.membranes(empty, 0), Error);
  EXPECT_THROW((void)network_.forward(input(), NormMode::batch), Error);
  EXPECT_THROW((void)network_.step_logits(kept), Error);
  EXPECT_THROW(network_.backward(moved.forward(input(), NormMode::batch), gradient()), Error);
  EXPECT_THROW((void)network_.copy(), Error);
  EXPECT_THROW((void)network_.gain(0), Error);
  EXPECT_THROW((void)network_.can_switch_steps(0, 0), Error);
  EXPECT_THROW(network_.set_weight_scales({}), Error);
  EXPECT_THROW(network_.set_windows({{{{true, true, true}}}}), Error);
  EXPECT_THROW(Session(network_, 1), Error);
  EXPECT_THROW(Model(std::move(network_), {}), Error);
  EXPECT_THROW(Trainer(std::move(network_), direct_input(), {}), Error);
  // NOLINTEND(bugprone-use-after-move)
}

// Spikes are not constant, so there is nothing to keep.
TEST_F(NetworkArguments, SameInputWithoutConstantInput) {
  SpikeTrain spikes(3, 2, spec_.input);
  spikes.set(0, 1, 0, 4, 4, 0);
  const auto logits_of = [&](bool same_input) {
    ChainState state = network_.start(2);
    for (int64_t step = 0; step < 3; ++step) {
      network_.advance(slice_steps(spikes, step, 1), state,
                       AdvanceOptions{.same_input = same_input});
    }
    return network_.logits(state);
  };
  EXPECT_TRUE(std::ranges::equal(logits_of(true), logits_of(false)));
}

TEST_F(NetworkArguments, Cards) {
  const auto refused = [&](auto change) {
    ModelCard card{.input = direct_input(), .class_names = {"left", "right"}};
    change(card);
    EXPECT_THROW(Model(Network(spec_, 1), card), Error);
  };
  EXPECT_NO_THROW(Model(Network(spec_, 1), {.input = direct_input()}));
  refused([](ModelCard& card) { card.class_names.pop_back(); });
  refused([](ModelCard& card) { card.class_names[0] = "\xff"; });
  refused([](ModelCard& card) { card.training.epochs = -1; });
  refused([](ModelCard& card) { card.training.validation_images = -1; });
  refused([](ModelCard& card) { card.training.validation_accuracy = 100.5; });
  refused([](ModelCard& card) { card.training.settings = "\xff"; });
  const auto input_refused = [&](auto change) {
    refused([&](ModelCard& card) { change(card.input); });
    InputSpec input = direct_input();
    change(input);
    EXPECT_THROW(Trainer(Network(spec_, 1), input, {}), Error);
  };
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  input_refused([](InputSpec& input) { input.fit = static_cast<Fit>(99); });
  input_refused([](InputSpec& input) { input.seed = uint64_t{1} << 63; });
  input_refused([](InputSpec& input) { input.events.interval = static_cast<Interval>(9); });
  input_refused([](InputSpec& input) { input.events.frames = -5; });
  input_refused([](InputSpec& input) { input.events.frames = kHuge; });
  input_refused([](InputSpec& input) { input.events.bin_us = -1; });
  input_refused([](InputSpec& input) {
    input.encoder.kind = EncoderKind::events;
    input.events.frames = 0;
  });
  input_refused([](InputSpec& input) { input.encoder.normalisation.mean = {kNan}; });
  for (const float wrong : {0.0F, -0.3F, kNan, std::numeric_limits<float>::infinity()}) {
    input_refused([&](InputSpec& input) { input.encoder.normalisation.deviation = {wrong}; });
  }
}

TEST_F(NetworkArguments, Sessions) {
  Session session(network_, 2);
  EXPECT_THROW((void)session.probabilities(2), Error);
  EXPECT_THROW((void)session.probabilities(-1), Error);
  EXPECT_THROW((void)session.membranes("conv9"), Error);
  EXPECT_THROW((void)session.membranes(""), Error);
  EXPECT_THROW(session.advance(input(1)), Error);
  Session moved = std::move(session);
  // NOLINTBEGIN(bugprone-use-after-move)
  EXPECT_THROW(session.advance(input()), Error);
  EXPECT_THROW((void)session.logits(), Error);
  EXPECT_THROW((void)session.membranes("conv1"), Error);
  EXPECT_THROW((void)session.probabilities(), Error);
  EXPECT_THROW(session.restart(), Error);
  // NOLINTEND(bugprone-use-after-move)
  moved.advance(input());
  EXPECT_TRUE(moved.done());
  EXPECT_THROW(moved.advance(input(2, 1)), Error);
  moved.restart();
  EXPECT_FALSE(moved.done());
}

TEST_F(NetworkArguments, Models) {
  EXPECT_THROW((void)Model::load(""), Error);
  EXPECT_THROW((void)Model::load("/nowhere/at/all"), Error);
  EXPECT_THROW((void)load_network(""), Error);
  EXPECT_THROW((void)load_network("/"), Error);
  Model model(std::move(network_), {.input = direct_input()});
  EXPECT_THROW(model.save(""), Error);
  EXPECT_THROW(model.save("/nowhere/at/all/model.safetensors"), Error);
  EXPECT_THROW(model.save(std::filesystem::temp_directory_path()), Error);
  EXPECT_THROW((void)model.class_name(-1), Error);
  EXPECT_THROW((void)model.class_name(2), Error);
  const Halves halves(2);
  const Batch batch = model.prepare(halves.images());
  EXPECT_THROW((void)model.prepare(halves.images(), std::numeric_limits<uint32_t>::max()), Error);
  EXPECT_THROW((void)model.prepare({}), Error);
  EXPECT_THROW((void)model.predict(Batch{}), Error);
  EXPECT_THROW((void)model.predict(Images{}), Error);
  EXPECT_THROW((void)model.predict(batch, {.steps = 4}), Error);
  EXPECT_THROW((void)model.predict(batch, {.steps = -1}), Error);
  for (const double wrong : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW((void)model.predict(batch, {.exit_confidence = wrong}), Error) << wrong;
  }
  EXPECT_THROW((void)model.encode(batch, 0, 0), Error);
  EXPECT_THROW((void)model.encode(batch, -1, 1), Error);
  EXPECT_THROW((void)model.encode(batch, kHuge, kHuge), Error);
  EXPECT_THROW(Session(model, 0), Error);
  const Model moved = std::move(model);
  EXPECT_EQ(model.classes(), 2) << "moving is copying";  // NOLINT(bugprone-use-after-move)
  EXPECT_TRUE(probabilities_of({}).empty());
}

TEST(NormArguments, OfTheTable) {
  const auto make = [](const NormSpec&, const NormPlace&) { return std::unique_ptr<Norm>(); };
  EXPECT_THROW(register_norm({"", "", make}), Error);
  EXPECT_THROW(register_norm({"Upper", "", make}), Error);
  EXPECT_THROW(register_norm({"bntt", "", make}), Error);
  EXPECT_THROW(register_norm({"no-factory", "", nullptr}), Error);
  EXPECT_THROW((void)make_norm({.kind = "bnt"}, {}), Error);
  EXPECT_THROW((void)make_norm({}, {.channels = 0}), Error);
  EXPECT_THROW((void)make_norm({}, {.run_steps = -1}), Error);
}

TEST(NormArguments, OfEveryNorm) {
  const NormPlace place{.channels = 2, .run_steps = 3};
  const RowSplit split{.steps = 3, .batch = 2, .pixels = 4, .channels = 2};
  for (const NormEntry& entry : norm_table()) {
    if (entry.name.starts_with("wrong-")) continue;
    SCOPED_TRACE(entry.name);
    const auto norm = make_norm({.kind = entry.name}, place);
    std::vector<Parameter> parameters;
    for (const ParameterDeclaration& declared : norm->parameters()) {
      const int64_t size = size_of(declared.pytorch_shape);
      parameters.push_back({.name = declared.name,
                            .value = Buffer<float>::zeros(size),
                            .gradient = Buffer<float>::zeros(size)});
    }
    std::vector<Statistic> statistics;
    for (const StatisticDeclaration& declared : norm->statistics()) {
      statistics.push_back(
          {.name = declared.name, .value = Buffer<float>::zeros(size_of(declared.pytorch_shape))});
    }
    const auto moments = [&] {
      return RowMoments{split, Buffer<float>::zeros(12), Buffer<float>::zeros(12)};
    };
    NormTrace trace = norm->from_batch(moments(), 0, statistics);
    EXPECT_NO_THROW(norm->fold(0, parameters, 1.0F, trace));
    const RowGradientSums sums{split, Buffer<float>::zeros(12), Buffer<float>::zeros(12)};
    EXPECT_NO_THROW((void)norm->backward(trace, sums, 0, NormMode::batch, parameters));

    for (const auto extent : {&RowSplit::steps, &RowSplit::batch, &RowSplit::pixels,
                              &RowSplit::channels, &RowSplit::images_per_row}) {
      RowMoments empty = moments();
      empty.split.*extent = 0;
      EXPECT_THROW((void)norm->from_batch(empty, 0, statistics), Error);
      EXPECT_THROW((void)norm->from_running(empty, 0, statistics), Error);
      if (parameters.empty()) continue;
      RowGradientSums none = sums;
      none.split.*extent = 0;
      EXPECT_THROW((void)norm->backward(trace, none, 0, NormMode::batch, parameters), Error);
    }
    if (!norm->statistics().empty()) {
      EXPECT_THROW((void)norm->from_batch({split, {}, {}}, 0, statistics), Error);
      EXPECT_THROW((void)norm->from_batch(moments(), 0, {}), Error);
      EXPECT_THROW((void)norm->from_running(moments(), 0, {}), Error);
      EXPECT_THROW((void)norm->from_batch(moments(), 1, statistics), Error) << "past the last step";
      EXPECT_THROW((void)norm->from_running(moments(), -1, statistics), Error);
    }
    EXPECT_THROW((void)norm->backward(trace, sums, 0, static_cast<NormMode>(9), parameters), Error);
    if (norm->per_image()) {
      EXPECT_THROW((void)norm->from_running({split, {}, {}}, 0, statistics), Error);
    }
    if (!parameters.empty()) {
      EXPECT_THROW(norm->fold(0, {}, 1.0F, trace), Error);
      EXPECT_THROW(norm->fold(9, parameters, 1.0F, trace), Error);
      EXPECT_THROW((void)norm->backward(trace, {split, {}, {}}, 0, NormMode::batch, parameters),
                   Error);
      EXPECT_THROW((void)norm->backward({}, sums, 0, NormMode::batch, parameters), Error);
      EXPECT_THROW((void)norm->backward(trace, sums, 0, NormMode::batch, {}), Error);
      parameters[0].gradient = {};
      EXPECT_THROW((void)norm->backward(trace, sums, 0, NormMode::batch, parameters), Error);
    }
    NormTrace torn;
    torn.mean = Buffer<float>::zeros(3);
    EXPECT_THROW(norm->fold(0, parameters, 1.0F, torn), Error);
    NormTrace no_rows;
    no_rows.rows_per_step = 0;
    EXPECT_THROW(norm->fold(0, parameters, 1.0F, no_rows), Error);
  }
}

/// Returns traces and gradients that are too short.
class ShortNorm final : public Norm {
 public:
  using Norm::Norm;
  NormTrace from_batch(const RowMoments&, int64_t, std::span<Statistic>) const override {
    return {1, Buffer<float>::zeros(place_.channels), Buffer<float>::zeros(place_.channels)};
  }
  NormTrace from_running(const RowMoments&, int64_t, std::span<const Statistic>) const override {
    return {1, Buffer<float>::zeros(place_.channels), Buffer<float>::zeros(place_.channels)};
  }
  NormGradient backward(const NormTrace&, const RowGradientSums&, int64_t, NormMode,
                        std::span<Parameter>) const override {
    return {};
  }
};

TEST(NormArguments, NumbersOfANormOfOnesOwn) {
  register_norm(
      {"wrong-short", "too few numbers", [](const NormSpec& spec, const NormPlace& place) {
         return std::make_unique<ShortNorm>(spec, place);
       }});
  NetworkSpec spec = small_network();
  std::get<Conv3x3>(spec.stages[0]).norm.kind = "wrong-short";
  Network network(spec, 1);
  const Signal input = SpikeTrain(3, 1, spec.input);
  EXPECT_THROW((void)network.forward(input, NormMode::batch), Error);
  ChainState state = network.start(1);
  EXPECT_THROW(network.advance(input, state), Error);
}

}  // namespace
}  // namespace bntt
