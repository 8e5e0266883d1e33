#include "train/evaluate.h"

#include <numeric>

#include "base/fail.h"
#include "data/loader.h"
#include "layers/loss.h"

namespace bntt {

double spikes_per_image(const Activity& activity) {
  int64_t spikes = 0;
  for (const auto& stage : activity.spikes) {
    spikes = std::accumulate(stage.begin(), stage.end(), spikes);
  }
  return activity.images > 0 ? static_cast<double>(spikes) / static_cast<double>(activity.images)
                             : 0.0;
}

std::vector<double> Evaluation::density(const Network& network) const {
  std::vector<double> densities;
  for (std::size_t i = 0; i < network.stages().size(); ++i) {
    const StagePlan& plan = network.stages()[i];
    if (plan.readout || activity.spikes.empty()) continue;
    const int64_t spikes =
        std::accumulate(activity.spikes[i].begin(), activity.spikes[i].end(), int64_t{0});
    densities.push_back(static_cast<double>(spikes) /
                        static_cast<double>(plan.neurons * active_steps * activity.images));
  }
  return densities;
}

void expect_fitting_data(const NetworkSpec& spec, const ImageSet& images, const std::string& run,
                         const std::string& dataset) {
  if (images.shape == spec.input && images.classes == classes_of(spec)) return;
  const auto text = [](const MapShape& shape, int64_t classes) {
    return fmt::format("{}x{}x{} in {} classes", shape.channels, shape.height, shape.width,
                       classes);
  };
  fail("{}: its network is not for the data set {}: it takes {}, but the data are {}", run, dataset,
       text(spec.input, classes_of(spec)), text(images.shape, images.classes));
}

void expect_frames(const ImageSet& images, int64_t steps) {
  if (images.kind == SampleKind::events && images.frames < steps) {
    fail("data.frames is {}, expected at least the {} steps that reach the readout", images.frames,
         steps);
  }
}

Evaluation evaluate(const Network& network, const ImageSet& images, SampleRange range,
                    const EvaluateOptions& options) {
  const NetworkSpec& spec = network.spec();
  Evaluation result{.steps = options.steps > 0 ? options.steps : spec.steps,
                    .active_steps = active_steps_until(spec, options.steps)};
  expect_frames(images, result.active_steps);
  const float rescale = stopped_logit_scale(spec, result.steps);
  const EvalLoader loader(images, range, images_per_batch(network, result.active_steps));
  ChainState state = network.start(1);
  for (int64_t i = 0; i < loader.batches(); ++i) {
    const Batch batch = loader.batch(i);
    network.restart(state, batch.size());
    network.advance(
        encode(batch, result.active_steps, options.encoder, options.seed, kEvaluationEpoch), state,
        &result.activity);
    Buffer<float> logits = network.logits(state);
    for (float& logit : logits) logit *= rescale;
    const Loss loss = cross_entropy(logits, batch.labels);
    result.sums.loss += loss.loss * static_cast<double>(batch.size());
    result.sums.correct += loss.correct;
    result.sums.images += batch.size();
    if (options.progress && options.progress(result.sums.images)) break;
  }
  return result;
}

}  // namespace bntt
