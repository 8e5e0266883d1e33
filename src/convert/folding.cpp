#include "convert/folding.h"

#include <algorithm>

#include "base/check.h"
#include "base/fail.h"
#include "bntt/norm.h"

namespace bntt {
namespace {

std::string why_not(const StagePlan& plan, int64_t index) {
  const BranchPlan& branch = plan.branches.front();
  if (!plan.readout && plan.neuron.kind == "none") {
    return "has no neurons, and only the currents of neurons become rates of spikes";
  }
  if (!plan.readout && plan.neuron.kind != "relu") {
    return fmt::format("has {} neurons, but only an ANN of relu neurons can be converted",
                       plan.neuron.kind);
  }
  if (plan.branches.size() > 1) {
    return fmt::format(
        "has {} branches, and no rule says how the rates of several branches are scaled alike",
        plan.branches.size());
  }
  if (branch.sources.size() != 1 || branch.sources.front() != index - 1) {
    return "does not read the stage before it, and only chains can be converted";
  }
  if (branch.synapse == SynapseKind::identity) {
    return "has an identity synapse, which has no weights to balance";
  }
  if (branch.pools() && branch.pool == PoolKind::max) {
    return "reads a max pool, which spikes do not tell apart: expected an average or a sum pool";
  }
  const NormPlace place{.channels = plan.output.channels};
  if (make_norm(branch.norm, place)->per_image()) {
    return fmt::format(
        "has the norm '{}', whose statistics are each image's own and so cannot be "
        "folded into weights",
        branch.norm.kind);
  }
  return "";
}

/// y = scale · x + shift in evaluation, including the synapse's own bias: [channel] each.
NormTrace evaluated_norm(const Network& ann, std::size_t stage) {
  const StagePlan& plan = ann.stages()[stage];
  const BranchPlan& branch = plan.branches.front();
  const auto norm = make_norm(branch.norm, {.channels = plan.output.channels,
                                            .run_steps = 1,
                                            .threshold = plan.neuron.threshold,
                                            .branches = 1});
  const std::vector<Parameter>& all = ann.parameters();
  const auto of_norm = [&](const Parameter& parameter) {
    return parameter.name.starts_with(branch.name + ".norm.");
  };
  const auto first = std::ranges::find_if(all, of_norm);
  const auto last = std::find_if_not(first, all.end(), of_norm);
  const RowSplit rows{1, 1, plan.output.pixels(), plan.output.channels};
  NormTrace trace = norm->from_running({.split = rows}, 0, ann.norm_statistics(stage));
  const auto bias = std::ranges::find(all, branch.name + ".bias", &Parameter::name);
  if (branch.bias) {
    for (int64_t c = 0; c < trace.mean.size(); ++c) trace.mean[c] -= bias->value[c];
  }
  norm->fold(0, {first, last}, 1.0F, trace);
  return trace;
}

NeuronSpec without_dropout(NeuronSpec neuron) {
  neuron.dropout = 0.0F;
  return neuron;
}

/// A stage without its norm. Pools are kept.
class FoldedStage {
 public:
  explicit FoldedStage(bool bias) : bias_(bias) {}

  StageSpec operator()(const Conv3x3& conv) const {
    return Conv{.channels = conv.channels,
                .bias = bias_,
                .norm = kNone,
                .neuron = without_dropout(conv.neuron)};
  }
  StageSpec operator()(Conv conv) const { return with_bias(std::move(conv)); }
  StageSpec operator()(Dense dense) const { return with_bias(std::move(dense)); }
  StageSpec operator()(Readout readout) const {
    readout.norm = kNone;
    readout.bias = bias_;
    return readout;
  }
  StageSpec operator()(BranchedStage stage) const {
    stage.neuron = without_dropout(stage.neuron);
    stage.branches.front().norm = kNone;
    stage.branches.front().synapse.bias = bias_;
    return stage;
  }
  template <typename Pool>
  StageSpec operator()(const Pool& pool) const {
    return pool;
  }

 private:
  template <typename Stage>
  StageSpec with_bias(Stage stage) const {
    stage.bias = bias_;
    stage.norm = kNone;
    stage.neuron = without_dropout(stage.neuron);
    return stage;
  }

  static inline const NormSpec kNone{.kind = "none"};
  bool bias_;
};

}  // namespace

void expect_convertible(const Network& network, const std::string& origin) {
  for (std::size_t i = 0; i < network.stages().size(); ++i) {
    const std::string reason = why_not(network.stages()[i], static_cast<int64_t>(i));
    if (!reason.empty()) {
      fail("{}: cannot be converted: {} {}", origin, network.stages()[i].name, reason);
    }
  }
}

Network without_norms(const Network& ann) {
  std::vector<NormTrace> norms;
  for (std::size_t i = 0; i < ann.stages().size(); ++i) norms.push_back(evaluated_norm(ann, i));

  NetworkSpec spec = ann.spec();
  std::size_t stage = 0;
  for (StageSpec& any : spec.stages) {
    const bool has_shift =
        stage < norms.size() &&
        std::ranges::any_of(norms[stage].shift, [](float shift) { return shift != 0.0F; });
    const bool is_pool =
        std::holds_alternative<AvgPool>(any) || std::holds_alternative<SumPool>(any);
    any = std::visit(FoldedStage(has_shift), any);
    if (!is_pool) ++stage;
  }
  BNTT_CHECK(stage == norms.size());

  Network folded = Network::unfilled(spec);
  for (std::size_t i = 0; i < norms.size(); ++i) {
    const std::string& name = ann.stages()[i].name;
    const auto& weights = *std::ranges::find(ann.parameters(), name + ".weight", &Parameter::name);
    for (Parameter& parameter : folded.parameters()) {
      if (parameter.name == name + ".bias") parameter.value = norms[i].shift;
      if (parameter.name != name + ".weight") continue;
      parameter.value = weights.value;
      const int64_t channels = norms[i].scale.size();
      for (int64_t w = 0; w < parameter.value.size(); ++w) {
        parameter.value[w] *= norms[i].scale[w % channels];
      }
    }
  }
  folded.set_break_even(ann.break_even());
  return folded;
}

}  // namespace bntt
