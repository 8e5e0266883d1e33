#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "bntt/api.h"
#include "bntt/buffer.h"
#include "bntt/shape.h"

namespace bntt {

/// The spikes of up to 64 channels at one pixel.
using SpikeWord = uint64_t;
/// Bits of a SpikeWord.
inline constexpr int64_t kSpikesPerWord = 64;

/// Spikes of a whole map over some steps, as bit planes packed along channels: bit c % 64 of word c
/// / 64. A value is the sum over planes of plane weight x bit: {1} for hidden spikes, {+1, -1} for
/// signed input, {1, 2, 4, ...} for event counts. Bits past the last channel must be zero;
/// check_signal verifies it. Threads may share one as they may a std::vector.
class BNTT_API SpikeTrain {
 public:
  SpikeTrain() = default;
  /// Without any spikes. Throws Error unless all sizes are at least 1 and there is a plane.
  SpikeTrain(int64_t steps, int64_t batch, MapShape shape,
             std::vector<float> plane_weights = {1.0F});

  int64_t steps() const { return steps_; }          ///< 0 for an empty train
  int64_t batch() const { return batch_; }          ///< number of images
  const MapShape& shape() const { return shape_; }  ///< of one image
  int64_t planes() const {
    return static_cast<int64_t>(plane_weights_.size());
  }  ///< number of bit planes
  const std::vector<float>& plane_weights() const { return plane_weights_; }  ///< [plane]
  int64_t words_per_pixel() const { return words_per_pixel_; }                ///< of one plane
  /// Of one plane, image and step.
  int64_t words_per_frame() const { return words_per_pixel_ * shape_.pixels(); }

  /// The words of one image at one step: [y, x, word]. Indices are not checked.
  /// @{
  SpikeWord* frame(int64_t plane, int64_t step, int64_t image) {
    return words_.data() + ((plane * steps_ + step) * batch_ + image) * words_per_frame();
  }
  const SpikeWord* frame(int64_t plane, int64_t step, int64_t image) const {
    return words_.data() + ((plane * steps_ + step) * batch_ + image) * words_per_frame();
  }
  /// @}
  /// All words: [plane, step, batch, y, x, word].
  /// @{
  Buffer<SpikeWord>& words() { return words_; }
  const Buffer<SpikeWord>& words() const { return words_; }
  /// @}

  /// The sum over the planes. Throws Error for an index out of range.
  float value(int64_t step, int64_t image, int64_t y, int64_t x, int64_t channel) const;
  /// Sets one bit. Throws Error for an index out of range.
  void set(int64_t plane, int64_t step, int64_t image, int64_t y, int64_t x, int64_t channel);

 private:
  int64_t checked_word(int64_t step, int64_t image, int64_t y, int64_t x, int64_t channel) const;

  int64_t steps_ = 0;
  int64_t batch_ = 0;
  MapShape shape_{0, 0, 0};
  int64_t words_per_pixel_ = 0;
  std::vector<float> plane_weights_;
  Buffer<SpikeWord> words_;  // [plane, step, batch, y, x, word]
};

/// Real values of a whole map: a direct-encoded image, event counts, or the activations of an ANN.
/// With `constant` one step is stored and used for every step.
struct DenseTrain {
  int64_t steps = 1;      ///< steps that it stands for
  int64_t batch = 0;      ///< number of images
  MapShape shape;         ///< of one image
  bool constant = false;  ///< the same at every step
  Buffer<float> values;   ///< [step, batch, y, x, channel]

  int64_t stored_steps() const { return constant ? 1 : steps; }  ///< steps that `values` holds
};

/// The output of a stage, or the input of a network.
using Signal = std::variant<SpikeTrain, DenseTrain>;

/// The number of steps, whether stored or constant. Thread-safe, as all functions here are.
BNTT_API int64_t signal_steps(const Signal& signal);
/// The number of images.
BNTT_API int64_t signal_batch(const Signal& signal);
/// The map of one image; part of the signal.
BNTT_API const MapShape& signal_shape(const Signal& signal);

/// Throws Error unless the signal is valid for the kernels: sizes of at least 1, a matching number
/// of words or values, finite plane weights, no bit past the last channel. Reads at most one word
/// of each pixel.
BNTT_API void check_signal(const Signal& signal);

/// Steps [begin, begin + count) of a signal. Throws Error if it has no such steps.
BNTT_API Signal slice_steps(const Signal& signal, int64_t begin, int64_t count);
/// The steps of all parts, one after the other. Throws Error unless the parts have the same kind,
/// shape and batch, and none is constant.
BNTT_API Signal join_steps(const std::vector<Signal>& parts);
/// These images of a signal, in this order. Throws Error if an image does not exist or the list is
/// empty.
BNTT_API Signal keep_images(const Signal& signal, std::span<const int64_t> images);

}  // namespace bntt
