#include <gtest/gtest.h>
#include <torch/torch.h>

#include "bntt/zoo.h"
#include "cases.h"
#include "imposed_run.h"
#include "layers/loss.h"

namespace bntt {
namespace {

constexpr int64_t kBatch = 4;

NetworkSpec narrow_vgg9(Propagation propagation) {
  return vgg9({.input = {3, 16, 16}, .width = 0.125, .propagation = propagation});
}

class NarrowVgg9 : public testing::TestWithParam<std::tuple<Propagation, NormMode>> {};

TEST_P(NarrowVgg9, AgreesWithOracleOver25Steps) {
  const auto [propagation, mode] = GetParam();
  const NetworkSpec spec = narrow_vgg9(propagation);
  ASSERT_EQ(spec.steps, 25);
  Network network(spec, /*seed=*/3);
  make_unremarkable(network, Encoding::signed_spikes, kBatch);
  ImposedRun(network, random_input(spec, Encoding::signed_spikes, kBatch, /*seed=*/4), mode)
      .expect_all_agrees();
}

INSTANTIATE_TEST_SUITE_P(Oracle, NarrowVgg9,
                         testing::Combine(testing::Values(Propagation::instant,
                                                          Propagation::delayed),
                                          testing::Values(NormMode::batch, NormMode::running)),
                         [](const auto& test) {
                           return name_of(std::get<0>(test.param)) + "_" +
                                  name_of(std::get<1>(test.param));
                         });

struct MomentumSgd {
  float learning_rate = 0.1F;
  float momentum = 0.9F;
  float weight_decay = 5e-4F;
  std::vector<Buffer<float>> velocities = {};

  void step(std::vector<Parameter>& parameters) {
    if (velocities.empty()) {
      for (const Parameter& p : parameters)
        velocities.push_back(Buffer<float>::zeros(p.value.size()));
    }
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      Parameter& p = parameters[i];
      for (int64_t j = 0; j < p.value.size(); ++j) {
        float& velocity = velocities[i][j];
        velocity = momentum * velocity + p.gradient[j] + weight_decay * p.value[j];
        p.value[j] -= learning_rate * velocity;
      }
    }
  }
};

class Training : public testing::TestWithParam<Propagation> {};

TEST_P(Training, TwentyStepsEachFromOurWeightsAgreeWithOracle) {
  const NetworkSpec spec = narrow_vgg9(GetParam());
  Network network(spec, /*seed=*/8);
  MomentumSgd sgd;
  double first_loss = 0.0;
  double last_loss = 0.0;
  const Signal input = random_input(spec, Encoding::signed_spikes, kBatch, /*seed=*/21);
  const std::vector<int64_t> labels = random_labels(kBatch, classes_of(spec), /*seed=*/22);
  for (int step = 0; step < 20; ++step) {
    SCOPED_TRACE(step);
    ImposedRun run(network, input, NormMode::batch);
    run.expect_forward_agrees();
    const Loss loss = cross_entropy(run.trace().logits, labels);
    const torch::Tensor oracle_loss =
        torch::cross_entropy_loss(run.oracle_logits(), torch::tensor(labels, torch::kInt64));
    EXPECT_NEAR(loss.loss, oracle_loss.item<double>(), 1e-5);
    run.expect_backward_agrees(loss.gradient, oracle_loss);
    if (HasFailure()) return;
    sgd.step(network.parameters());
    if (step == 0) first_loss = loss.loss;
    last_loss = loss.loss;
  }
  EXPECT_LT(last_loss, first_loss);
}

INSTANTIATE_TEST_SUITE_P(Oracle, Training,
                         testing::Values(Propagation::instant, Propagation::delayed),
                         [](const auto& test) { return name_of(test.param); });

}  // namespace
}  // namespace bntt
