#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/threads.h"
#include "fixtures.h"
#include "small_networks.h"
#include "train/presets.h"
#include "train/run_trainer.h"

namespace bntt {
namespace {

using testing::bytes_of;
using testing::TemporaryDirectory;

/// Noise in the shape of a data set, as many samples as two steps need.
ImageSet noise(const DatasetInfo& info, int64_t frames, int64_t count, uint32_t first_id) {
  ImageSet set{.kind = info.kind,
               .shape = info.shape,
               .frames = info.kind == SampleKind::events ? frames : 1,
               .classes = info.classes > 0 ? info.classes : 3,  // of a folder set: any number
               .first_id = first_id};
  const uint8_t levels = info.kind == SampleKind::events ? 3 : 255;
  std::vector<uint8_t> pixels;
  uint32_t state = 1 + first_id;
  for (int64_t i = 0; i < count * set.sample_bytes(); ++i) {
    state = state * 1664525U + 1013904223U;
    pixels.push_back(static_cast<uint8_t>((state >> 24) % levels));
  }
  for (int64_t i = 0; i < count; ++i) set.labels.push_back(i % set.classes);
  for (int64_t k = 0; k < set.classes; ++k) set.class_names.push_back(std::to_string(k));
  set.pixels = std::move(pixels);
  return set;
}

class EveryPreset : public ::testing::TestWithParam<std::string> {
 protected:
  static constexpr int64_t kBatch = 2;

  /// The preset with few channels and images; the rest is as it is.
  EveryPreset() : config_(config_from_toml(preset_text(GetParam()), GetParam())) {
    if (!config_.network) config_.model.width = 1.0 / 64;
    config_.data.validation = 0.0;
    config_.train.batch = kBatch;
    config_.train.epochs = 1;
    // A run that starts from another one needs it; here it starts anew.
    config_.train.from.clear();
    const DatasetInfo& info = dataset_info(config_.data.name);
    const int64_t steps = config_.network ? config_.network->steps : config_.model.steps;
    data_ = {.train = noise(info, steps, 2 * kBatch, 0),
             .test = noise(info, steps, kBatch, kFirstTestId),
             .normalisation = info.normalisation};
    if (info.kind == SampleKind::image && info.normalisation.mean.empty()) {
      data_.normalisation = {std::vector<float>(info.shape.channels, 0.5F),
                             std::vector<float>(info.shape.channels, 0.25F)};
    }
  }

  RunPaths paths(const std::string& name) const { return {directory_.path() / name}; }

  TrainEnd train(const std::string& name, bool resume, int64_t stop_at) {
    RunTrainer trainer(config_, data_, paths(name), resume);
    TrainHooks hooks;
    int64_t step = trainer.position().step;
    hooks.step = [&](const StepReport& report) {
      step = report.step;
      EXPECT_TRUE(std::isfinite(report.recent.loss));
    };
    hooks.stop = [&] { return step >= stop_at; };
    return trainer.run(hooks);
  }

  TemporaryDirectory directory_;
  RunConfig config_;
  DatasetSplits data_;
};

// One run of two steps with one thread; one that stops after the first and goes on with two.
TEST_P(EveryPreset, TrainsAndResumesWithAnyNumberOfThreads) {
  set_threads(1);
  ASSERT_EQ(train("whole", false, 100), TrainEnd::finished);
  ASSERT_EQ(train("stopped", false, 1), TrainEnd::stopped);
  set_threads(2);
  ASSERT_EQ(train("stopped", true, 100), TrainEnd::finished);
  set_threads(1);
  const std::string whole = bytes_of(paths("whole").checkpoint());
  EXPECT_FALSE(whole.empty());
  EXPECT_TRUE(bytes_of(paths("stopped").checkpoint()) == whole);
  EXPECT_EQ(bytes_of(paths("stopped").metrics()), bytes_of(paths("whole").metrics()));
}

INSTANTIATE_TEST_SUITE_P(Presets, EveryPreset, ::testing::ValuesIn(preset_names()),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace bntt
