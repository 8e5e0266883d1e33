#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/threads.h"
#include "bntt/network.h"

namespace bntt {

struct OptimizerOptions {
  double momentum = 0.9;  ///< of sgd
  double weight_decay = 5e-4;
  bool decay_gamma = true;  ///< whether weight decay pulls γ too
  double clip_norm = 0.0;   ///< largest norm of all gradients together; 0: no limit
  double beta1 = 0.9;       ///< the other four are adam's
  double beta2 = 0.999;
  double epsilon = 1e-8;
  bool amsgrad = false;
};

/// Moves the parameters of a network against their gradients, as PyTorch's optimiser of that name.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  void step(Network& network, double learning_rate);

  /// What is remembered of the gradients: one number for every number of the network.
  struct Memory {
    std::string prefix;                 ///< of the parameters' names in a checkpoint
    std::vector<Buffer<float>> values;  ///< [parameter], in the parameter's own order
  };
  std::vector<Memory>& memories() { return memories_; }
  const std::vector<Memory>& memories() const { return memories_; }

  int64_t steps_done() const { return steps_done_; }
  void set_steps_done(int64_t steps) { steps_done_ = steps; }

 protected:
  Optimizer(const Network& network, const OptimizerOptions& options,
            const std::vector<std::string>& prefixes);

  /// scale · gradient + decay · value: clipped, and with the gradient of the L2 penalty.
  struct Pull {
    const float* gradient = nullptr;
    float scale = 1.0F;
    float decay = 0.0F;

    float on(float value, int64_t k) const { return scale * gradient[k] + decay * value; }
  };
  /// One step of parameter `index`; steps_done() counts the steps before it.
  virtual void move(std::size_t index, const Pull& pull, double learning_rate,
                    std::span<float> value) = 0;

  float* memory(std::size_t which, std::size_t index) {
    return memories_[which].values[index].data();
  }
  const OptimizerOptions& options() const { return options_; }

  /// Runs body(k) for every k below `size`, in parallel.
  template <typename Body>
  static void for_each_number(int64_t size, const Body& body) {
    constexpr int64_t kBlock = 1 << 14;
    parallel_for((size + kBlock - 1) / kBlock, [&](int64_t block) {
      const int64_t end = std::min(size, (block + 1) * kBlock);
      for (int64_t k = block * kBlock; k < end; ++k) body(k);
    });
  }

 private:
  OptimizerOptions options_;
  std::vector<Memory> memories_;
  int64_t steps_done_ = 0;
};

using MakeOptimizer = std::unique_ptr<Optimizer> (*)(const Network& network,
                                                     const OptimizerOptions& options);
struct OptimizerEntry {
  const char* name;
  const char* meaning;
  MakeOptimizer make;
};
/// Every kind of optimiser there is.
std::span<const OptimizerEntry> optimizer_table();

/// Throws Error for an unknown kind, with the nearest known one.
std::unique_ptr<Optimizer> make_optimizer(std::string_view kind, const Network& network,
                                          const OptimizerOptions& options);

}  // namespace bntt
