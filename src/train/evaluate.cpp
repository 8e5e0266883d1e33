#include "train/evaluate.h"

#include <algorithm>
#include <numeric>

#include "base/fail.h"
#include "data/class_names.h"
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
    if (!plan.spikes() || activity.spikes.empty()) continue;
    const int64_t spikes =
        std::accumulate(activity.spikes[i].begin(), activity.spikes[i].end(), int64_t{0});
    densities.push_back(static_cast<double>(spikes) /
                        static_cast<double>(plan.neurons * active_steps * activity.images));
  }
  return densities;
}

void expect_fitting_data(const NetworkSpec& spec, const ImageSet& images,
                         std::span<const std::string> class_names, const std::string& run,
                         const std::string& dataset) {
  if (images.shape == spec.input && images.classes == classes_of(spec)) return;
  const auto text = [](const MapShape& shape, int64_t classes) {
    return fmt::format("{}x{}x{} in {} classes", shape.channels, shape.height, shape.width,
                       classes);
  };
  const bool other_classes = images.classes != classes_of(spec);
  fail("{}: its network does not fit the data set {}: it takes {}, but the data are {}{}", run,
       dataset, text(spec.input, classes_of(spec)), text(images.shape, images.classes),
       other_classes ? class_difference(class_names, images.class_names) : "");
}

void expect_frames(const ImageSet& images, int64_t steps) {
  if (images.kind == SampleKind::events && images.frames < steps) {
    fail("data.frames is {}, expected at least the {} steps that reach the readout", images.frames,
         steps);
  }
}

namespace {

void add_logits(const Buffer<float>& logits, float scale, const Batch& batch, LossSums& sums) {
  Buffer<float> scaled = logits;
  for (float& logit : scaled) logit *= scale;
  const Loss loss = cross_entropy(scaled, batch.labels);
  sums.loss += loss.loss * static_cast<double>(batch.size());
  sums.correct += loss.correct;
  sums.images += batch.size();
}

double spikes_until(const Activity& activity, int64_t steps) {
  int64_t spikes = 0;
  for (const auto& stage : activity.spikes) {
    spikes = std::accumulate(stage.begin(), stage.begin() + steps, spikes);
  }
  return activity.images > 0 ? static_cast<double>(spikes) / static_cast<double>(activity.images)
                             : 0.0;
}

/// The steps after which a run is stopped or judged, ascending.
std::vector<StoppedEvaluation> stops_of(const EvaluateOptions& options, int64_t last) {
  std::vector<int64_t> steps = options.at_steps;
  std::ranges::sort(steps);
  const auto same = std::ranges::unique(steps);
  steps.erase(same.begin(), same.end());
  std::vector<StoppedEvaluation> stops;
  for (const int64_t step : steps) {
    if (step > last) fail("steps: {} is out of range, expected at most {}", step, last);
    stops.push_back({.steps = step});
  }
  return stops;
}

}  // namespace

Evaluation evaluate(const Network& network, const ImageSet& images, SampleRange range,
                    const EvaluateOptions& options) {
  const NetworkSpec& spec = network.spec();
  Evaluation result{.steps = options.steps > 0 ? options.steps : spec.steps,
                    .active_steps = active_steps_until(spec, options.steps)};
  result.stopped = stops_of(options, result.steps);
  expect_frames(images, result.active_steps);
  const int64_t window = std::min(result.active_steps, kStepsPerWindow);
  // The first synapse of a constant input then runs once, for all images of a batch together; a
  // small batch keeps them in cache.
  const bool same_input =
      options.encoder.kind == EncoderKind::direct && result.active_steps > window;
  constexpr int64_t kImagesTogether = 16;
  const int64_t together = images_per_batch(network, window);
  const EvalLoader loader(images, range,
                          same_input ? std::min(together, kImagesTogether) : together);
  const AdvanceOptions advance{.activity = &result.activity, .same_input = same_input};
  ChainState state = network.start(1);
  for (int64_t i = 0; i < loader.batches(); ++i) {
    const Batch batch = loader.batch(i);
    network.restart(state, batch.size());
    const auto advance_to = [&](int64_t end) {
      while (state.steps_done < end) {
        const int64_t steps = std::min(window, end - state.steps_done);
        network.advance(
            encode(batch, steps, options.encoder, options.seed, kEvaluationEpoch, state.steps_done),
            state, advance);
      }
    };
    for (StoppedEvaluation& stop : result.stopped) {
      advance_to(active_steps_until(spec, stop.steps));
      add_logits(network.logits(state), stopped_logit_scale(spec, stop.steps), batch, stop.sums);
    }
    advance_to(result.active_steps);
    add_logits(network.logits(state), stopped_logit_scale(spec, result.steps), batch, result.sums);
    if (options.progress && options.progress(result.sums.images)) break;
  }
  for (StoppedEvaluation& stop : result.stopped) {
    stop.spikes_per_image = spikes_until(result.activity, stop.steps);
  }
  return result;
}

}  // namespace bntt
