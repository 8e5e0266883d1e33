#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bntt/api.h"
#include "bntt/break_even.h"
#include "bntt/buffer.h"
#include "bntt/network_spec.h"
#include "bntt/norm_state.h"
#include "bntt/parameter.h"
#include "bntt/precision.h"
#include "bntt/signal.h"

namespace bntt {

/// What the forward pass of a branch keeps for the backward pass: one float per neuron-step, or
/// half of one.
struct BranchTrace {
  Buffer<float> current;  ///< [stored step, batch, y, x, channel]; one step if `current_constant`;
                          ///< without the bias
  Buffer<uint16_t> half_current;  ///< instead of it, in mixed precision: bf16
  bool current_constant = false;  ///< whether one step of currents stands for all
  /// Where the currents of each step lie, if some steps are switched off: those have a scale of 0,
  /// no currents of their own, and share a neighbour's. Empty: one step after the other.
  std::vector<int64_t> stored_steps;
  NormTrace norm;  ///< what the norm needs
};

/// A stage's output after dropout.
struct DroppedOutput {
  SpikeTrain kept;  ///< where it was kept; one step for all, unless each step has its own draw
  Signal output;    ///< for the readers: times 1/(1 − p)
};

/// What the forward pass of one stage keeps for the backward pass: what its branches keep, and one
/// bit per neuron-step; one more with dropout.
struct StageTrace {
  std::vector<BranchTrace> branches;  ///< [branch]
  Signal output;  ///< spikes, or the values of neurons relu and none; for the readout its
                  ///< normalised currents
  std::optional<DroppedOutput> dropped;  ///< what the readers get instead

  /// What the readers get: the output after any dropout.
  const Signal& handed_on() const { return dropped ? dropped->output : output; }
};

/// The dropout masks are a pure function of these and the position.
struct DropoutDraws {
  uint64_t seed = 0;              ///< of the run
  uint32_t epoch = 0;             ///< counted from 0
  std::vector<uint32_t> samples;  ///< the id of each image
};

/// What a trace holds.
enum class Keep {
  everything,    ///< for callers that inspect it
  for_backward,  ///< all but currents that are large and cheap to recompute
};

/// What a forward pass keeps.
struct Trace {
  NormMode mode = NormMode::batch;  ///< of the forward pass
  Signal input;                     ///< of the network
  std::vector<StageTrace> stages;   ///< [stage]
  Buffer<float> logits;             ///< [batch, class]
};

class PreparedNetwork;

/// The state of a running network from step to step. Only one thread at a time may use a state;
/// states of one network may run in several threads.
struct ChainState {
  int64_t batch = 0;                     ///< number of images
  int64_t steps_done = 0;                ///< of active_steps(spec)
  std::vector<Buffer<float>> membranes;  ///< per stage [batch, y, x, channel], empty for neurons
                                         ///< without state; the readout's: its voltage
  /// The network's weights at the time the state was started, in the layouts that inference reads.
  /// The network must outlive the state, and its numbers must not change meanwhile: see
  /// Network::advance.
  std::shared_ptr<const PreparedNetwork> prepared;
  /// Currents of branches with constant input, for AdvanceOptions::same_input: [stage][branch].
  std::vector<std::vector<Buffer<float>>> constant_currents;
};

/// Keeps these images, in this order, and removes the others from the batch. Throws Error for an
/// image that does not exist, and if the list is empty.
BNTT_API void keep_images(ChainState& state, std::span<const int64_t> images);

/// Spikes of each stage and step, summed over the images seen. Steps are those of the whole run.
struct Activity {
  std::vector<std::vector<int64_t>> spikes;  ///< [stage][step]
  int64_t images = 0;                        ///< number of images seen
};

/// The steps at which the synapses of each stage are active. At other steps they add 0 to the
/// membrane, as if their current were the mean, and cost nothing.
struct StepWindows {
  std::vector<std::vector<bool>> active;  ///< [stage][step of the run]; empty: always

  bool empty() const { return active.empty(); }  ///< whether all synapses always work
};

/// The steps at which each branch works, as learned in training. At the others its row of γ is 0
/// for good: it adds nothing, no gradient reaches its weights or its input, and its work is left
/// out.
struct LearnedWindows {
  /// [stage][branch][step of the run]; empty: always
  std::vector<std::vector<std::vector<bool>>> active;

