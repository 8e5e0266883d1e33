#include "learn/sgd.h"

#include "learn/optimizers.h"

namespace bntt {

void Sgd::move(std::size_t index, const Pull& pull, double learning_rate, std::span<float> value) {
  const auto momentum = static_cast<float>(options().momentum);
  const auto rate = static_cast<float>(learning_rate);
  float* velocity = memory(0, index);
  for_each_number(std::ssize(value), [=](int64_t k) {
    velocity[k] = momentum * velocity[k] + pull.on(value[k], k);
    value[k] -= rate * velocity[k];
  });
}

}  // namespace bntt
