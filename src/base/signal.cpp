#include "bntt/signal.h"

#include "base/check.h"

namespace bntt {

SpikeTrain::SpikeTrain(int64_t steps, int64_t batch, MapShape shape,
                       std::vector<float> plane_weights)
    : steps_(steps),
      batch_(batch),
      shape_(shape),
      words_per_pixel_((shape.channels + kSpikesPerWord - 1) / kSpikesPerWord),
      plane_weights_(std::move(plane_weights)),
      words_(Buffer<SpikeWord>::zeros(planes() * steps * batch * words_per_frame())) {}

float SpikeTrain::value(int64_t step, int64_t image, int64_t y, int64_t x, int64_t channel) const {
  const int64_t word = (y * shape_.width + x) * words_per_pixel_ + channel / kSpikesPerWord;
  float sum = 0.0F;
  for (int64_t plane = 0; plane < planes(); ++plane) {
    const SpikeWord bits = frame(plane, step, image)[word];
    if (((bits >> (channel % kSpikesPerWord)) & 1) != 0) sum += plane_weights_[plane];
  }
  return sum;
}

void SpikeTrain::set(int64_t plane, int64_t step, int64_t image, int64_t y, int64_t x,
                     int64_t channel) {
  BNTT_CHECK(channel < shape_.channels);
  const int64_t word = (y * shape_.width + x) * words_per_pixel_ + channel / kSpikesPerWord;
  frame(plane, step, image)[word] |= SpikeWord{1} << (channel % kSpikesPerWord);
}

int64_t signal_steps(const Signal& signal) {
  const auto* spikes = std::get_if<SpikeTrain>(&signal);
  return spikes != nullptr ? spikes->steps() : std::get<DenseTrain>(signal).steps;
}

int64_t signal_batch(const Signal& signal) {
  const auto* spikes = std::get_if<SpikeTrain>(&signal);
  return spikes != nullptr ? spikes->batch() : std::get<DenseTrain>(signal).batch;
}

const MapShape& signal_shape(const Signal& signal) {
  const auto* spikes = std::get_if<SpikeTrain>(&signal);
  return spikes != nullptr ? spikes->shape() : std::get<DenseTrain>(signal).shape;
}

}  // namespace bntt
