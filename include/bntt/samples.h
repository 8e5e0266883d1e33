#pragma once

#include <cstdint>
#include <span>

#include "bntt/api.h"
#include "bntt/batch.h"
#include "bntt/images.h"

namespace bntt {

/// Labelled training samples from any source: derive from this class to read them from a file, a
/// camera or a generator, and to augment them. A trainer calls them only on the thread that runs
/// it; whether several trainers may share an object is up to the derived class.
class BNTT_API Samples {
 public:
  virtual ~Samples() = default;

  /// At least 1; it must not change while a trainer uses the samples.
  virtual int64_t size() const = 0;

  /// The samples with these indices (0 to size() − 1), in this order: their labels, their ids, and
  /// images or counts in the network's own shape. The random spikes of a sample depend on its id.
  /// `epoch` counts from 0; samples may differ from epoch to epoch. A trainer calls this on the
  /// thread that runs it.
  virtual Batch batch(std::span<const int64_t> samples, uint32_t epoch) = 0;
};

/// Images in memory with their labels; the id of an image is its index. Several threads may use one
/// object.
class BNTT_API LabelledImages final : public Samples {
 public:
  /// Pixels and labels must outlive this object. Throws Error unless there are as many pixels as
  /// the images need, and one label of at least 0 for each image.
  LabelledImages(const Images& images, std::span<const int64_t> labels);

  int64_t size() const override { return images_.count; }
  /// Throws Error for an index out of range.
  Batch batch(std::span<const int64_t> samples, uint32_t epoch) override;

 private:
  Images images_;
  std::span<const int64_t> labels_;
};

}  // namespace bntt
