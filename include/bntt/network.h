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
  Buffer<float> current;  ///< [step, batch, y, x, channel]; one step when `current_constant`; bias
                          ///< left out
  Buffer<uint16_t> half_current;  ///< instead of it, in mixed precision: bf16
  bool current_constant = false;
  NormTrace norm;
};

/// What dropout left of a stage's output.
struct DroppedOutput {
  SpikeTrain kept;  ///< where it was kept; one step for all, unless each step was drawn
  Signal output;    ///< for the readers: times 1/(1 − p)
};

/// What the forward pass of one stage keeps for the backward pass: what its branches keep, and one
/// bit per neuron-step; one more with dropout.
struct StageTrace {
  std::vector<BranchTrace> branches;
  Signal output;  ///< spikes, or the values of ReLU neurons and of none; of the readout its
                  ///< normalised currents
  std::optional<DroppedOutput> dropped;  ///< what the readers get instead

  const Signal& handed_on() const { return dropped ? dropped->output : output; }
};

/// What the masks of dropout are drawn from.
struct DropoutDraws {
  uint64_t seed = 0;
  uint32_t epoch = 0;
  std::vector<uint32_t> samples;  ///< the id of each image
};

/// What a trace holds.
enum class Keep {
  everything,    ///< for callers that inspect it
  for_backward,  ///< all but currents that are large and cheap to compute again
};

/// What a forward pass keeps.
struct Trace {
  NormMode mode = NormMode::batch;
  Signal input;
  std::vector<StageTrace> stages;
  Buffer<float> logits;  ///< [batch, class]
};

class PreparedNetwork;

/// The state of a running network from step to step.
struct ChainState {
  int64_t batch = 0;
  int64_t steps_done = 0;                ///< of active_steps(spec)
  std::vector<Buffer<float>> membranes;  ///< per stage [batch, y, x, channel], empty for neurons
                                         ///< without state; the readout's: its voltage
  /// The network's weights as they were when the state was started, in the layouts that inference
  /// reads. The network must outlive the state and keep its numbers meanwhile.
  std::shared_ptr<const PreparedNetwork> prepared;
  /// Of branches that read a constant input, for AdvanceOptions::same_input: [stage][branch].
  std::vector<std::vector<Buffer<float>>> constant_currents;
};

/// Keeps these images, in this order: the others have left the batch. Throws Error for an image
/// that is not there, and for none.
BNTT_API void keep_images(ChainState& state, std::span<const int64_t> images);

/// Spikes of each stage and step, summed over the images seen. Steps are those of the whole run.
struct Activity {
  std::vector<std::vector<int64_t>> spikes;  ///< [stage][step]
  int64_t images = 0;
};

/// The steps at which the synapses of each stage work. At the others they add 0 to the membrane, as
/// if their current were the mean, and cost nothing.
struct StepWindows {
  std::vector<std::vector<bool>> active;  ///< [stage][step of the run]; empty: always

  bool empty() const { return active.empty(); }
};

/// What inference does besides computing.
struct AdvanceOptions {
  Activity* activity = nullptr;
  const StepWindows* windows = nullptr;
  /// The constant input of this window is that of all windows so far: synapses that read it run
  /// once.
  bool same_input = false;
  /// Called for every stage with its local first step, what each of its branches reads (sources
  /// added up) and what it gives.
  std::function<void(std::size_t stage, int64_t first, const std::vector<const Signal*>& inputs,
                     const Signal& output)>
      observe;
};

class Stage;
struct Place;
struct ParameterDeclaration;
struct StatisticDeclaration;
struct StageNumbers;

/// The whole network, forward and backward, over windows of steps.
class BNTT_API Network {
 public:
  /// Throws Error for a spec that describes no network. Every parameter starts as its piece
  /// declares: weights drawn as the spec's Init says, from the seed alone, gains 1, shifts and
  /// biases 0.
  Network(NetworkSpec spec, uint64_t seed);
  /// A network whose numbers are undefined, for callers that fill in all of them.
  static Network unfilled(NetworkSpec spec) { return {std::move(spec), std::nullopt}; }
  Network(Network&&) noexcept;
  Network& operator=(Network&&) noexcept;
  ~Network();
  /// Another network with the same numbers and choices; gradients are not copied.
  Network copy() const;

