// Data sets and settings through the public headers of bntt/data: they train what `bntt train`
// trains, and wrong arguments are Errors. Run under the sanitizers by scripts/check.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <numeric>

#include "bntt/bntt.hpp"
#include "bntt/data/dataset.h"
#include "bntt/data/settings.h"
#include "fixtures.h"
#include "sample_files.h"
#include "train/model_card.h"
#include "train/run_trainer.h"

namespace bntt {
namespace {

using testing::Bytes;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::refusal;
using testing::TemporaryDirectory;

constexpr const char* kSettings = R"(
[data]
name = "folder"
size = 8
validation = 0.25
augment_pad = 1
augment_cutout = 2
[model]
name = "vgg5"
steps = 3
width = 0.05
dropout = 0.2
[train]
epochs = 3
batch = 4
label_smoothing = 0.1
schedule = "cosine"
seed = 7
)";

/// Pictures of two classes, brighter above or below.
class PublicSettings : public ::testing::Test {
 protected:
  PublicSettings() {
    for (const char* split : {"train", "test"}) {
      for (int i = 0; i < 16; ++i) {
        const bool above = i % 2 == 0;
        Bytes pixels(8 * 8 * 3);
        for (std::size_t k = 0; k < pixels.size(); ++k) {
          const bool bright = (k < pixels.size() / 2) == above;
          pixels[k] = static_cast<uint8_t>((bright ? 190 : 20) + (7 * k + 13 * i) % 50);
        }
        directory_.write(std::string("pictures/") + split + (above ? "/above/" : "/below/") +
                             std::to_string(i) + ".png",
                         testing::png_file(8, 8, pixels));
      }
    }
  }

  std::filesystem::path pictures() const { return directory_.path() / "pictures"; }

