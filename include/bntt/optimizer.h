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

/// The kind of optimiser, and its parameters.
struct OptimizerOptions {
  std::string kind = "sgd";        ///< a name of optimizer_kinds()
  double momentum = 0.9;           ///< for sgd
  double weight_decay = 5e-4;      ///< the factor of the L2 penalty
  bool decay_gamma = true;         ///< whether weight decay applies to γ too
  double clip_norm = 0.0;          ///< limit for the norm of all gradients together; 0: no limit
  double beta1 = 0.9;              ///< this and the next three are for adam
  double beta2 = 0.999;            ///< decay of the mean square
  double epsilon = 1e-8;           ///< added to the root of the mean square
  bool amsgrad = false;            ///< divide by the largest mean square so far
  double dense_rate_factor = 1.0;  ///< on the learning rate of fully connected stages
};

/// Moves the parameters of a network against their gradients, like PyTorch's optimiser of the same
/// name. Only one thread at a time may use an optimiser.
class BNTT_API Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// Uses the gradients of the last backward pass. Throws Error unless the network has gradients
  /// and is the one that the optimiser was created for, or has the same shapes; and for a learning
  /// rate that is negative or not finite.
  void step(Network& network, double learning_rate);

  /// The state kept from step to step. One value per network parameter.
  struct Memory {
    std::string prefix;                 ///< of the parameters' names in a checkpoint
    std::vector<Buffer<float>> values;  ///< [parameter], in the parameter's own order
  };
  /// Save these, and restore them when training is resumed.
  /// @{
  std::vector<Memory>& memories() { return memories_; }
  const std::vector<Memory>& memories() const { return memories_; }
  /// @}

  int64_t steps_done() const { return steps_done_; }  ///< counts calls of `step`
  /// Throws Error for a negative number.
  void set_steps_done(int64_t steps);

 protected:
  /// `prefixes` has one entry per memory. Throws Error for options out of range.
  Optimizer(const Network& network, const OptimizerOptions& options,
            const std::vector<std::string>& prefixes);

  /// scale · gradient + decay · value: clipped, and including the gradient of the L2 penalty.
  struct Pull {
    const float* gradient = nullptr;  ///< of the parameter
    float scale = 1.0F;               ///< of the gradient
    float decay = 0.0F;               ///< of the value

    /// Of element k, which has this value; the index is not checked.
    float on(float value, int64_t k) const { return scale * gradient[k] + decay * value; }
  };
  /// Updates parameter `index`; steps_done() counts the steps before this one.
  virtual void move(std::size_t index, const Pull& pull, double learning_rate,
                    std::span<float> value) = 0;

  /// The values of parameter `index` in memory `which`; indices are not checked.
  float* memory(std::size_t which, std::size_t index) {
    return memories_[which].values[index].data();
  }
  const OptimizerOptions& options() const { return options_; }  ///< as given to the constructor

 private:
  void expect_fitting(const Network& network) const;

  OptimizerOptions options_;
  std::size_t memory_count_;
  std::vector<Memory> memories_;
  std::vector<double> rate_factors_;  // [parameter]
  int64_t steps_done_ = 0;
};

/// The kinds of optimiser. May be called from several threads, as may make_optimizer.
BNTT_API std::vector<KindInfo> optimizer_kinds();

/// Throws Error for options out of range, and for an unknown kind, with the nearest known one.
BNTT_API std::unique_ptr<Optimizer> make_optimizer(const Network& network,
                                                   const OptimizerOptions& options);

}  // namespace bntt
