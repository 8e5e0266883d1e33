#include "bntt/signal.h"

#include <algorithm>

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

Signal slice_steps(const Signal& signal, int64_t begin, int64_t count) {
  BNTT_CHECK(begin >= 0 && count > 0 && begin + count <= signal_steps(signal));
  if (const auto* spikes = std::get_if<SpikeTrain>(&signal)) {
    SpikeTrain slice(count, spikes->batch(), spikes->shape(), spikes->plane_weights());
    const int64_t words = count * spikes->batch() * spikes->words_per_frame();
    for (int64_t plane = 0; plane < spikes->planes(); ++plane) {
      std::copy_n(spikes->frame(plane, begin, 0), words, slice.frame(plane, 0, 0));
    }
    return slice;
  }
  const auto& dense = std::get<DenseTrain>(signal);
  DenseTrain slice{count, dense.batch, dense.shape, dense.constant, {}};
  const int64_t step = dense.batch * dense.shape.size();
  slice.values = Buffer<float>(slice.stored_steps() * step);
  std::copy_n(dense.values.data() + (dense.constant ? 0 : begin * step), slice.values.size(),
              slice.values.data());
  return slice;
}

Signal join_steps(const std::vector<Signal>& parts) {
  BNTT_CHECK(!parts.empty());
  int64_t steps = 0;
  for (const Signal& part : parts) steps += signal_steps(part);
  if (const auto* first = std::get_if<SpikeTrain>(&parts.front())) {
    SpikeTrain joined(steps, first->batch(), first->shape(), first->plane_weights());
    int64_t begin = 0;
    for (const Signal& part : parts) {
      const auto& spikes = std::get<SpikeTrain>(part);
      const int64_t words = spikes.steps() * spikes.batch() * spikes.words_per_frame();
      for (int64_t plane = 0; plane < spikes.planes(); ++plane) {
        std::copy_n(spikes.frame(plane, 0, 0), words, joined.frame(plane, begin, 0));
      }
      begin += spikes.steps();
    }
    return joined;
  }
  const auto& first = std::get<DenseTrain>(parts.front());
  DenseTrain joined{steps, first.batch, first.shape, false,
                    Buffer<float>(steps * first.batch * first.shape.size())};
  float* to = joined.values.data();
  for (const Signal& part : parts) {
    const auto& dense = std::get<DenseTrain>(part);
    BNTT_CHECK(!dense.constant);
    to = std::copy(dense.values.begin(), dense.values.end(), to);
  }
  return joined;
}

Signal keep_images(const Signal& signal, std::span<const int64_t> images) {
  const auto batch = static_cast<int64_t>(images.size());
  if (const auto* spikes = std::get_if<SpikeTrain>(&signal)) {
    SpikeTrain kept(spikes->steps(), batch, spikes->shape(), spikes->plane_weights());
    for (int64_t plane = 0; plane < spikes->planes(); ++plane) {
      for (int64_t step = 0; step < spikes->steps(); ++step) {
        for (int64_t i = 0; i < batch; ++i) {
          std::copy_n(spikes->frame(plane, step, images[i]), spikes->words_per_frame(),
                      kept.frame(plane, step, i));
        }
      }
    }
    return kept;
  }
  const auto& dense = std::get<DenseTrain>(signal);
  const int64_t frame = dense.shape.size();
  DenseTrain kept{dense.steps, batch, dense.shape, dense.constant,
                  Buffer<float>(dense.stored_steps() * batch * frame)};
  for (int64_t step = 0; step < dense.stored_steps(); ++step) {
    for (int64_t i = 0; i < batch; ++i) {
      std::copy_n(dense.values.data() + (step * dense.batch + images[i]) * frame, frame,
                  kept.values.data() + (step * batch + i) * frame);
    }
  }
  return kept;
}

}  // namespace bntt