  TemporaryDirectory directory_;
};

std::vector<float> numbers_of(const Network& network) {
  std::vector<float> numbers;
  for (const Parameter& parameter : network.parameters()) {
    numbers.insert(numbers.end(), parameter.value.begin(), parameter.value.end());
  }
  for (const Statistic& statistic : network.statistics()) {
    numbers.insert(numbers.end(), statistic.value.begin(), statistic.value.end());
  }
  return numbers;
}

TEST_F(PublicSettings, TrainWhatTheProgramTrains) {
  Settings settings = Settings::from_toml(kSettings, "test");
  const Dataset data = settings.open_data(pictures());
  const ModelCard card = settings.card(data);
  Trainer trainer(settings.network(data), card.input, settings.trainer_options());
  DatasetSamples samples = settings.training_samples(data);
  EXPECT_EQ(samples.size(), 12);
  EXPECT_EQ(settings.validation_samples(data).size(), 4);
  trainer.run(samples);

  RunConfig config = config_from_toml(kSettings, "test");
  config.data.dir = pictures().string();
  const DatasetSplits splits =
      open_dataset(config.data.name, config.data.dir, dataset_options(config));
  keep_measured_statistics(splits, config);
  const RunPaths paths{directory_.path() / "run"};
  RunTrainer run(config, splits, paths, false);
  run.run({});
  EXPECT_EQ(numbers_of(trainer.network()), numbers_of(run.network()));

  const Model model = trainer.model(card);
  EXPECT_THAT(model.card().class_names, ElementsAre("above", "below"));
  EXPECT_EQ(model.card().training.settings, Model::load(paths.directory).card().training.settings);
  const Batch test = data.test().all();
  const Model last = Model::load(paths.checkpoint());
  const auto ours = model.predict(test);
  const auto theirs = last.predict(test);
  ASSERT_EQ(ours.size(), 16U);
  for (std::size_t i = 0; i < ours.size(); ++i) EXPECT_EQ(ours[i].logits, theirs[i].logits) << i;

  // The settings now hold what run.toml holds.
  const Settings again = Settings::read(paths.directory);
  EXPECT_EQ(again.to_toml(), settings.to_toml());
}

TEST_F(PublicSettings, AreReadCopiedAndChanged) {
  Settings settings = Settings::preset("demo-fashion-mnist");
  const Settings before = settings;
  settings.set("model.width=0.25");
  EXPECT_NE(settings.to_toml(), before.to_toml());
  EXPECT_THAT(settings.to_toml(), HasSubstr("width = 0.25"));
  settings = before;
  EXPECT_EQ(settings.to_toml(), before.to_toml());
  EXPECT_EQ(Settings::from_toml(settings.to_toml(), "test").to_toml(), settings.to_toml());
  const std::filesystem::path file = directory_.path() / "own.toml";
  std::ofstream(file) << settings.to_toml();
  EXPECT_EQ(Settings::read(file).to_toml(), settings.to_toml());
  for (const std::string& name : Settings::preset_names()) {
    EXPECT_NO_THROW((void)Settings::preset(name)) << name;
  }
  const NetworkSpec spec = vgg5({});
  EXPECT_EQ(Settings::network_from_toml(Settings::network_to_toml(spec), "test"), spec);
}

TEST_F(PublicSettings, RefuseWrongArguments) {
  EXPECT_THROW((void)Settings::read(""), Error);
  EXPECT_THROW((void)Settings::read("/nowhere/at/all.toml"), Error);
  EXPECT_THAT(refusal([&] { (void)Settings::read(pictures()); }), HasSubstr("holds no run"));
  EXPECT_THROW((void)Settings::from_toml("[model", "test"), Error);
  EXPECT_THROW((void)Settings::from_toml("[model]\nwidht = 1", "test"), Error);
  EXPECT_THROW((void)Settings::preset("demo"), Error);
  EXPECT_THROW((void)Settings::network_from_toml("steps = -1", "test"), Error);
  EXPECT_THROW((void)Settings::network_to_toml({.init = static_cast<Init>(99)}), Error);
  EXPECT_THROW((void)Settings::network_to_toml({.propagation = static_cast<Propagation>(-1)}),
               Error);
  EXPECT_THAT(refusal([] { (void)Settings().open_data(); }), HasSubstr("data.name"));

  Settings settings = Settings::from_toml(kSettings, "test");
  const std::string before = settings.to_toml();
  for (const char* wrong :
       {"", "model.width", "model.widht=1", "model.width=-1", "train.epochs=x"}) {
    EXPECT_THROW(settings.set(wrong), Error) << wrong;
  }
  EXPECT_THROW((void)settings.open_data("/nowhere/at/all"), Error);
  settings.set("encoder.kind=events");
  EXPECT_THAT(refusal([&] { (void)settings.open_data(pictures()); }), HasSubstr("encoder.kind"));
  settings.set("encoder.kind=poisson-signed");
  EXPECT_EQ(settings.to_toml(), before) << "refusals change nothing";

  const Dataset data = settings.open_data(pictures());
  EXPECT_EQ(settings.network(data).stages().size(), 5U);
  Settings other = Settings::from_toml("[data]\nname = \"folder\"\nvalidation = 0.99", "test");
  EXPECT_THROW((void)other.training_samples(data), Error);
  other = Settings::from_toml("[data]\nname = \"folder\"\naugment_pad = 9", "test");
  EXPECT_THROW((void)other.validation_samples(data), Error);
  other.set("data.mean=[0.5]");
  EXPECT_THROW((void)other.card(data), Error);
  other.set("model.thresholds=[1.0]");
  EXPECT_THROW((void)other.network(data), Error);
  for (const char* only_in_runs :
       {"train.from=runs/a", "train.window_work=0.5", "train.window_threshold=0.1"}) {
    Settings changed = settings;
    changed.set(only_in_runs);
    EXPECT_THAT(refusal([&] { (void)changed.trainer_options(); }), HasSubstr("bntt train"));
  }
}

TEST_F(PublicSettings, OpenDataSetsOnTheirOwn) {
  EXPECT_THAT(Dataset::names(), ::testing::Contains("folder"));
  const Dataset data = Dataset::open("folder", pictures(), {.size = 4});
  EXPECT_FALSE(data.has_events());
  EXPECT_EQ(data.shape(), (MapShape{3, 4, 4}));
  EXPECT_EQ(data.frames(), 1);
  EXPECT_EQ(data.classes(), 2);
  EXPECT_EQ(data.normalisation().mean.size(), 3U);
  const TrainingSplit quarter{.validation = 0.25, .pad = 4, .flip = false};
  DatasetSamples train = data.train(quarter);
  const std::vector<int64_t> some = {3, 0};
  const Batch now = train.batch(some, 0);
  const Batch again = data.train(quarter).batch(some, 0);
  EXPECT_TRUE(std::ranges::equal(now.images, again.images));
  EXPECT_EQ(now.sample_ids, (std::vector<uint32_t>{3, 0}));
  EXPECT_FALSE(std::ranges::equal(now.images, train.batch(some, 1).images)) << "drawn anew";
  DatasetSamples held_back = data.validation(quarter);
  const Batch fixed = held_back.batch(some, 0);
  EXPECT_EQ(fixed.sample_ids, (std::vector<uint32_t>{15, 12}));
  EXPECT_TRUE(std::ranges::equal(fixed.images, held_back.batch(some, 1).images));
  EXPECT_EQ(data.test().all().sample_ids.front(), kFirstTestId);

  const Dataset turned = data.with_classes(std::vector<std::string>{"below", "above"});
  EXPECT_THAT(turned.class_names(), ElementsAre("below", "above"));
  const Batch plain = data.test().all();
  const Batch other = turned.test().all();
  for (std::size_t i = 0; i < plain.labels.size(); ++i) {
    EXPECT_EQ(plain.labels[i], 1 - other.labels[i]);
  }
  // Samples keep the memory that they need.
  DatasetSamples alone = Dataset::open("folder", pictures()).test();
  EXPECT_EQ(alone.batch(some, 0).size(), 2);
  EXPECT_EQ(alone.batch({}, 0).size(), 0);
}

TEST_F(PublicSettings, DataSetsThatWereMovedFromStayWhole) {
  Dataset data = Dataset::open("folder", pictures(), {.size = 4});
  const Dataset moved = std::move(data);
  DatasetSamples samples = moved.test();
  DatasetSamples moved_samples = std::move(samples);
  // NOLINTBEGIN(bugprone-use-after-move)
  EXPECT_EQ(data.classes(), 2) << "moving is copying";
  EXPECT_EQ(data.train().size(), moved.train().size());
  EXPECT_EQ(data.with_classes(moved.class_names()).shape(), moved.shape());
  EXPECT_EQ(samples.size(), moved_samples.size());
  EXPECT_EQ(samples.batch(std::vector<int64_t>{1}, 0).size(), 1);
  EXPECT_EQ(samples.all().labels, moved_samples.all().labels);
  // NOLINTEND(bugprone-use-after-move)
}

TEST_F(PublicSettings, RefuseWrongDataSets) {
  EXPECT_THROW((void)Dataset::open("cifar", pictures()), Error);
  EXPECT_THROW((void)Dataset::open("folder"), Error);
  EXPECT_THROW((void)Dataset::open("folder", "/nowhere"), Error);
  const auto refused = [&](auto change) {
    DatasetRequest options;
    change(options);
    EXPECT_THROW((void)Dataset::open("folder", pictures(), options), Error);
  };
  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
  for (const int64_t wrong : {int64_t{-1}, kHuge}) {
    refused([&](DatasetRequest& options) { options.size = wrong; });
    refused([&](DatasetRequest& options) { options.events.frames = wrong; });
    refused([&](DatasetRequest& options) { options.events.bin_us = wrong; });
    refused([&](DatasetRequest& options) { options.sensor = {wrong, 2}; });
  }
  refused([](DatasetRequest& options) { options.sensor = {34, 0}; });
  refused([](DatasetRequest& options) { options.fit = static_cast<Fit>(99); });
  refused([](DatasetRequest& options) { options.events.interval = static_cast<Interval>(9); });
  refused([](DatasetRequest& options) { options.limit_train = -1; });
  refused([](DatasetRequest& options) { options.limit_test = -1; });
  refused([](DatasetRequest& options) { options.coarse_labels = true; });

  const Dataset data = Dataset::open("folder", pictures(), {.test = false, .size = 8});
  EXPECT_THROW((void)data.test(), Error);
  EXPECT_THROW((void)Dataset::open("folder", pictures(), {.train = false}).train(), Error);
  for (const double wrong : {-0.1, 1.0, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_THROW((void)data.train({.validation = wrong}), Error) << wrong;
    EXPECT_THROW((void)data.validation({.validation = wrong}), Error) << wrong;
  }
  for (const int64_t wrong : {int64_t{-1}, int64_t{9}, kHuge}) {
    EXPECT_THROW((void)data.train({.pad = wrong}), Error) << wrong;
    EXPECT_THROW((void)data.train({.cutout = wrong}), Error) << wrong;
  }
  DatasetSamples samples = data.train();
  for (const int64_t wrong : {int64_t{-1}, samples.size(), kHuge}) {
    EXPECT_THROW((void)samples.batch(std::vector<int64_t>{wrong}, 0), Error) << wrong;
  }
  EXPECT_THROW((void)data.with_classes(std::vector<std::string>{"above"}), Error);
  EXPECT_THROW((void)data.with_classes(std::vector<std::string>{"above", "left"}), Error);
}

}  // namespace
}  // namespace bntt