  bool empty() const { return active.empty(); }  ///< whether all branches always work
  bool operator==(const LearnedWindows&) const = default;
};

/// Options of inference.
struct AdvanceOptions {
  Activity* activity = nullptr;          ///< where spikes are counted; null: nowhere
  const StepWindows* windows = nullptr;  ///< steps to skip besides the learned ones; null: none
  /// The input is constant and the same as in all earlier windows: its synapses run once. The
  /// caller guarantees this; it is not checked. No effect on inputs that are not constant.
  bool same_input = false;
  /// Called for every stage with its local first step, the inputs of its branches (sums of their
  /// sources) and its output, which are valid during the call. Called on the thread that called
  /// advance; an exception leaves the state undefined, so restart it.
  std::function<void(std::size_t stage, int64_t first, const std::vector<const Signal*>& inputs,
                     const Signal& output)>
      observe;
};

class Stage;
struct Place;
struct ParameterDeclaration;
struct StatisticDeclaration;
struct StageNumbers;

/// A network, forward and backward. Threads may share its const members, not forward or backward.
/// After a network was moved from, functions that read its numbers throw Error.
class BNTT_API Network {
 public:
  /// Throws Error for a spec that does not describe a network. Parameters start with their declared
  /// values: weights drawn from the spec's Init, as a function of the seed alone, gains 1, shifts
  /// and biases 0.
  Network(NetworkSpec spec, uint64_t seed);
  /// A network whose numbers are undefined, for callers that fill in all of them.
  static Network unfilled(NetworkSpec spec) { return {std::move(spec), std::nullopt}; }
  /// States that were started before belong to the new object.
  /// @{
  Network(Network&&) noexcept;
  Network& operator=(Network&&) noexcept;
  /// @}
  ~Network();
  /// Another network with the same numbers and settings; gradients are not copied.
  Network copy() const;

  const NetworkSpec& spec() const { return spec_; }  ///< what it was made from
  const std::vector<StagePlan>& stages() const {
    return plans_;
  }  ///< its stages with everything derived from the spec
  /// Stage by stage: for every branch those of the synapse and the norm, then those of the neurons.
  /// @{
  std::vector<Parameter>& parameters() { return parameters_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }
  /// @}
  /// Stage by stage and branch by branch: those of the norms.
  /// @{
  std::vector<Statistic>& statistics() { return statistics_; }
  const std::vector<Statistic>& statistics() const { return statistics_; }
  /// @}

  /// The densities above which each synapse goes dense; one entry per branch, stage by stage.
  const std::vector<BreakEven>& break_even() const { return break_even_; }
  /// Throws Error unless there is one entry per branch, of finite numbers. A density below 0
  /// means always dense.
  void set_break_even(std::vector<BreakEven> break_even);

  /// For each branch: the scale of every output channel if its weights are int8, otherwise empty.
  /// Weight = scale · q, with a whole q from −127 to 127. Spikes then
  /// add up integers, exactly; real values are multiplied by the weights as floats.
  const std::vector<std::vector<float>>& weight_scales() const { return weight_scales_; }
  /// Throws Error unless there is an entry per branch, which is empty or has a positive scale for
  /// every output channel, and all weights are such products. A network with scales can no longer
  /// be trained. States that were started before become invalid.
  void set_weight_scales(std::vector<std::vector<float>> scales);
  /// Whether any weights are int8: such a network runs, but is not trained, and has no gradients.
  bool quantised() const;

  Precision precision() const { return precision_; }  ///< of forward and backward
  /// Throws Error for a number that is not a value of Precision.
  void set_precision(Precision precision);

  /// Empty unless steps are switched off.
  const LearnedWindows& windows() const { return windows_; }
  /// Switches steps off, and sets their rows of γ to 0. Throws Error unless there is one entry for
  /// each branch and step of the run, if a branch would have none of its active steps left, or if
  /// steps are off in a branch for which can_switch_steps() is false.
  void set_windows(LearnedWindows windows);
  /// The windows used when `others` is given: a stage is skipped where `others` says so or all its
  /// branches are off. Empty: nothing is skipped. Throws Error for a different shape.
  StepWindows stage_windows(const StepWindows& others = {}) const;

  // The next four throw Error for a stage or branch that does not exist.

  /// Whether a step of this branch can be switched off: its norm has a gain for every step, no
  /// shift, and statistics of every step alone.
  bool can_switch_steps(std::size_t stage, std::size_t branch) const;
  /// γ of a branch, or null if its norm has none.
  const Parameter* gain(std::size_t stage, std::size_t branch = 0) const;
  /// The statistics of a branch's norm.
  std::span<const Statistic> norm_statistics(std::size_t stage, std::size_t branch = 0) const;
  /// The parameters of a stage's neurons.
  std::span<const Parameter> neuron_parameters(std::size_t stage) const;

  /// One window of all active steps, with a trace for backward. The input has active_steps(spec)
  /// steps. Dropout, which belongs to training, is applied only if `dropout` is given. Throws Error
  /// for an input of a different shape, for a number that is not a value of NormMode or Keep, and,
  /// like the functions below, if a parameter or statistic no longer has its declared size.
  Trace forward(Signal input, NormMode mode, Keep keep = Keep::everything,
                const DropoutDraws* dropout = nullptr);

