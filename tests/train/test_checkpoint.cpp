#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/threads.h"
#include "fixtures.h"
#include "learn/adam.h"
#include "learn/sgd.h"
#include "small_networks.h"
#include "train/checkpoint.h"

namespace bntt {
namespace {

using ::testing::AllOf;
using testing::bytes_of;
using ::testing::HasSubstr;
using testing::make_unlike_new;
using testing::refusal;
using testing::same_numbers;
using testing::small_vgg5;
using ::testing::StartsWith;
using testing::TemporaryDirectory;

TrainPosition some_position() {
  return {.epoch = 3,
          .batch = 7,
          .step = 1234567890123,
          .metrics_bytes = 987,
          .since_log = {0.1, 2, 3},
          .since_epoch = {1.0 / 3.0, 5, 6},
          .best_accuracy = 66.6,
          .best_epoch = 2};
}

class CheckpointFile : public ::testing::Test {
 protected:
  CheckpointFile() : network_(small_vgg5()), sgd_(network_, {}) {
    make_unlike_new(network_);
    float next = 0.0F;
    for (Buffer<float>& velocity : sgd_.memories()[0].values) {
      for (float& value : velocity) value = next += 0.25F;
    }
  }
  TensorFile packed() const {
    const TrainPosition position = some_position();
    return pack_checkpoint(network_, {}, &sgd_, &position);
  }
  std::string path() const { return paths_.checkpoint().string(); }

