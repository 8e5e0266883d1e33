#include "experiment/work.h"

#include <algorithm>

#include "data/dataset.h"
#include "train/memory_need.h"

namespace bntt {
namespace {

constexpr int64_t kClassesOfFolders = 10;
constexpr int64_t kSamplesOfFolders = 1000;
constexpr double kWorkOfARecording = 1e9;  // for a classical method: seconds for a hundred
constexpr double kPassesOfAStep = 3.0;     // forward, and backward for inputs and for weights

int64_t samples(int64_t of_the_set, int64_t limit) {
  const int64_t all = of_the_set > 0 ? of_the_set : kSamplesOfFolders;
  return limit > 0 ? std::min(all, limit) : all;
}

/// The network, as far as it is known without the data.
NetworkSpec expected_network(const RunConfig& config) {
  const DatasetInfo& info = dataset_info(config.data.name);
  MapShape shape = info.shape;
  if (config.data.size > 0) shape.height = shape.width = config.data.size;
  return network_of(config, shape, info.classes > 0 ? info.classes : kClassesOfFolders);
}

/// The work for one image, over all steps or the first `steps`.
double work_of_an_image(const RunConfig& config, int64_t steps) {
  double work = 0.0;
  for (const StagePlan& stage : plan_stages(expected_network(config))) {
    const int64_t active = steps > 0 ? std::min(steps, stage.active_steps) : stage.active_steps;
    work += static_cast<double>(stage.macs) * static_cast<double>(active);
  }
  return work;
}

double training_work(const RunConfig& config) {
  const DatasetInfo& info = dataset_info(config.data.name);
  const auto images = static_cast<double>(samples(info.train_samples, config.data.limit_train));
  const double validation = config.data.validation;
  const double epoch = images * ((1.0 - validation) * kPassesOfAStep + validation);
  const auto test = static_cast<double>(samples(info.test_samples, config.data.limit_test));
  return work_of_an_image(config, 0) * (static_cast<double>(config.train.epochs) * epoch + test);
}

/// The settings are those of the ANN, but the converted network runs for a different number of
/// steps.
double conversion_steps(const PlannedRun& run, int64_t steps) {
  const int64_t all = run.conversion->steps;
  return static_cast<double>(steps > 0 ? std::min(steps, all) : all);
}

}  // namespace

WorkKind work_kind(const PlannedRun& run) {
  if (run.conversion) return WorkKind::conversion;
  if (run.classical) return WorkKind::classical;
  return steps_of(run.config) == 1 ? WorkKind::ann : WorkKind::spiking;
}

double guessed_speed_of_a_core(WorkKind kind) { return kind == WorkKind::ann ? 2.1e10 : 6e10; }

double making_work(const PlannedRun& run) {
  if (run.conversion) {
    const auto images = static_cast<double>(run.conversion->calibration_images);
    const auto tries = static_cast<double>(1 + run.conversion->sweep.size());
    return work_of_an_image(run.config, 0) * images * conversion_steps(run, 0) * tries;
  }
  if (run.classical) {
    const DatasetInfo& info = dataset_info(run.config.data.name);
    return kWorkOfARecording *
           static_cast<double>(samples(info.train_samples, run.config.data.limit_train));
  }
  return training_work(run.config);
}

int64_t making_bytes(const PlannedRun& run) {
  if (run.kind != RunKind::train) return 0;
  const RunConfig& config = run.config;
  return training_bytes(expected_network(config), config.train.batch, config.train.precision);
}

double measuring_work(const PlannedRun& run, const Measure& measure) {
  if (run.classical) return 0.0;
  const RunConfig& config = run.config;
  const DatasetInfo& info = dataset_info(config.data.name);
  int64_t images = samples(info.test_samples, config.data.limit_test);
  if (measure.images > 0) images = std::min(images, measure.images);
  const double image = run.conversion
                           ? work_of_an_image(config, 0) * conversion_steps(run, measure.steps)
                           : work_of_an_image(config, measure.steps);
  return image * static_cast<double>(images) * passes_of(measure);
}

}  // namespace bntt