  /// The logits of each step on its own: [step, batch, class]. Without a leak, the logits are their
  /// sum over the steps, or the mean. Throws Error for the trace of another network.
  Buffer<float> step_logits(const Trace& trace) const;

  /// Fills every parameter's gradient, which is allocated by the first call; with `input_gradient`,
  /// also that of the input [stored step, batch, y, x, channel]. Frees the trace on the way: pass
  /// it with std::move. Throws Error for the trace of another network and for a gradient of a
  /// different size.
  void backward(Trace trace, const Buffer<float>& logits_gradient,
                Buffer<float>* input_gradient = nullptr);
  /// The same from the gradient of step_logits(): [step, batch, class].
  void backward_from_steps(Trace trace, const Buffer<float>& step_gradient,
                           Buffer<float>* input_gradient = nullptr);

  /// Inference without a trace: `start`, then `advance` with windows of any length gives the same
  /// bits as one window. All throw Error for the state of another network, for a batch below 1, and
  /// for an input that does not fit.
  ChainState start(int64_t batch) const { return start(batch, prepare()); }
  /// Resets the state to rest, for the next images of the same network: keeps what start()
  /// prepared.
  void restart(ChainState& state, int64_t batch) const;
  /// Runs a window of one or more steps. Throws Error also if the weights or scales of the network
  /// were replaced after the state was started.
  void advance(const Signal& window, ChainState& state, const AdvanceOptions& options) const;
  /// The same, counting spikes if `activity` is given.
  void advance(const Signal& window, ChainState& state, Activity* activity = nullptr) const {
    advance(window, state, AdvanceOptions{.activity = activity});
  }
  /// The logits from the readout's voltage so far, divided by the spec's steps if the spec says so:
  /// [batch, class].
  Buffer<float> logits(const ChainState& state) const;
  /// The voltages of a stage's neurons after the steps so far, after any reset: [batch, y, x,
  /// channel]. For the readout, its accumulated voltage; for neurons without state, empty. Throws
  /// Error for a stage that does not exist.
  Buffer<float> membranes(const ChainState& state, std::size_t stage) const;

 private:
  friend class Model;  // shares prepared weights between states

  /// Where the numbers of a stage begin and end.
  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  struct BranchRanges {
    Range synapse;
    Range norm;
    Range statistics;
  };
  struct StageRanges {
    std::vector<BranchRanges> branches;
    Range neurons;
  };
  Network(NetworkSpec spec, std::optional<uint64_t> seed);
  Range declare(const std::string& prefix, const std::vector<ParameterDeclaration>& declarations,
                std::optional<uint64_t> seed, const Place& place);
  Range declare(const std::string& prefix, const std::vector<StatisticDeclaration>& declarations);
  std::shared_ptr<const PreparedNetwork> prepare() const;
  ChainState start(int64_t batch, std::shared_ptr<const PreparedNetwork> prepared) const;
  std::span<const float> weights_of(std::size_t stage, std::size_t branch) const;
  void expect_trainable(const char* what) const;
  StageNumbers numbers(std::size_t stage, const PreparedNetwork& prepared) const;
  void backward_from_readout(Trace trace, Buffer<float> current_gradient,
                             Buffer<float>* input_gradient);
  int64_t images_together(int64_t steps) const;
  void advance_together(const Signal& window, ChainState& state,
                        const AdvanceOptions& options) const;
  void check_windows(const LearnedWindows& windows) const;
  void check_window(const Signal& window, int64_t steps_left) const;
  void check_numbers() const;
  void check_trace(const Trace& trace) const;
  void check_prepared(const ChainState& state) const;
  void check_state(const ChainState& state) const;
  void check_options(const AdvanceOptions& options) const;
  const StageRanges& ranges_of(std::size_t stage) const;
  const BranchRanges& ranges_of(std::size_t stage, std::size_t branch) const;
  void count_activity(std::size_t stage, int64_t first, const Signal& output,
                      Activity& activity) const;

  NetworkSpec spec_;
  std::vector<StagePlan> plans_;
  std::vector<Parameter> parameters_;
  std::vector<Statistic> statistics_;
  std::vector<int64_t> sizes_;  // of parameters, then of statistics
  std::vector<StageRanges> ranges_;
  std::vector<int64_t> last_reader_;  // of each stage's output
  std::vector<std::unique_ptr<Stage>> stages_;
  std::vector<BreakEven> break_even_;
  LearnedWindows windows_;
  std::vector<std::vector<float>> weight_scales_;  // [branch], stage by stage
  Precision precision_ = Precision::fp32;
};

}  // namespace bntt
