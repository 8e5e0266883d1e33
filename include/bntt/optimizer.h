#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bntt/api.h"
#include "bntt/buffer.h"
#include "bntt/kind_info.h"
#include "bntt/network.h"

namespace bntt {

/// Which optimiser, and its parameters.
struct OptimizerOptions {
  std::string kind = "sgd";  ///< a name of optimizer_kinds()
  double momentum = 0.9;     ///< of sgd
  double weight_decay = 5e-4;
  bool decay_gamma = true;  ///< whether weight decay applies to γ too
  double clip_norm = 0.0;   ///< largest norm of all gradients together; 0: no limit
  double beta1 = 0.9;       ///< the other four are adam's
  double beta2 = 0.999;
  double epsilon = 1e-8;
  bool amsgrad = false;
};

/// Moves the parameters of a network against their gradients, as PyTorch's optimiser of that name.
/// One thread at a time may use an optimiser.
class BNTT_API Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// Takes the gradients of the last backward pass. Throws Error unless the network is the one that
  /// the optimiser was made for, or has its shapes, and has gradients; and for a learning rate that
  /// is negative or not finite.
  void step(Network& network, double learning_rate);

  /// What is remembered of the gradients: one number for every number of the network.
  struct Memory {
    std::string prefix;                 ///< of the parameters' names in a checkpoint
    std::vector<Buffer<float>> values;  ///< [parameter], in the parameter's own order
  };
  /// To be saved, and filled when training is resumed.
  std::vector<Memory>& memories() { return memories_; }
  const std::vector<Memory>& memories() const { return memories_; }

  int64_t steps_done() const { return steps_done_; }
  /// Throws Error for less than 0.
  void set_steps_done(int64_t steps);

 protected:
  /// `prefixes` has one entry for each memory. Throws Error for options out of range.
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

 private:
  void expect_fitting(const Network& network) const;

  OptimizerOptions options_;
  std::size_t memory_count_;
  std::vector<Memory> memories_;
  int64_t steps_done_ = 0;
};

/// The kinds of optimiser.
BNTT_API std::vector<KindInfo> optimizer_kinds();

/// Throws Error for an unknown kind, with the nearest known one, and for options out of range.
BNTT_API std::unique_ptr<Optimizer> make_optimizer(const Network& network,
                                                   const OptimizerOptions& options);

}  // namespace bntt
