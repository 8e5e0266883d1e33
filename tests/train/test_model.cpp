#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/threads.h"
#include "bntt/model.h"
#include "bntt/session.h"
#include "corner_data.h"
#include "data/loader.h"
#include "fixtures.h"
#include "small_networks.h"
#include "train/evaluate.h"
#include "train/run_settings.h"
#include "train/run_trainer.h"

namespace bntt {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::refusal;
using testing::TemporaryDirectory;

Images test_images(const DatasetSplits& data) {
  const MapShape& shape = data.test.shape;
  return {.pixels = {data.test.pixels.data(), data.test.pixels.size()},
          .count = data.test.size(),
          .height = shape.height,
          .width = shape.width,
          .channels = shape.channels};
}

/// What eval computes for all test images.
Buffer<float> evaluated_logits(const Network& network, const DatasetSplits& data,
                               const EncoderSpec& encoder) {
  const Batch batch = EvalLoader(data.test, data.test.size()).batch(0);
  ChainState state = network.start(batch.size());
  network.advance(encode(batch, active_steps(network.spec()), encoder, 1, kEvaluationEpoch), state);
  return network.logits(state);
}

std::vector<float> joined_logits(const std::vector<Prediction>& predictions) {
  std::vector<float> logits;
  for (const Prediction& one : predictions) {
    logits.insert(logits.end(), one.logits.begin(), one.logits.end());
  }
  return logits;
}

/// A run of three short epochs.
class LoadedModel : public ::testing::Test {
 protected:
  void train(EncoderKind kind) {
    set_threads(1);
    RunConfig config = testing::small_config();
    config.encoder.kind = kind;
    RunTrainer trainer(config, data_, paths_, false);
    trainer.run({});
    accuracy_ = trainer.position().best_accuracy;
    epoch_ = trainer.position().best_epoch;
  }

  TemporaryDirectory directory_;
  RunPaths paths_{directory_.path() / "run"};
  DatasetSplits data_ = testing::corner_data();
  double accuracy_ = 0.0;
  int64_t epoch_ = 0;
};

TEST_F(LoadedModel, PredictsWhatEvalComputesBitForBit) {
  for (const EncoderKind kind :
       {EncoderKind::direct, EncoderKind::poisson_signed, EncoderKind::poisson_unsigned}) {
    std::filesystem::remove_all(paths_.directory);
    train(kind);
    const Model model = Model::load(paths_.directory);
    const auto predictions = model.predict(test_images(data_));
    const Buffer<float> expected =
        evaluated_logits(load_run_network(paths_), data_, {kind, data_.normalisation});
    EXPECT_TRUE(std::ranges::equal(joined_logits(predictions), expected));
    const Model one_file = Model::load(paths_.best());
    EXPECT_EQ(joined_logits(one_file.predict(test_images(data_))), joined_logits(predictions));
  }
}

TEST_F(LoadedModel, TakesImagesOneByOneAtTheirPlace) {
  train(EncoderKind::poisson_signed);
  const Model model = Model::load(paths_.directory);
  const auto together = model.predict(test_images(data_));
  for (int64_t i = 0; i < data_.test.size(); ++i) {
    const Images one{
        .pixels = {data_.test.image(i), 64}, .count = 1, .height = 8, .width = 8, .channels = 1};
    const auto alone = model.predict(one, {.first_sample = static_cast<uint32_t>(i)});
    EXPECT_EQ(alone.at(0).logits, together[i].logits);
    EXPECT_EQ(alone.at(0).label, together[i].label);
  }
}

// Threads take images of their own; a single image may get all of them.
TEST_F(LoadedModel, LetsImagesLeaveAloneAsAmongOthers) {
  for (const EncoderKind kind : {EncoderKind::direct, EncoderKind::poisson_signed}) {
    std::filesystem::remove_all(paths_.directory);
    train(kind);
    const Model model = Model::load(paths_.directory);
    const Batch batch = model.prepare(test_images(data_));
    PredictOptions options{.exit_confidence = 0.4, .count_spikes = true};
    const auto expected = model.predict(batch, options);
    ASSERT_EQ(std::ssize(expected), data_.test.size());
    for (const int count : {2, 16}) {
      set_threads(count);
      const auto predictions = model.predict(batch, options);
      ASSERT_EQ(predictions.size(), expected.size());
      EXPECT_EQ(joined_logits(predictions), joined_logits(expected));
      for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(predictions[i].steps, expected[i].steps);
        EXPECT_EQ(predictions[i].spikes, expected[i].spikes);
      }
    }
    int64_t heard = 0;
    options.progress = [&](int64_t samples) {
      heard = samples;
      return true;
    };
    set_threads(1);
    EXPECT_EQ(std::ssize(model.predict(batch, options)), heard);
    EXPECT_LT(heard, data_.test.size()) << "it did not stop";
  }
}

