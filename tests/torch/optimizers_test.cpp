#include <gtest/gtest.h>
#include <torch/torch.h>

#include "bntt/optimizer.h"
#include "bntt/zoo.h"
#include "cases.h"

namespace bntt {
namespace {

constexpr double kRate = 0.01;
constexpr int kSteps = 12;

/// The same gradients for ours and for PyTorch's optimiser, a new draw at every step.
class BothOptimizers {
 public:
  explicit BothOptimizers(const OptimizerOptions& options)
      : network_(vgg5({.input = {1, 8, 8}, .steps = 3, .width = 0.05}), /*seed=*/1),
        ours_(make_optimizer(network_, options)) {
    for (const Parameter& parameter : network_.parameters()) {
      theirs_.push_back(tensor_of(parameter.value).requires_grad_());
    }
  }
  const std::vector<torch::Tensor>& theirs() const { return theirs_; }
  /// The parameters of convolutions, or those of fully connected stages.
  std::vector<torch::Tensor> theirs_of(const std::string& stage) const {
    std::vector<torch::Tensor> found;
    for (std::size_t i = 0; i < theirs_.size(); ++i) {
      if (network_.parameters()[i].name.starts_with(stage)) found.push_back(theirs_[i]);
    }
    return found;
  }

  void expect_same_numbers(torch::optim::Optimizer& optimizer) {
    for (int step = 0; step < kSteps; ++step) {
      for (std::size_t i = 0; i < theirs_.size(); ++i) {
        Parameter& parameter = network_.parameters()[i];
        parameter.gradient = random_values(parameter.value.size(), -1.0F, 0.7F, 100 * step + i);
        theirs_[i].mutable_grad() = tensor_of(parameter.gradient);
      }
      ours_->step(network_, kRate);
      optimizer.step();
    }
    for (std::size_t i = 0; i < theirs_.size(); ++i) {
      const Parameter& parameter = network_.parameters()[i];
      EXPECT_TRUE(torch::allclose(tensor_of(parameter.value), theirs_[i].detach(), 1e-6, 1e-7))
          << parameter.name;
    }
  }

 private:
  static torch::Tensor tensor_of(const Buffer<float>& values) {
    return torch::tensor(std::vector<float>(values.begin(), values.end()));
  }

  Network network_;
  std::unique_ptr<Optimizer> ours_;
  std::vector<torch::Tensor> theirs_;
};

TEST(Optimizers, SgdIsPytorchs) {
  BothOptimizers both({.kind = "sgd", .momentum = 0.8, .weight_decay = 0.02});
  torch::optim::SGD sgd(both.theirs(),
                        torch::optim::SGDOptions(kRate).momentum(0.8).weight_decay(0.02));
  both.expect_same_numbers(sgd);
}

TEST(Optimizers, AdamIsPytorchs) {
  for (const bool amsgrad : {false, true}) {
    SCOPED_TRACE(amsgrad ? "amsgrad" : "adam");
    BothOptimizers both({.kind = "adam",
                         .weight_decay = 0.02,
                         .beta1 = 0.8,
                         .beta2 = 0.95,
                         .epsilon = 1e-4,
                         .amsgrad = amsgrad});
    torch::optim::Adam adam(both.theirs(), torch::optim::AdamOptions(kRate)
                                               .betas({0.8, 0.95})
                                               .eps(1e-4)
                                               .weight_decay(0.02)
                                               .amsgrad(amsgrad));
    both.expect_same_numbers(adam);
  }
}

/// Two parameter groups of one of PyTorch's optimisers: the rate, and a tenth of it for fully
/// connected stages.
template <typename Theirs, typename Options>
void expect_two_groups(const OptimizerOptions& ours, Options theirs) {
  BothOptimizers both(ours);
  const auto conv = both.theirs_of("conv");
  const auto dense = both.theirs_of("fc");
  ASSERT_EQ(conv.size() + dense.size(), both.theirs().size());
  ASSERT_GE(dense.size(), 3U);  // weights and gains of a hidden stage, weights of the readout
  std::vector<torch::optim::OptimizerParamGroup> groups;
  groups.emplace_back(conv, std::make_unique<Options>(theirs));
  groups.emplace_back(dense, std::make_unique<Options>(Options(theirs).lr(0.1 * kRate)));
  Theirs optimizer(groups, theirs);
  both.expect_same_numbers(optimizer);
}

TEST(Optimizers, DenseStagesMayHaveARateOfTheirOwn) {
  expect_two_groups<torch::optim::SGD>(
      {.kind = "sgd", .momentum = 0.8, .weight_decay = 0.02, .dense_rate_factor = 0.1},
      torch::optim::SGDOptions(kRate).momentum(0.8).weight_decay(0.02));
  expect_two_groups<torch::optim::Adam>(
      {.kind = "adam", .weight_decay = 0.02, .dense_rate_factor = 0.1},
      torch::optim::AdamOptions(kRate).weight_decay(0.02));
}

}  // namespace
}  // namespace bntt
