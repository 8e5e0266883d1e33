#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>

#include "bntt/load.h"
#include "learn/sgd.h"
#include "learn/training_step.h"
#include "small_networks.h"
#include "train/checkpoint.h"

// A checkpoint that version 0.1 wrote, of a small network after twenty steps of training.
namespace bntt {
namespace {

const std::filesystem::path kFile = BNTT_FIXTURES "/version-0.1.safetensors";

/// What version 0.1 answered to two images.
constexpr std::array kLogits = {0x3eafe49eU, 0x3e0a84feU, 0x3ff679eeU, 0x3f399b0eU, 0xbebc9ea3U,
                                0x3dbd8698U, 0xbec61a1bU, 0xbe5c072eU, 0xbf4f0a00U, 0xbf8adc4dU,
                                0x3ccaf5abU, 0x3eb9260fU, 0x3f5eaa23U, 0x3eb1a053U, 0xbe5d1836U,
                                0xbeac0078U, 0xbed2c82bU, 0xbe4160c6U, 0xbf875b73U, 0xbf89d691U};

TEST(Version01, EvaluatesToTheSameBits) {
  const Network network = load_network(kFile);
  DenseTrain input{
      .steps = 3, .batch = 2, .shape = {1, 8, 8}, .constant = true, .values = Buffer<float>(128)};
  for (int64_t i = 0; i < 128; ++i) {
    input.values[i] = static_cast<float>(i * i % 23) / 8.0F - 1.4F;
  }
  ChainState state = network.start(2);
  network.advance(input, state);
  const Buffer<float> logits = network.logits(state);
  ASSERT_EQ(logits.size(), std::ssize(kLogits));
  for (int64_t i = 0; i < logits.size(); ++i) {
    EXPECT_EQ(std::bit_cast<uint32_t>(logits[i]), kLogits[i]) << i;
  }
}

TEST(Version01, ResumesWhereItStood) {
  const TensorFile file = read_tensors(kFile, {.require_checksum = true});
  Network network = testing::small_vgg5();
  unpack_network(file, "file", network);
  Sgd sgd(network, {});
  const TrainPosition position = unpack_training(file, "file", network, sgd);
  EXPECT_EQ(position.epoch, 2);
  EXPECT_EQ(position.step, 40);
  const TensorFile again = pack_checkpoint(network, {}, &sgd, &position);
  ASSERT_EQ(again.tensors.size(), file.tensors.size());
  for (std::size_t i = 0; i < file.tensors.size(); ++i) {
    EXPECT_EQ(again.tensors[i].name, file.tensors[i].name);
    EXPECT_EQ(again.tensors[i].shape, file.tensors[i].shape);
    EXPECT_TRUE(std::ranges::equal(again.tensors[i].bytes, file.tensors[i].bytes));
  }
  EXPECT_EQ(again.metadata.at("bntt.network"), file.metadata.at("bntt.network"));
}

/// A network and its optimiser as a file left them.
struct Resumed {
  explicit Resumed(const TensorFile& file)
      : network(checkpoint_network(file, "file"), 99), sgd(network, {}) {
    unpack_network(file, "file", network);
    position = unpack_training(file, "file", network, sgd);
  }

  void train(int64_t steps) {
    const LossOptions loss;
    for (int64_t step = 0; step < steps; ++step) {
      const StepResult result = train_step(some_images(step),
                                           {.encoder = kPoisson,
                                            .loss = loss,
                                            .seed = 5,
                                            .epoch = static_cast<uint32_t>(position.epoch),
                                            .learning_rate = 0.3},
                                           network, sgd);
      EXPECT_FALSE(result.diverged.has_value());
    }
  }

  Buffer<float> logits() const {
    const Batch images = some_images(7);
    ChainState state = network.start(images.size());
    network.advance(encode(images, 3, kPoisson, /*seed=*/5, kEvaluationEpoch), state);
    return network.logits(state);
  }

  static Batch some_images(int64_t number) {
    constexpr int64_t kImages = 4;
    Batch batch{.shape = {1, 8, 8}, .images = Buffer<float>(kImages * 64)};
    for (int64_t i = 0; i < batch.images.size(); ++i) {
      batch.images[i] = static_cast<float>((i * i + 5 * number) % 29) / 29.0F;
    }
    for (int64_t i = 0; i < kImages; ++i) {
      batch.sample_ids.push_back(static_cast<uint32_t>(kImages * number + i));
      batch.labels.push_back((3 * i + number) % 10);
    }
    return batch;
  }

  inline static const EncoderSpec kPoisson{EncoderKind::poisson_signed, {{0.5F}, {0.25F}}};
  Network network;
  Sgd sgd;
  TrainPosition position;
};

TEST(Version01, TrainsOnAsTheSameCheckpointInTodaysFormat) {
  const TensorFile old = read_tensors(kFile, {.require_checksum = true});
  Resumed from_old(old);
  const std::vector<uint8_t> today =
      format_tensors(pack_checkpoint(from_old.network, {}, &from_old.sgd, &from_old.position), {});
  Resumed from_today(parse_tensors(today, "today", {.require_checksum = true}));
  EXPECT_TRUE(testing::same_numbers(from_old.logits(), from_today.logits()));

  Resumed without_momentum(old);
  for (Buffer<float>& velocity : without_momentum.sgd.memories()[0].values) {
    std::ranges::fill(velocity, 0.0F);
  }
  const Buffer<float> before = from_old.logits();
  for (Resumed* run : {&from_old, &from_today, &without_momentum}) run->train(3);
  EXPECT_TRUE(testing::same_numbers(from_old.network, from_today.network));
  for (std::size_t i = 0; i < from_old.sgd.memories()[0].values.size(); ++i) {
    EXPECT_TRUE(testing::same_numbers(from_old.sgd.memories()[0].values[i],
                                      from_today.sgd.memories()[0].values[i]));
  }
  EXPECT_TRUE(testing::same_numbers(from_old.logits(), from_today.logits()));
  EXPECT_FALSE(testing::same_numbers(from_old.logits(), before)) << "nothing was learned";
  EXPECT_FALSE(testing::same_numbers(from_old.network, without_momentum.network))
      << "the momentum of the old file does not count";
}

}  // namespace
}  // namespace bntt