  TemporaryDirectory directory_;
  RunPaths paths_{directory_.path()};
  Network network_;
  Sgd sgd_;
};

TEST_F(CheckpointFile, RoundTrips) {
  save_checkpoint(paths_, packed());
  const TensorFile file = load_checkpoint(paths_, paths_.checkpoint());
  Network network(checkpoint_network(file, path()), 99);
  EXPECT_EQ(network.spec(), network_.spec());
  EXPECT_FALSE(same_numbers(network, network_));
  unpack_network(file, path(), network);
  EXPECT_TRUE(same_numbers(network, network_));

  Sgd sgd(network, {});
  const TrainPosition position = unpack_training(file, path(), network, sgd);
  for (std::size_t i = 0; i < sgd.memories()[0].values.size(); ++i) {
    EXPECT_TRUE(same_numbers(sgd.memories()[0].values[i], sgd_.memories()[0].values[i]));
  }
  EXPECT_EQ(position.epoch, 3);
  EXPECT_EQ(position.batch, 7);
  EXPECT_EQ(position.step, 1234567890123);
  EXPECT_EQ(position.metrics_bytes, 987U);
  EXPECT_EQ(position.since_log.loss, 0.1);
  EXPECT_EQ(position.since_epoch.loss, 1.0 / 3.0);
  EXPECT_EQ(position.since_epoch.images, 6);
  EXPECT_EQ(position.best_accuracy, 66.6);
  EXPECT_EQ(position.best_epoch, 2);
}

TEST_F(CheckpointFile, KeepsAdamsMoments) {
  Adam adam(network_, {.amsgrad = true});
  float next = 0.0F;
  for (Optimizer::Memory& memory : adam.memories()) {
    for (Buffer<float>& values : memory.values) values.fill(next += 0.25F);
  }
  const TrainPosition position = some_position();
  const TensorFile file = pack_checkpoint(network_, {}, &adam, &position);
  Adam again(network_, {.amsgrad = true});
  unpack_training(file, "c", network_, again);
  EXPECT_EQ(again.steps_done(), position.step);
  for (std::size_t m = 0; m < 3; ++m) {
    for (std::size_t i = 0; i < network_.parameters().size(); ++i) {
      EXPECT_TRUE(same_numbers(again.memories()[m].values[i], adam.memories()[m].values[i]));
    }
  }
  EXPECT_THAT(refusal([&] { unpack_training(packed(), "c", network_, again); }),
              HasSubstr("expected a tensor 'optimizer.mean."));
}

TEST_F(CheckpointFile, EqualStatesGiveEqualBytes) {
  const auto one = format_tensors(packed());
  set_threads(2);
  EXPECT_EQ(format_tensors(packed()), one);
  network_.parameters()[0].value[0] += 1.0F;
  EXPECT_NE(format_tensors(packed()), one);
}

TEST_F(CheckpointFile, TensorsHavePytorchsNamesAndAxes) {
  const TensorFile file = packed();
  ASSERT_NE(file.find("conv1.weight"), nullptr);
  EXPECT_THAT(file.find("conv1.weight")->shape, ::testing::ElementsAre(3, 1, 3, 3));
  EXPECT_THAT(file.find("conv1.norm.weight")->shape, ::testing::ElementsAre(3, 3));
  EXPECT_THAT(file.find("conv1.norm.running_var")->shape, ::testing::ElementsAre(3, 3));
  EXPECT_THAT(file.find("fc2.weight")->shape, ::testing::ElementsAre(10, 51));
  EXPECT_NE(file.find("optimizer.fc2.weight"), nullptr);
  EXPECT_EQ(pack_checkpoint(network_, {}, nullptr, nullptr).find("optimizer.fc2.weight"), nullptr);
}

TEST_F(CheckpointFile, OfAnotherNetworkIsRefusedByItsDifference) {
  const TensorFile file = packed();
  const auto refused_by = [&](ZooOptions options) {
    Network other = small_vgg5(options);
    return refusal([&] { unpack_network(file, "run/c", other); });
  };
  EXPECT_THAT(refused_by({.norm = {.kind = "layer"}}),
              AllOf(StartsWith("run/c: holds a different network: "), HasSubstr("norm"),
                    HasSubstr("bntt"), HasSubstr("layer")));
  EXPECT_THAT(refused_by({.neuron = {.leak = 0.5F}}), HasSubstr("leak"));
  EXPECT_THAT(refused_by({.divide_by_steps = false}), HasSubstr("divide_by_steps"));

  Network wider(vgg5({.input = {1, 8, 8}, .steps = 3, .width = 0.1}), 1);
  EXPECT_THAT(refusal([&] { unpack_network(file, "run/c", wider); }),
              AllOf(HasSubstr("channels"), HasSubstr("3"), HasSubstr("6")));
}

TEST_F(CheckpointFile, WithoutATensorIsRefusedAndChangesNothing) {
  for (const char* name : {"fc2.weight", "fc1.norm.running_var"}) {
    TensorFile file = packed();
    std::erase_if(file.tensors, [&](const Tensor& tensor) { return tensor.name == name; });
    Network network = small_vgg5();
    EXPECT_EQ(refusal([&] { unpack_network(file, "c", network); }),
              "c: expected a tensor '" + std::string(name) + "', found none");
    EXPECT_TRUE(same_numbers(network, small_vgg5()));
  }
  TensorFile file = packed();
  std::erase_if(file.tensors,
                [](const Tensor& tensor) { return tensor.name == "optimizer.fc2.weight"; });
  Sgd sgd(network_, {});
  EXPECT_THAT(refusal([&] { unpack_training(file, "c", network_, sgd); }),
              HasSubstr("optimizer.fc2.weight"));
  EXPECT_EQ(sgd.memories()[0].values[0][0], 0.0F);
}

TEST_F(CheckpointFile, WithATensorOfAnotherShapeOrTypeIsRefused) {
  TensorFile file = packed();
  for (Tensor& tensor : file.tensors) {
    if (tensor.name == "fc2.weight") tensor.shape = {51, 10};
  }
  EXPECT_THAT(refusal([&] { unpack_network(file, "c", network_); }),
              AllOf(HasSubstr("fc2.weight"), HasSubstr("[51, 10]"), HasSubstr("[10, 51]")));
  for (Tensor& tensor : file.tensors) {
    if (tensor.name == "fc2.weight") tensor.type = TensorType::i32, tensor.shape = {10, 51};
  }
  EXPECT_THAT(refusal([&] { unpack_network(file, "c", network_); }), HasSubstr("float32"));
}

TEST_F(CheckpointFile, ForInferenceIsNoPlaceToResumeFrom) {
  const TensorFile file = pack_checkpoint(network_, {}, nullptr, nullptr);
  EXPECT_THAT(refusal([&] { unpack_training(file, "c", network_, sgd_); }),
              HasSubstr("bntt.position"));
}

TEST_F(CheckpointFile, KeepsThePrevious) {
  save_checkpoint(paths_, packed());
  EXPECT_FALSE(std::filesystem::exists(paths_.previous()));
  const std::string first = bytes_of(paths_.checkpoint());
  network_.parameters()[0].value[0] += 1.0F;
  save_checkpoint(paths_, packed());
  EXPECT_EQ(bytes_of(paths_.previous()), first);
  const std::string second = bytes_of(paths_.checkpoint());
  EXPECT_NE(second, first);
  network_.parameters()[0].value[0] += 1.0F;
  save_checkpoint(paths_, packed());
  EXPECT_EQ(bytes_of(paths_.previous()), second);
}

}  // namespace
}  // namespace bntt
