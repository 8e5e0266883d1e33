#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bntt/break_even.h"
#include "bntt/buffer.h"
#include "bntt/network_spec.h"
#include "bntt/norm_state.h"
#include "bntt/precision.h"
#include "bntt/signal.h"

namespace bntt {

/// Numbers that training moves, with their gradient.
struct Parameter {
  enum class Kind { weight, gain };

  std::string name;  ///< as in a state dict: conv1.weight, conv1.norm.weight
  Kind kind = Kind::weight;
  std::vector<int64_t>
      pytorch_shape;  ///< [out, in, 3, 3], [out, in] or, for γ, [step, channel] or [channel]
  int64_t input_channels = 1;  ///< of a weight: with a map of several pixels, less than its inputs
  Buffer<float> value;         ///< weights: [tap or pixel, in, out]; γ: [step or 1, channel]
  Buffer<float> gradient;
};

/// What the forward pass of one stage keeps for the backward pass: per neuron-step one bit and one
/// float, or half of one.
struct StageTrace {
  Buffer<float> current;  ///< [step, batch, y, x, channel]; one step when `current_constant`
  Buffer<uint16_t> half_current;  ///< instead of it, in mixed precision: bf16
  bool current_constant = false;
  NormTrace norm;
  Signal output;  ///< spikes, or the activations of ReLU neurons; nothing for the readout
};

/// What a trace holds.
enum class Keep {
  everything,    ///< for those who look at it
  for_backward,  ///< all but currents that are large and cheap to compute again
};

struct Trace {
  NormMode mode = NormMode::batch;
  Signal input;
  std::vector<StageTrace> stages;
  Buffer<float> logits;  ///< [batch, class]
};

class PreparedNetwork;

/// Everything that a running network remembers from step to step.
struct ChainState {
  int64_t batch = 0;
  int64_t steps_done = 0;  ///< of active_steps(spec)
  std::vector<Buffer<float>>
      membranes;  ///< per stage [batch, y, x, channel]; the readout's: its voltage
  /// The network's weights as they were when the state was started, in the layouts that inference
  /// reads. The network must outlive the state and keep its numbers meanwhile.
  std::shared_ptr<const PreparedNetwork> prepared;
  Buffer<float> first_current;  ///< of the first synapse, for AdvanceOptions::same_input
};

/// Keeps these images, in this order: the others have left the batch.
void keep_images(ChainState& state, std::span<const int64_t> images);

/// Spikes of each stage and step, summed over the images seen. Steps are those of the whole run.
struct Activity {
  std::vector<std::vector<int64_t>> spikes;  ///< [stage][step]
  int64_t images = 0;
};

/// The steps at which each synapse works. At the others it adds 0 to the membrane, as if its
/// current were the mean, and costs nothing.
struct StepWindows {
  std::vector<std::vector<bool>> active;  ///< [stage][step of the run]; empty: always

  bool empty() const { return active.empty(); }
};

struct AdvanceOptions {
  Activity* activity = nullptr;
  const StepWindows* windows = nullptr;
  /// The constant input of this window is that of all windows so far: the first synapse runs once.
  bool same_input = false;
  /// Called for every stage with its local first step, what it got and what it gives.
  std::function<void(std::size_t stage, int64_t first, const Signal& input, const Signal& output)>
      observe;
};

class Stage;
struct StageNumbers;

/// The whole chain, forward and backward, over windows of steps.
class Network {
 public:
  /// Weights are Xavier-uniform with gain 2, drawn from the seed alone; every γ is 1.
  Network(NetworkSpec spec, uint64_t seed);
  Network(Network&&) noexcept;
  Network& operator=(Network&&) noexcept;
  ~Network();

  const NetworkSpec& spec() const { return spec_; }
  const std::vector<StagePlan>& stages() const { return plans_; }
  std::vector<Parameter>& parameters() { return parameters_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }
  std::vector<RunningStatistics>& statistics() { return statistics_; }
  const std::vector<RunningStatistics>& statistics() const { return statistics_; }

  /// When each stage's convolution goes dense; one entry per stage.
  const std::vector<BreakEven>& break_even() const { return break_even_; }
  void set_break_even(std::vector<BreakEven> break_even);

  Precision precision() const { return precision_; }
  void set_precision(Precision precision) { precision_ = precision; }

  /// γ of a stage, or null where its norm has none.
  const Parameter* gain(std::size_t stage) const;

  /// One window of all active steps, kept for backward. The input has active_steps(spec) steps.
  Trace forward(Signal input, NormMode mode, Keep keep = Keep::everything);

  /// Fills every parameter's gradient; with `input_gradient`, also that of the input
  /// [stored step, batch, y, x, channel]. Frees the trace as it goes: hand it over by std::move.
  void backward(Trace trace, const Buffer<float>& logits_gradient,
                Buffer<float>* input_gradient = nullptr);

  /// Inference without a trace: `start`, then `advance` by windows of any length gives the same
  /// bits as one window.
  ChainState start(int64_t batch) const;
  /// Back to rest, for the next images of the same network: keeps what start() prepared.
  void restart(ChainState& state, int64_t batch) const;
  void advance(const Signal& window, ChainState& state, const AdvanceOptions& options) const;
  void advance(const Signal& window, ChainState& state, Activity* activity = nullptr) const {
    advance(window, state, AdvanceOptions{.activity = activity});
  }
  /// The readout's voltage so far, divided by the spec's steps if the spec says so: [batch, class].
  Buffer<float> logits(const ChainState& state) const;

 private:
  StageNumbers numbers(std::size_t stage, const PreparedNetwork& prepared) const;
  std::shared_ptr<const PreparedNetwork> prepare() const;
  float readout_scale() const;
  int64_t images_together(int64_t steps) const;
  void advance_together(const Signal& window, ChainState& state,
                        const AdvanceOptions& options) const;
  void check_window(const Signal& window, int64_t steps_left) const;
  void count_activity(std::size_t stage, int64_t first, const Signal& output,
                      Activity& activity) const;

  NetworkSpec spec_;
  std::vector<StagePlan> plans_;
  std::vector<Parameter> parameters_;          // weight, then γ if any, stage by stage
  std::vector<RunningStatistics> statistics_;  // one per stage
  std::vector<std::size_t> weight_index_;      // of each stage, in parameters_
  std::vector<std::unique_ptr<Stage>> stages_;
  std::vector<BreakEven> break_even_;
  Precision precision_ = Precision::fp32;
};

/// [tap or pixel, in, out] as kept in memory to [out, in, tap or pixel] as PyTorch has it, and
/// back.
Buffer<float> to_pytorch_order(const Parameter& parameter, const Buffer<float>& values);
Buffer<float> from_pytorch_order(const Parameter& parameter, const Buffer<float>& values);

}  // namespace bntt
