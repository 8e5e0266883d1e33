#include <gtest/gtest.h>

#include <cmath>

#include "cases.h"
#include "layers/loss.h"

namespace bntt {
namespace {

constexpr float kStep = 0x1p-8F;
constexpr int64_t kBatch = 3;

struct Probe {
  double loss = 0.0;
  std::vector<bool> above_zero;  // of every activation: a change means that a kink was crossed
};

Probe probe(Network& network, const Signal& input, const std::vector<int64_t>& labels) {
  const Trace trace = network.forward(input, NormMode::batch);
  Probe result{.loss = cross_entropy(trace.logits, labels).loss};
  for (const StageTrace& stage : trace.stages) {
    const auto* activations = std::get_if<DenseTrain>(&stage.output);
    if (activations == nullptr) continue;
    for (const float value : activations->values) result.above_zero.push_back(value > 0.0F);
  }
  return result;
}

struct Slopes {
  int64_t compared = 0;
  double difference = 0.0;  // Σ (slope − gradient)²
  double size = 0.0;        // Σ gradient²

  double relative_error() const { return std::sqrt(difference / size); }
};

/// Central differences of the loss against a parameter's gradient, wherever no activation crosses
/// its kink.
Slopes compare_slopes(Network& network, Parameter& parameter, const Signal& input,
                      const std::vector<int64_t>& labels) {
  Slopes slopes;
  for (int64_t i = 0; i < parameter.value.size(); ++i) {
    const float value = parameter.value[i];
    parameter.value[i] = value + kStep;
    const Probe above = probe(network, input, labels);
    parameter.value[i] = value - kStep;
    const Probe below = probe(network, input, labels);
    parameter.value[i] = value;
    if (above.above_zero != below.above_zero) continue;
    const double slope = (above.loss - below.loss) / (2.0 * static_cast<double>(kStep));
    const double gradient = parameter.gradient[i];
    ++slopes.compared;
    slopes.difference += (slope - gradient) * (slope - gradient);
    slopes.size += gradient * gradient;
  }
  return slopes;
}

void fill_gradients(Network& network, const Signal& input, const std::vector<int64_t>& labels) {
  const Trace trace = network.forward(input, NormMode::batch);
  network.backward(trace, cross_entropy(trace.logits, labels).gradient);
}

TEST(FiniteDifference, ReadoutAndCrossEntropy) {
  const NetworkSpec spec = small_network({});
  Network network(spec, /*seed=*/2);
  const Signal input = random_input(spec, Encoding::signed_spikes, kBatch, /*seed=*/3);
  const std::vector<int64_t> labels = random_labels(kBatch, classes_of(spec), /*seed=*/4);
  fill_gradients(network, input, labels);
  // Spikes do not depend on the readout's weights, so the loss is smooth in them.
  const Slopes slopes = compare_slopes(network, network.parameters().back(), input, labels);
  EXPECT_GT(slopes.size, 0.0);
  EXPECT_LT(slopes.relative_error(), 2e-3);
}

class SmoothAnn : public testing::TestWithParam<std::string> {};

TEST_P(SmoothAnn, EveryParameter) {
  // With a small ε a norm would take back any scale that the stage before put before its ReLU: the
  // gradient of such a scale (tebn has one) would be rounding alone.
  const NormSpec norm{.kind = GetParam(), .epsilon = 0.3F};
  const NeuronSpec relu{.kind = "relu"};
  const NetworkSpec spec{
      .input = {2, 5, 4},
      .steps = 1,
      .stages = {Conv3x3{.channels = 3, .norm = norm, .neuron = relu}, AvgPool{},
                 Dense{.features = 5, .norm = norm, .neuron = relu}, Readout{.classes = 3}}};
  Network network(spec, /*seed=*/2);
  const Signal input = random_input(spec, Encoding::direct, kBatch, /*seed=*/3);
  const std::vector<int64_t> labels = random_labels(kBatch, classes_of(spec), /*seed=*/4);
  fill_gradients(network, input, labels);
  for (Parameter& parameter : network.parameters()) {
    SCOPED_TRACE(parameter.name);
    const Slopes slopes = compare_slopes(network, parameter, input, labels);
    EXPECT_GE(slopes.compared, std::min<int64_t>(parameter.value.size() / 3, 10));
    EXPECT_GT(slopes.size, 0.0);
    EXPECT_LT(slopes.relative_error(), 5e-3);
  }
}

INSTANTIATE_TEST_SUITE_P(FiniteDifference, SmoothAnn, testing::ValuesIn(norm_names()),
                         [](const auto& test) { return name_of(test.param); });

}  // namespace
}  // namespace bntt
