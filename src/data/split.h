#pragma once

#include <cstdint>

namespace bntt {

/// Images begin to end - 1 of a set.
struct SampleRange {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t size() const { return end - begin; }
  bool operator==(const SampleRange&) const = default;
};

struct Split {
  SampleRange train;
  SampleRange validation;
};

/// The last `validation_fraction` of the training order, rounded to whole images, is used for
/// validation.
Split split_training(int64_t images, double validation_fraction = 0.1);

}  // namespace bntt
