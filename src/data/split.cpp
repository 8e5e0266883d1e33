#include "data/split.h"

#include <cmath>

#include "base/fail.h"

namespace bntt {

Split split_training(int64_t images, double validation_fraction) {
  if (!(validation_fraction >= 0.0 && validation_fraction < 1.0)) {
    fail("the validation fraction is {}, expected at least 0 and less than 1", validation_fraction);
  }
  const int64_t validation = std::llround(static_cast<double>(images) * validation_fraction);
  const int64_t train = images - validation;
  if (train < 1) {
    fail("a validation fraction of {} leaves none of {} images for training, expected at least 1",
         validation_fraction, images);
  }
  return {.train = {0, train}, .validation = {train, images}};
}

}  // namespace bntt