TEST_F(LoadedModel, ServesSessionsInSeveralThreads) {
  train(EncoderKind::poisson_signed);
  const Model model = Model::load(paths_.directory);
  const std::vector<float> expected = joined_logits(model.predict(test_images(data_)));
  const Batch batch = model.prepare(test_images(data_));
  std::vector<std::vector<float>> found(4);
  std::vector<std::thread> threads;
  for (std::vector<float>& logits : found) {
    threads.emplace_back([&model, &batch, &logits] {
      set_threads(1);
      Session session(model, batch.size());
      while (!session.done()) session.advance(model.encode(batch, session.steps_done(), 1));
      const Buffer<float> values = session.logits();
      logits.assign(values.begin(), values.end());
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<float>& logits : found) EXPECT_EQ(logits, expected);
}

TEST_F(LoadedModel, KnowsItsInputItsClassesAndItsTraining) {
  train(EncoderKind::direct);
  const Model model = Model::load(paths_.directory);
  EXPECT_EQ(model.card().input.encoder,
            (EncoderSpec{EncoderKind::direct, ChannelStatistics{{0.3F}, {0.3F}}}));
  EXPECT_THAT(model.card().class_names, ElementsAre("a", "b", "c", "d"));
  EXPECT_EQ(model.class_name(2), "c");
  EXPECT_EQ(model.card().training.data, "mnist");
  EXPECT_EQ(model.card().training.validation_accuracy, accuracy_);
  EXPECT_EQ(model.card().training.validation_images, 4);
  EXPECT_EQ(model.card().training.epochs, epoch_);
  EXPECT_EQ(config_from_toml(model.card().training.settings, "card").model.width, 0.05);
  EXPECT_THAT(refusal([&] { (void)model.class_name(4); }), HasSubstr("expected 0 to 3"));
}

TEST_F(LoadedModel, BringsImagesToItsOwnSizeAndColours) {
  train(EncoderKind::direct);
  const Model model = Model::load(paths_.directory);
  std::vector<uint8_t> coloured;  // every pixel fourfold, and red, green and blue the same
  for (int64_t y = 0; y < 16; ++y) {
    for (int64_t x = 0; x < 16; ++x) {
      coloured.insert(coloured.end(), 3, data_.test.image(0)[y / 2 * 8 + x / 2]);
    }
  }
  const Images large{.pixels = coloured, .count = 1, .height = 16, .width = 16, .channels = 3};
  const Batch batch = model.prepare(large);
  EXPECT_EQ(batch.shape, (MapShape{1, 8, 8}));
  for (int64_t i = 0; i < 64; ++i) {
    EXPECT_NEAR(batch.images[i], value_of_pixel(data_.test.image(0)[i]), 0.3F);
  }
  EXPECT_EQ(model.predict(large).at(0).label, model.predict(test_images(data_)).at(0).label);
}

TEST_F(LoadedModel, RefusesWhatIsNoImage) {
  train(EncoderKind::direct);
  const Model model = Model::load(paths_.directory);
  const Images whole = test_images(data_);
  const auto refused = [&](auto change) {
    Images wrong = whole;
    change(wrong);
    return refusal([&] { model.predict(wrong); });
  };
  EXPECT_THAT(refused([](Images& images) { images.count = 0; }), HasSubstr("at least one"));
  EXPECT_THAT(refused([](Images& images) { images.count = -1; }), HasSubstr("at least one"));
  EXPECT_THAT(refused([](Images& images) {
                images.channels = 2;
                images.width /= 2;
              }),
              HasSubstr("1 or 3 channels"));
  EXPECT_THAT(refused([](Images& images) { images.width = 9; }), HasSubstr("640 bytes"));
  EXPECT_THAT(refused([](Images& images) { images.height = int64_t{1} << 62; }),
              HasSubstr("640 bytes"));
  EXPECT_THAT(refusal([&] { model.predict(whole, {.steps = 9}); }), HasSubstr("expected 1 to 3"));
  EXPECT_THAT(refusal([&] { model.predict(whole, {.steps = -1}); }), HasSubstr("expected 1 to 3"));
  EXPECT_THAT(refusal([&] { model.encode(model.prepare(whole), -1, 1); }), HasSubstr("step -1"));
  Batch narrow = model.prepare(whole);
  narrow.shape.width = 7;
  EXPECT_THAT(refusal([&] { model.predict(narrow); }), HasSubstr("1x8x7"));
  narrow.shape.width = 8;
  narrow.images = Buffer<float>(10);
  EXPECT_THAT(refusal([&] { model.predict(narrow); }), HasSubstr("pixels"));
}

TEST_F(LoadedModel, RefusesACardThatDoesNotFit) {
  const auto refused = [](const ModelCard& card) {
    return refusal([&] { Model(testing::small_vgg5(), card); });
  };
  EXPECT_THAT(refused({.class_names = {"one"}}), HasSubstr("1 class names"));
  EXPECT_THAT(refused({.input = {.encoder = {.kind = EncoderKind::direct}}}),
              HasSubstr("mean and a deviation"));
  EXPECT_THAT(refusal([&] { Model::load(directory_.path()); }), HasSubstr("holds no run"));
  EXPECT_THAT(refusal([&] { Model::load(directory_.path() / "none"); }), HasSubstr("none"));
}

TEST_F(LoadedModel, TakesThePreprocessingOfOldFilesFromTheirSettings) {
  const std::filesystem::path old = BNTT_FIXTURES "/version-0.1.safetensors";
  std::filesystem::create_directories(paths_.directory);
  std::filesystem::copy_file(old, paths_.checkpoint());
  EXPECT_THAT(refusal([&] { Model::load(paths_.directory); }), HasSubstr("run.toml"));
  RunConfig config = testing::small_config();
  config.encoder.kind = EncoderKind::direct;
  begin_run_directory(paths_, config, true);
  const Model model = Model::load(paths_.directory);
  EXPECT_EQ(model.card().input.encoder,
            (EncoderSpec{EncoderKind::direct, dataset_normalisation("mnist")}));
}

}  // namespace
}  // namespace bntt
