#include "model/dropout.h"

#include "base/fail.h"
#include "base/random.h"
#include "base/threads.h"

namespace bntt {
namespace {

float scale_of(float probability) { return 1.0F / (1.0F - probability); }

/// Calls visit(position, kept) for every position of a frame, which is one image at one step.
template <typename Visit>
void for_each_place(const SpikeTrain& kept, int64_t step, int64_t image, const Visit& visit) {
  const MapShape& map = kept.shape();
  const SpikeWord* words = kept.frame(0, kept.steps() == 1 ? 0 : step, image);
  int64_t place = 0;
  for (int64_t pixel = 0; pixel < map.pixels(); ++pixel, words += kept.words_per_pixel()) {
    for (int64_t c = 0; c < map.channels; ++c, ++place) {
      visit(place, (words[c / kSpikesPerWord] >> (c % kSpikesPerWord) & 1U) != 0);
    }
  }
}

/// Multiplies values [step, batch, y, x, channel] by 0 or 1/(1 − p).
void scale_kept(const SpikeTrain& kept, float probability, int64_t steps, float* values) {
  const float scale = scale_of(probability);
  const int64_t size = kept.shape().size();
  parallel_for(steps * kept.batch(), [&](int64_t frame) {
    float* of_frame = values + frame * size;
    for_each_place(kept, frame / kept.batch(), frame % kept.batch(),
                   [&](int64_t place, bool keep) { of_frame[place] *= keep ? scale : 0.0F; });
  });
}

}  // namespace

SpikeTrain kept_outputs(const StagePlan& plan, int64_t index, const DropoutDraws& draws) {
  const int64_t steps = plan.neuron.dropout_per_step ? plan.active_steps : 1;
  const MapShape& map = plan.output;
  const auto batch = static_cast<int64_t>(draws.samples.size());
  SpikeTrain kept(steps, batch, map);
  parallel_for(steps * batch, [&](int64_t frame) {
    const int64_t step = frame / batch;
    const int64_t image = frame % batch;
    // A plan has fewer than 2^16 stages and at most 2^16 steps.
    Place at{.epoch = draws.epoch,
             .sample = draws.samples[image],
             .step = static_cast<uint32_t>(index << 16 | step)};
    SpikeWord* words = kept.frame(0, step, image);
    std::array<uint32_t, 4> bits{};
    int64_t place = 0;
    for (int64_t pixel = 0; pixel < map.pixels(); ++pixel, words += kept.words_per_pixel()) {
      for (int64_t c = 0; c < map.channels; ++c, ++place) {
        if (place % 4 == 0) {
          at.block = static_cast<uint32_t>(place / 4);
          bits = draw4(draws.seed, Purpose::dropout, at);
        }
        if (uniform01(bits[place % 4]) < plan.neuron.dropout) continue;
        words[c / kSpikesPerWord] |= SpikeWord{1} << (c % kSpikesPerWord);
      }
    }
  });
  return kept;
}

Signal dropped(const Signal& output, const SpikeTrain& kept, float probability) {
  if (const auto* dense = std::get_if<DenseTrain>(&output)) {
    DenseTrain result = *dense;
    scale_kept(kept, probability, result.steps, result.values.data());
    return result;
  }
  const auto& spikes = std::get<SpikeTrain>(output);
  SpikeTrain result(spikes.steps(), spikes.batch(), spikes.shape(), {scale_of(probability)});
  const int64_t words = spikes.words_per_frame();
  parallel_for(spikes.steps() * spikes.batch(), [&](int64_t frame) {
    const int64_t step = frame / spikes.batch();
    const int64_t image = frame % spikes.batch();
    const SpikeWord* from = spikes.frame(0, step, image);
    const SpikeWord* mask = kept.frame(0, kept.steps() == 1 ? 0 : step, image);
    SpikeWord* to = result.frame(0, step, image);
    for (int64_t w = 0; w < words; ++w) to[w] = from[w] & mask[w];
  });
  return result;
}

void drop_gradient(const SpikeTrain& kept, float probability, Buffer<float>& gradient) {
  scale_kept(kept, probability, gradient.size() / (kept.batch() * kept.shape().size()),
             gradient.data());
}

}  // namespace bntt
