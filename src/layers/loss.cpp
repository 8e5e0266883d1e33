#include "layers/loss.h"

#include <algorithm>
#include <cmath>

namespace bntt {

CrossEntropy cross_entropy(const Buffer<float>& logits, std::span<const int64_t> labels) {
  const auto batch = static_cast<int64_t>(labels.size());
  const int64_t classes = logits.size() / batch;
  CrossEntropy result{.gradient = Buffer<float>(logits.size())};
  for (int64_t image = 0; image < batch; ++image) {
    const float* z = logits.data() + image * classes;
    const float* largest = std::max_element(z, z + classes);
    double sum = 0.0;
    for (int64_t k = 0; k < classes; ++k) sum += std::exp(static_cast<double>(z[k]) - *largest);
    const int64_t label = labels[image];
    result.loss += std::log(sum) - (static_cast<double>(z[label]) - *largest);
    result.correct += largest - z == label ? 1 : 0;
    for (int64_t k = 0; k < classes; ++k) {
      const double probability = std::exp(static_cast<double>(z[k]) - *largest) / sum;
      result.gradient[image * classes + k] =
          static_cast<float>((probability - (k == label ? 1.0 : 0.0)) / static_cast<double>(batch));
    }
  }
  result.loss /= static_cast<double>(batch);
  return result;
}

}  // namespace bntt
