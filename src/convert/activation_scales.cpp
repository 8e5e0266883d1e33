#include "convert/activation_scales.h"

#include "base/fail.h"
#include "convert/largest_values.h"

namespace bntt {

std::vector<float> activation_scales(const Network& ann, const Calibration& calibration,
                                     const std::string& origin) {
  int64_t images = 0;
  for (const Batch& batch : calibration.batches) images += batch.size();
  std::vector<LargestValues> largest;
  for (const StagePlan& plan : ann.stages()) {
    if (!plan.readout) largest.emplace_back(calibration.percentile, images * plan.output.size());
  }
  const AdvanceOptions watching{.observe = [&](std::size_t stage, int64_t /*first*/,
                                               const std::vector<const Signal*>&,
                                               const Signal& output) {
    if (stage < largest.size()) largest[stage].add(std::get<DenseTrain>(output).values.span());
  }};
  ChainState state = ann.start(1);
  int64_t done = 0;
  for (const Batch& batch : calibration.batches) {
    ann.restart(state, batch.size());
    ann.advance(encode(batch, 1, calibration.encoder, calibration.seed, 0), state, watching);
    done += batch.size();
    if (calibration.progress && calibration.progress("activations", done, images)) break;
  }
  std::vector<float> scales;
  for (std::size_t i = 0; i < largest.size(); ++i) {
    if (!largest[i].any()) {
      fail("{}: cannot be converted: no neuron of {} is active for {} calibration images", origin,
           ann.stages()[i].name, images);
    }
    scales.push_back(largest[i].percentile());
  }
  return scales;
}

std::vector<float> thresholds_of_scales(const std::vector<float>& scales, float input_scale) {
  std::vector<float> thresholds;
  float before = input_scale;
  for (const float scale : scales) {
    thresholds.push_back(scale / before);
    before = scale;
  }
  return thresholds;
}

}  // namespace bntt
