#include "convert/least_error_scales.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "base/threads.h"
#include "layers/synapses/prepared_weights.h"
#include "layers/synapses/synapse.h"

namespace bntt {
namespace {

constexpr std::array kShares = {1.0F, 0.95F, 0.9F, 0.85F, 0.8F, 0.75F,
                                0.7F, 0.65F, 0.6F, 0.55F, 0.5F};

/// Steps that are looked at together: the currents of a few frames are in memory at once.
constexpr int64_t kStepsTogether = 8;

/// One branch with every trial's weights.
class BranchSearch {
 public:
  BranchSearch(const BranchPlan& plan, const Parameter& weights)
      : channels_(plan.output.channels), synapse_(plan), exact_(weights.value.data()) {
    const std::vector<float> largest = scales_of_largest(weights);
    for (const float share : kShares) {
      auto trial = std::make_unique<Trial>();
      for (const float scale : largest) trial->scales.push_back(share * scale);
      trial->weights = rounded_to(trial->scales, weights.value);
      trial->prepared =
          std::make_unique<PreparedWeights>(trial->weights.span(), std::span(trial->scales));
      trial->errors.resize(static_cast<std::size_t>(channels_), 0.0);
      trials_.push_back(std::move(trial));
    }
  }

  void look_at(const Signal& input) {
    const Buffer<float> exact = currents(input, exact_);
    size_ += total(channel_squares(exact, nullptr, {}));
    for (const auto& trial : trials_) {
      const Buffer<float> rough = currents(input, *trial->prepared);
      const std::vector<double> squares = channel_squares(exact, &rough, trial->scales);
      for (std::size_t c = 0; c < squares.size(); ++c) trial->errors[c] += squares[c];
    }
  }

  /// Of equals the largest scale.
  std::vector<float> chosen_scales() const {
    std::vector<float> scales;
    for (std::size_t c = 0; c < static_cast<std::size_t>(channels_); ++c) {
      scales.push_back(best_trial(c).scales[c]);
    }
    return scales;
  }

  CurrentErrors errors() const {
    if (size_ == 0.0) return {};
    double chosen = 0.0;
    for (std::size_t c = 0; c < static_cast<std::size_t>(channels_); ++c) {
      chosen += best_trial(c).errors[c];
    }
    return {std::sqrt(total(trials_.front()->errors) / size_), std::sqrt(chosen / size_)};
  }

 private:
  struct Trial {
    std::vector<float> scales;
    Buffer<float> weights;
    std::unique_ptr<PreparedWeights> prepared;
    std::vector<double> errors;  // [channel]
  };

  static double total(const std::vector<double>& values) {
    double sum = 0.0;
    for (const double value : values) sum += value;
    return sum;
  }

  const Trial& best_trial(std::size_t channel) const {
    return **std::ranges::min_element(trials_, {},
                                      [&](const auto& trial) { return trial->errors[channel]; });
  }

  Buffer<float> currents(const Signal& input, const PreparedWeights& weights) const {
    Buffer<float> result(stored_frames(input) * synapse_.output().size());
    synapse_.forward(input, weights, result.data(), [](int64_t, int64_t, const float*) {});
    return result;
  }

  /// Σ (exact − scale · rough)² of every channel; of nothing rough Σ exact².
  std::vector<double> channel_squares(const Buffer<float>& exact, const Buffer<float>* rough,
                                      std::span<const float> scales) const {
    const int64_t frame = synapse_.output().size();
    const int64_t frames = exact.size() / frame;
    std::vector<double> of_frames(static_cast<std::size_t>(frames * channels_), 0.0);
    parallel_for(frames, [&](int64_t f) {
      double* sums = of_frames.data() + f * channels_;
      for (int64_t i = f * frame; i < (f + 1) * frame; ++i) {
        const int64_t c = i % channels_;
        const double away =
            rough == nullptr
                ? exact[i]
                : exact[i] - static_cast<double>(scales[static_cast<std::size_t>(c)]) * (*rough)[i];
        sums[c] += away * away;
      }
    });
    std::vector<double> sums(static_cast<std::size_t>(channels_), 0.0);
    for (std::size_t i = 0; i < of_frames.size(); ++i) sums[i % sums.size()] += of_frames[i];
    return sums;
  }

  int64_t channels_;
  Synapse synapse_;
  PreparedWeights exact_;
  double size_ = 0.0;  // Σ current²
  std::vector<std::unique_ptr<Trial>> trials_;
};

}  // namespace

LeastErrorScales least_error_scales(const Network& network, const std::vector<bool>& branches,
                                    const Calibration& calibration) {
  std::vector<std::vector<std::unique_ptr<BranchSearch>>> searches;  // [stage][branch]
  std::size_t next = 0;
  for (const StagePlan& stage : network.stages()) {
    auto& of_stage = searches.emplace_back();
    for (const BranchPlan& branch : stage.branches) {
      of_stage.push_back(branches[next++]
                             ? std::make_unique<BranchSearch>(branch, *weights_of(network, branch))
                             : nullptr);
    }
  }
  const AdvanceOptions watching{.observe = [&](std::size_t stage, int64_t /*first*/,
                                               const std::vector<const Signal*>& inputs,
                                               const Signal& /*output*/) {
    for (std::size_t b = 0; b < inputs.size(); ++b) {
      if (searches[stage][b]) searches[stage][b]->look_at(*inputs[b]);
    }
  }};
  LeastErrorScales result;
  int64_t images = 0;
  for (const Batch& batch : calibration.batches) images += batch.size();
  int64_t done = 0;
  const int64_t steps = active_steps(network.spec());
  ChainState state = network.start(1);
  for (const Batch& batch : calibration.batches) {
    network.restart(state, batch.size());
    while (state.steps_done < steps) {
      const int64_t window = std::min(kStepsTogether, steps - state.steps_done);
      network.advance(
          encode(batch, window, calibration.encoder, calibration.seed, 0, state.steps_done), state,
          watching);
    }
    done += batch.size();
    result.stopped = calibration.progress && calibration.progress("scales", done, images);
    if (result.stopped) break;
  }
  for (const auto& of_stage : searches) {
    for (const auto& search : of_stage) {
      result.scales.push_back(search ? search->chosen_scales() : std::vector<float>());
      result.errors.push_back(search ? search->errors() : CurrentErrors());
    }
  }
  return result;
}

}  // namespace bntt