  const NetworkSpec& spec() const { return spec_; }
  const std::vector<StagePlan>& stages() const { return plans_; }
  /// Stage by stage: of every branch the synapse's and the norm's, then the neurons'.
  std::vector<Parameter>& parameters() { return parameters_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }
  std::vector<Statistic>& statistics() { return statistics_; }
  const std::vector<Statistic>& statistics() const { return statistics_; }

  /// When each branch's synapse goes dense; one entry per branch, stage by stage.
  const std::vector<BreakEven>& break_even() const { return break_even_; }
  /// Throws Error unless there is one entry per branch.
  void set_break_even(std::vector<BreakEven> break_even);

  /// Of each branch, stage by stage, the scale of every output channel where weights are int8:
  /// weight = scale · q, with a whole q from −127 to 127. None: they are any floats. Spikes then
  /// add up integers, exactly; real values meet the weights as floats.
  const std::vector<std::vector<float>>& weight_scales() const { return weight_scales_; }
  /// Throws Error unless there is an entry per branch, which is empty or has a positive scale for
  /// every output channel, and all weights are such products. Scales mean that the network is not
  /// trained any more.
  void set_weight_scales(std::vector<std::vector<float>> scales);
  /// Whether any weights are int8: such a network runs, but is not trained, and has no gradients.
  bool quantised() const;

  Precision precision() const { return precision_; }
  void set_precision(Precision precision) { precision_ = precision; }

  // The next three throw Error for a stage or branch that is not there.

  /// γ of a branch, or null where its norm has none.
  const Parameter* gain(std::size_t stage, std::size_t branch = 0) const;
  /// Those of a branch's norm, and of a stage's neurons.
  std::span<const Statistic> norm_statistics(std::size_t stage, std::size_t branch = 0) const;
  std::span<const Parameter> neuron_parameters(std::size_t stage) const;

  /// One window of all active steps, kept for backward. The input has active_steps(spec) steps.
  /// Outputs are dropped only with `dropout`: it belongs to training. Throws Error for an input of
  /// another shape, and, as the functions below, if a parameter or statistic has lost its size.
  Trace forward(Signal input, NormMode mode, Keep keep = Keep::everything,
                const DropoutDraws* dropout = nullptr);

  /// What each step alone says: [step, batch, class]. Without a leak, the logits are the sum over
  /// the steps, or the mean. Throws Error for the trace of another network.
  Buffer<float> step_logits(const Trace& trace) const;

  /// Fills every parameter's gradient, which has memory from the first call on; with
  /// `input_gradient`, also that of the input [stored step, batch, y, x, channel]. Frees the trace
  /// as it goes: hand it over by std::move. Throws Error for the trace of another network and for a
  /// gradient of another size.
  void backward(Trace trace, const Buffer<float>& logits_gradient,
                Buffer<float>* input_gradient = nullptr);
  /// The same from a gradient at step_logits(): [step, batch, class].
  void backward_from_steps(Trace trace, const Buffer<float>& step_gradient,
                           Buffer<float>* input_gradient = nullptr);

  /// Inference without a trace: `start`, then `advance` by windows of any length gives the same
  /// bits as one window. All throw Error for the state of another network, for a batch below 1, and
  /// for an input that does not fit.
  ChainState start(int64_t batch) const { return start(batch, prepare()); }
  /// Back to rest, for the next images of the same network: keeps what start() prepared.
  void restart(ChainState& state, int64_t batch) const;
  void advance(const Signal& window, ChainState& state, const AdvanceOptions& options) const;
  void advance(const Signal& window, ChainState& state, Activity* activity = nullptr) const {
    advance(window, state, AdvanceOptions{.activity = activity});
  }
  /// What the readout's voltage so far says, divided by the spec's steps if the spec says so:
  /// [batch, class].
  Buffer<float> logits(const ChainState& state) const;
  /// The voltages of a stage's neurons after the steps so far, what a spike took away taken off:
  /// [batch, y, x, channel]. Of the readout, what it has added up; of neurons without state, none.
  /// Throws Error for a stage that is not there.
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
  std::vector<std::vector<float>> weight_scales_;  // [branch], stage by stage
  Precision precision_ = Precision::fp32;
};

}  // namespace bntt
