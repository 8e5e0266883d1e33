#include "analyse/activity.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "analyse/effective_threshold.h"
#include "analyse/exit_rule.h"
#include "analyse/inference.h"
#include "base/fail.h"
#include "data/loader.h"

namespace bntt {
namespace {

std::vector<double> per_image(const std::vector<int64_t>& counts, int64_t images) {
  std::vector<double> result;
  for (const int64_t count : counts) {
    result.push_back(static_cast<double>(count) /
                     static_cast<double>(std::max<int64_t>(1, images)));
  }
  return result;
}

void describe_gains(const Parameter& gain, int64_t channels, StageActivity& stage) {
  for (int64_t row = 0; row < gain.value.size() / channels; ++row) {
    const float* values = gain.value.data() + row * channels;
    double sum = 0.0;
    double magnitude = 0.0;
    for (int64_t c = 0; c < channels; ++c) {
      sum += values[c];
      magnitude += std::abs(values[c]);
    }
    stage.gamma_mean.push_back(sum / static_cast<double>(channels));
    stage.gamma_magnitude.push_back(magnitude / static_cast<double>(channels));
  }
}

StageActivity describe_stage(const Network& network, std::size_t i, const Inference& run,
                             int64_t bins) {
  const StagePlan& plan = network.stages()[i];
  StageActivity stage{.name = plan.name,
                      .neurons = plan.neurons,
                      .first_step = plan.first_step,
                      .active_steps = plan.active_steps};
  if (plan.spikes()) {
    stage.spikes_per_step = per_image(run.activity.spikes[i], run.sums.images);
    const double spikes =
        std::accumulate(stage.spikes_per_step.begin(), stage.spikes_per_step.end(), 0.0);
    stage.spike_rate = spikes / static_cast<double>(plan.neurons);
    stage.density = stage.spike_rate / static_cast<double>(plan.active_steps);
  }
  if (const Parameter* gain = network.gain(i)) {
    describe_gains(*gain, plan.output.channels, stage);
    stage.gamma_histograms = gain_histograms(network, i, bins);
  }
  return stage;
}

// Traces store the currents of every step: limits them to a quarter of a gigabyte.
int64_t images_per_trace(const Network& network) {
  constexpr int64_t kFloats = 64 << 20;
  int64_t per_image = 0;
  for (const StagePlan& plan : network.stages()) {
    per_image += std::ssize(plan.branches) * plan.output.size() * plan.active_steps;
  }
  return std::clamp<int64_t>(kFloats / per_image, 1, 64);
}

void replay_stages(Network& network, const Sample& sample, const ActivityOptions& options,
                   ActivityStudy& study) {
  SampleRange range = sample.range;
  range.end = std::min(range.end, range.begin + options.detail_images);
  if (range.size() == 0) return;
  study.detail_images = range.size();
  std::map<std::size_t, StageReplay> replays;  // by stage
  for (std::size_t i = 0; i < network.stages().size(); ++i) {
    if (network.stages()[i].spikes()) replays.try_emplace(i, network, i, options.bins);
  }
  const EvalLoader loader(sample.images, range, images_per_trace(network));
  for (int64_t b = 0; b < loader.batches(); ++b) {
    const Batch batch = loader.batch(b);
    const Trace trace = network.forward(
        encode(batch, active_steps(network.spec()), sample.encoder, sample.seed, kEvaluationEpoch),
        NormMode::running);
    for (auto& [stage, replay] : replays) replay.add(trace.stages[stage], batch.size());
  }
  for (const auto& [stage, replay] : replays) {
    study.stages[stage].membrane = replay.membrane();
    study.stages[stage].effective_threshold = replay.effective_threshold();
  }
}

}  // namespace

std::vector<Histogram> gain_histograms(const Network& network, std::size_t stage, int64_t bins) {
  const Buffer<float>& gains = network.gain(stage)->value;
  const int64_t channels = network.stages()[stage].output.channels;
  double low = 0.0;
  double high = 0.0;
  for (const float gain : gains) {
    if (!std::isfinite(gain)) continue;
    low = std::min<double>(low, gain);
    high = std::max<double>(high, gain);
  }
  if (high == low) high = low + 1.0;
  std::vector<Histogram> histograms;
  for (int64_t first = 0; first < gains.size(); first += channels) {
    Histogram histogram{low, high, std::vector<int64_t>(bins, 0)};
    for (int64_t c = first; c < first + channels; ++c) {
      if (!std::isfinite(gains[c])) continue;
      const double place = (gains[c] - low) / (high - low) * static_cast<double>(bins);
      ++histogram.counts[std::clamp<int64_t>(static_cast<int64_t>(place), 0, bins - 1)];
    }
    histograms.push_back(std::move(histogram));
  }
  return histograms;
}

ActivityStudy study_activity(Network& network, const Sample& sample,
                             const ActivityOptions& options) {
  if (!is_spiking(network)) fail("activity: the network is an ANN, which has no spikes");
  const Inference run = infer(network, sample, {.count_work = true, .progress = options.progress});
  ActivityStudy study{.images = run.sums.images,
                      .steps = run.steps,
                      .accuracy = run.accuracy(),
                      .spikes_per_image = run.spikes_per_image(),
                      .exit_threshold = options.exit_threshold};
  if (sample.encoder.kind != EncoderKind::direct) {
    study.input_spikes_per_step = per_image(run.work.input_spikes, run.sums.images);
  }
  if (has_step_gains(network)) study.exit_step = exit_step(network, options.exit_threshold);
  for (std::size_t i = 0; i < network.stages().size(); ++i) {
    if (network.stages()[i].readout && network.gain(i) == nullptr) continue;
    study.stages.push_back(describe_stage(network, i, run, options.bins));
  }
  replay_stages(network, sample, options, study);
  return study;
}

}  // namespace bntt
