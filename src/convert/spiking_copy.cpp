#include "convert/spiking_copy.h"

#include <algorithm>
#include <string>

#include "base/check.h"

namespace bntt {
namespace {

/// Turns the stages of an ANN into those of a spiking network, one by one.
class SpikingStages {
 public:
  SpikingStages(const SpikingOptions& options, std::span<const float> thresholds)
      : options_(options), thresholds_(thresholds) {}

  void operator()(const AvgPool& pool) {
    if (!options_.pools_fire) {
      stages_.emplace_back(pool);
      return;
    }
    NeuronSpec neuron = options_.neuron;
    neuron.threshold = 1.0F;
    stages_.emplace_back(BranchedStage{.name = "pool" + std::to_string(++pools_),
                                       .branches = {{.pool = {PoolKind::average, pool.size},
                                                     .synapse = {.kind = SynapseKind::identity},
                                                     .norm = {.kind = "none"}}},
                                       .neuron = neuron});
  }
  void operator()(const Readout& readout) {
    if (!options_.output_threshold) {
      stages_.emplace_back(readout);
      return;
    }
    NeuronSpec neuron = options_.neuron;
    neuron.threshold = *options_.output_threshold;
    stages_.emplace_back(Dense{.features = readout.classes * readout.votes,
                               .norm = readout.norm,
                               .neuron = neuron,
                               .bias = readout.bias});
    stages_.emplace_back(Readout{
        .classes = readout.classes, .votes = readout.votes, .synapse = SynapseKind::identity});
  }
  template <typename Other>
  void operator()(Other stage) {
    if constexpr (requires { stage.neuron; }) {
      stage.neuron = options_.neuron;
      if (done_ < thresholds_.size()) {
        stage.neuron.threshold = thresholds_[done_];
      } else {
        stage.neuron = {.kind = "none"};
      }
      ++done_;
    }
    stages_.emplace_back(std::move(stage));
  }

  std::size_t done() const { return done_; }
  std::vector<StageSpec> take() { return std::move(stages_); }

 private:
  const SpikingOptions& options_;
  std::span<const float> thresholds_;
  std::vector<StageSpec> stages_;
  std::size_t done_ = 0;
  int pools_ = 0;
};

/// Copies weights, and biases as currents, of every stage that both networks have.
void fill(const Network& ann, std::span<const float> scales, bool scale_readout, Network& network) {
  for (Parameter& parameter : network.parameters()) parameter.value.fill(0.0F);
  for (std::size_t i = 0; i < std::min(ann.stages().size(), scales.size()); ++i) {
    const StagePlan& stage = ann.stages()[i];
    for (Parameter& parameter : network.parameters()) {
      const bool weight = parameter.name == stage.name + ".weight";
      if (!weight && parameter.name != stage.name + ".bias") continue;
      const auto source = std::ranges::find(ann.parameters(), parameter.name, &Parameter::name);
      parameter.value = source->value;
      const float weight_factor = stage.readout && scale_readout ? scales[i] : 1.0F;
      const float factor = weight ? weight_factor : weight_factor / scales[i];
      if (factor == 1.0F) continue;
      for (float& value : parameter.value) value *= factor;
    }
  }
}

}  // namespace

std::vector<float> scales_of(std::span<const float> thresholds, float input_scale) {
  std::vector<float> scales = {input_scale};
  for (const float threshold : thresholds) scales.push_back(threshold * scales.back());
  return scales;
}

Network spiking_network(const Network& ann, const SpikingOptions& options,
                        std::span<const float> thresholds) {
  SpikingStages stages(options, thresholds);
  for (const StageSpec& stage : ann.spec().stages) std::visit(stages, stage);
  BNTT_CHECK(stages.done() == thresholds.size());
  Network network = Network::unfilled({.input = ann.spec().input,
                                       .steps = options.steps,
                                       .propagation = Propagation::instant,
                                       .stages = stages.take()});
  fill(ann, scales_of(thresholds, options.input_scale), options.scale_readout, network);
  return network;
}

Network weighted_input_probe(const Network& ann, const SpikingOptions& options,
                             std::span<const float> thresholds) {
  SpikingStages stages(options, thresholds);
  for (const StageSpec& stage : ann.spec().stages) {
    std::visit(stages, stage);
    if (stages.done() > thresholds.size()) break;
  }
  std::vector<StageSpec> probed = stages.take();
  // A network must end in a readout; reading only the mean of the map keeps it cheap.
  probed.emplace_back(AvgPool{.size = 0});
  probed.emplace_back(Readout{.classes = 1});
  Network network = Network::unfilled({.input = ann.spec().input,
                                       .steps = options.steps,
                                       .propagation = Propagation::instant,
                                       .stages = std::move(probed)});
  fill(ann, scales_of(thresholds, options.input_scale), options.scale_readout, network);
  return network;
}

}  // namespace bntt
