#include "convert/weighted_inputs.h"

#include <algorithm>

#include "base/fail.h"
#include "base/threads.h"
#include "convert/largest_values.h"
#include "train/break_even_table.h"

namespace bntt {
namespace {

/// Takes the percentile of each image at each step, and returns the largest of these.
float largest_of(const DenseTrain& currents, double percentile) {
  const int64_t frame = currents.shape.size();
  const int64_t frames = currents.values.size() / frame;
  std::vector<float> of_frames(static_cast<std::size_t>(frames));
  parallel_for(frames, [&](int64_t f) {
    const float* values = currents.values.data() + f * frame;
    if (percentile >= 100.0) {
      of_frames[f] = *std::max_element(values, values + frame);
    } else {
      std::vector<float> sorted(values, values + frame);
      of_frames[f] = percentile_of(sorted, percentile);
    }
  });
  return *std::ranges::max_element(of_frames);
}

/// Limits a window's currents to some tens of megabytes.
int64_t window_of(const Network& probe, int64_t batch) {
  constexpr int64_t kFloats = 4 << 20;
  int64_t largest = 1;
  for (const StagePlan& plan : probe.stages()) largest = std::max(largest, plan.output.size());
  return std::clamp<int64_t>(kFloats / (largest * batch), 1, probe.spec().steps);
}

/// The largest weighted input of the last stage of a probe.
float largest_input(const Network& probe, std::size_t probed, const Calibration& calibration,
                    const std::string& what) {
  float largest = 0.0F;
  const AdvanceOptions watching{
      .same_input = calibration.encoder.kind == EncoderKind::direct,
      .observe = [&](std::size_t stage, int64_t /*first*/, const std::vector<const Signal*>&,
                     const Signal& output) {
        if (stage != probed) return;
        largest =
            std::max(largest, largest_of(std::get<DenseTrain>(output), calibration.percentile));
      }};
  ChainState state = probe.start(1);
  int64_t images = 0;
  for (const Batch& batch : calibration.batches) images += batch.size();
  int64_t done = 0;
  for (const Batch& batch : calibration.batches) {
    probe.restart(state, batch.size());
    const int64_t window = window_of(probe, batch.size());
    while (state.steps_done < probe.spec().steps) {
      const int64_t steps = std::min(window, probe.spec().steps - state.steps_done);
      probe.advance(
          encode(batch, steps, calibration.encoder, calibration.seed, 0, state.steps_done), state,
          watching);
    }
    done += batch.size();
    if (calibration.progress && calibration.progress(what, done, images)) break;
  }
  return largest;
}

}  // namespace

std::vector<float> balanced_thresholds(const Network& ann, const SpikingOptions& options,
                                       const Calibration& calibration, float factor,
                                       const std::string& origin) {
  std::vector<float> thresholds;
  std::vector<float> used;  // in the search
  for (const StagePlan& plan : ann.stages()) {
    if (plan.readout) break;
    Network probe = weighted_input_probe(ann, options, used);
    probe.set_break_even(formula_break_even(probe.stages()));
    const auto probed = std::ranges::find(probe.stages(), plan.name, &StagePlan::name);
    const float largest =
        largest_input(probe, static_cast<std::size_t>(probed - probe.stages().begin()), calibration,
                      "threshold of " + plan.name);
    if (!(largest > 0.0F)) {
      fail("{}: cannot be converted: no weighted input of {} is above 0 in {} steps", origin,
           plan.name, options.steps);
    }
    thresholds.push_back(largest);
    used.push_back(largest * factor);
  }
  return thresholds;
}

}  // namespace bntt
