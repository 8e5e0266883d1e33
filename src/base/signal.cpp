#include "bntt/signal.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>

#include "base/fail.h"

namespace bntt {
namespace {

/// The product of counts, each at least 1.
int64_t checked_size(const char* what,
                     std::initializer_list<std::pair<const char*, int64_t>> counts) {
  constexpr int64_t kMost = int64_t{1} << 56;  // leaves room for the size of each in bytes
  int64_t size = 1;
  for (const auto& [name, count] : counts) {
    if (count < 1) fail("{}: the number of {} is {}, expected at least 1", what, name, count);
    if (count > kMost / size) fail("{}: {} {} are too many for any memory", what, count, name);
    size *= count;
  }
  return size;
}

void check_index(const char* what, int64_t index, int64_t count) {
  if (index < 0 || index >= count) {
    fail("spike train: the {} is {}, expected 0 to {}", what, index, count - 1);
  }
}

int64_t words_for(int64_t channels) {
  return channels / kSpikesPerWord + (channels % kSpikesPerWord == 0 ? 0 : 1);
}

int64_t word_count(int64_t planes, int64_t steps, int64_t batch, const MapShape& shape) {
  checked_size("spike train", {{"planes", planes},
                               {"steps", steps},
                               {"images", batch},
                               {"rows", shape.height},
                               {"columns", shape.width},
                               {"channels", shape.channels}});
  return planes * steps * batch * shape.pixels() * words_for(shape.channels);
}

void check_sizes(const SpikeTrain& train) {
  const int64_t expected = word_count(train.planes(), train.steps(), train.batch(), train.shape());
  if (train.words().size() != expected) {
    fail("spike train: it holds {} words, expected {} for its shape", train.words().size(),
         expected);
  }
}

void check_sizes(const DenseTrain& train) {
  checked_size("dense train", {{"steps", train.steps}});
  const int64_t expected = checked_size("dense train", {{"stored steps", train.stored_steps()},
                                                        {"images", train.batch},
                                                        {"rows", train.shape.height},
                                                        {"columns", train.shape.width},
                                                        {"channels", train.shape.channels}});
  if (train.values.size() != expected) {
    fail("dense train: it holds {} values, expected {} for its shape", train.values.size(),
         expected);
  }
}

void check_sizes(const Signal& signal) {
  std::visit([](const auto& train) { check_sizes(train); }, signal);
}

void check_bits(const SpikeTrain& train) {
  const int64_t used = train.shape().channels % kSpikesPerWord;
  if (used == 0) return;
  const int64_t stride = train.words_per_pixel();
  SpikeWord any = 0;
  for (int64_t i = stride - 1; i < train.words().size(); i += stride) any |= train.words()[i];
  if (any >> used != 0) {
    fail("spike train: a bit past its {} channels is set, expected zeros there",
         train.shape().channels);
  }
}

}  // namespace

SpikeTrain::SpikeTrain(int64_t steps, int64_t batch, MapShape shape,
                       std::vector<float> plane_weights)
    : steps_(steps),
      batch_(batch),
      shape_(shape),
      words_per_pixel_(words_for(shape.channels)),
      plane_weights_(std::move(plane_weights)),
      words_(Buffer<SpikeWord>::zeros(word_count(planes(), steps, batch, shape))) {}

int64_t SpikeTrain::checked_word(int64_t step, int64_t image, int64_t y, int64_t x,
                                 int64_t channel) const {
  check_index("step", step, steps_);
  check_index("image", image, batch_);
  check_index("row", y, shape_.height);
  check_index("column", x, shape_.width);
  check_index("channel", channel, shape_.channels);
  if (words_.size() != planes() * steps_ * batch_ * words_per_frame()) {
    fail("spike train: it holds {} words, which are not those of its shape", words_.size());
  }
  return (y * shape_.width + x) * words_per_pixel_ + channel / kSpikesPerWord;
}

float SpikeTrain::value(int64_t step, int64_t image, int64_t y, int64_t x, int64_t channel) const {
  const int64_t word = checked_word(step, image, y, x, channel);
  float sum = 0.0F;
  for (int64_t plane = 0; plane < planes(); ++plane) {
    const SpikeWord bits = frame(plane, step, image)[word];
    if (((bits >> (channel % kSpikesPerWord)) & 1) != 0) sum += plane_weights_[plane];
  }
  return sum;
}

void SpikeTrain::set(int64_t plane, int64_t step, int64_t image, int64_t y, int64_t x,
                     int64_t channel) {
  check_index("plane", plane, planes());
  const int64_t word = checked_word(step, image, y, x, channel);
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

void check_signal(const Signal& signal) {
  check_sizes(signal);
  const auto* spikes = std::get_if<SpikeTrain>(&signal);
  if (spikes == nullptr) return;
  for (const float weight : spikes->plane_weights()) {
    if (!std::isfinite(weight)) {
      fail("spike train: a plane weighs {}, expected a finite number", weight);
    }
  }
  check_bits(*spikes);
}

Signal slice_steps(const Signal& signal, int64_t begin, int64_t count) {
  check_sizes(signal);
  if (begin < 0 || count < 1 || begin > signal_steps(signal) - count) {
    fail("signal: {} steps from step {} on are out of range, the signal has {}", count, begin,
         signal_steps(signal));
  }
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

namespace {

void expect_joinable(const Signal& first, const Signal& part) {
  const auto* spikes = std::get_if<SpikeTrain>(&part);
  const bool alike =
      part.index() == first.index() && signal_batch(part) == signal_batch(first) &&
      signal_shape(part) == signal_shape(first) &&
      (spikes == nullptr || spikes->plane_weights() == std::get<SpikeTrain>(first).plane_weights());
  if (!alike) fail("signal: parts to join differ in kind, images, shape or planes");
  if (spikes == nullptr && std::get<DenseTrain>(part).constant) {
    fail("signal: a part to join is constant, expected one with values of every step");
  }
}

}  // namespace

Signal join_steps(const std::vector<Signal>& parts) {
  if (parts.empty()) fail("signal: nothing to join, expected at least one part");
  int64_t steps = 0;
  for (const Signal& part : parts) {
    check_sizes(part);
    expect_joinable(parts.front(), part);
    steps += signal_steps(part);
  }
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
    to = std::copy(dense.values.begin(), dense.values.end(), to);
  }
  return joined;
}

Signal keep_images(const Signal& signal, std::span<const int64_t> images) {
  check_sizes(signal);
  if (images.empty()) fail("signal: no images to keep, expected at least one");
  for (const int64_t image : images) {
    if (image < 0 || image >= signal_batch(signal)) {
      fail("signal: the image is {}, expected 0 to {}", image, signal_batch(signal) - 1);
    }
  }
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
