#include "torch/torch_network.h"

#include <torch/torch.h>

#include <algorithm>

#include "base/check.h"
#include "base/fail.h"
#include "torch/conversion.h"

namespace bntt {
namespace {

/// A stage of any kind in the general form; pools are not stages.
struct StageDescription {
  std::string name;
  std::vector<BranchSpec> branches;
  NeuronSpec neuron;
};

StageDescription describe(const Conv3x3& conv) {
  const SynapseSpec synapse{.outputs = conv.channels, .kernel = 3, .stride = 1, .padding = 1};
  return {.branches = {{.synapse = synapse, .norm = conv.norm}}, .neuron = conv.neuron};
}

StageDescription describe(const Conv& conv) {
  const SynapseSpec synapse{.outputs = conv.channels,
                            .kernel = conv.kernel,
                            .stride = conv.stride,
                            .padding = conv.padding,
                            .bias = conv.bias};
  return {.branches = {{.synapse = synapse, .norm = conv.norm}}, .neuron = conv.neuron};
}

StageDescription describe(const Dense& dense) {
  const SynapseSpec synapse{
      .kind = SynapseKind::dense, .outputs = dense.features, .bias = dense.bias};
  return {.branches = {{.synapse = synapse, .norm = dense.norm}}, .neuron = dense.neuron};
}

StageDescription describe(const BranchedStage& stage) {
  return {.name = stage.name, .branches = stage.branches, .neuron = stage.neuron};
}

StageDescription describe(const Readout& readout) {
  const SynapseSpec synapse{
      .kind = readout.synapse, .outputs = readout.classes * readout.votes, .bias = readout.bias};
  return {.branches = {{.source = readout.source, .synapse = synapse, .norm = readout.norm}}};
}

template <typename Kind>
PoolSpec pool_of(const Kind& stage) {
  if constexpr (std::is_same_v<Kind, AvgPool>) return {PoolKind::average, stage.size};
  if constexpr (std::is_same_v<Kind, SumPool>) return {PoolKind::sum, stage.size};
  if constexpr (std::is_same_v<Kind, MaxPool>) return {PoolKind::max, stage.size};
}

template <typename Kind>
constexpr bool kIsPool =
    std::is_same_v<Kind, AvgPool> || std::is_same_v<Kind, SumPool> || std::is_same_v<Kind, MaxPool>;

bool is_pool(const StageSpec& stage) {
  return std::visit([]<typename Kind>(const Kind&) { return kIsPool<Kind>; }, stage);
}

/// Copies values into the tensors of the same name; every one must have a counterpart.
template <typename Numbers>
void copy_by_name(const char* what, const Numbers& ours,
                  torch::OrderedDict<std::string, torch::Tensor> theirs, torch::Dtype dtype) {
  for (const auto& number : ours) {
    torch::Tensor* tensor = theirs.find(number.name);
    if (tensor == nullptr) fail("the LibTorch oracle has no {} {}", what, number.name);
    if (tensor->sizes() != at::IntArrayRef(number.pytorch_shape)) {
      fail("the LibTorch oracle has another shape of {} {}", what, number.name);
    }
    tensor->copy_(to_tensor(number, number.value, dtype));
  }
  for (const auto& item : theirs) {
    const bool known = std::any_of(ours.begin(), ours.end(),
                                   [&](const auto& number) { return number.name == item.key(); });
    if (!known) fail("the network has no {} {}, but its LibTorch oracle has", what, item.key());
  }
}

}  // namespace

TorchNetwork::TorchNetwork(const NetworkSpec& spec, const TorchOptions& options)
    : steps_(spec.steps), propagation_(spec.propagation), options_(options) {
  const auto pool_count = std::count_if(spec.stages.begin(), spec.stages.end(), is_pool);
  const int64_t hidden = std::ssize(spec.stages) - pool_count - 1;
  active_steps_ = propagation_ == Propagation::delayed ? spec.steps - hidden : spec.steps;
  BNTT_CHECK(active_steps_ > 0);

  std::vector<PoolSpec> pools;  // since the last stage
  int64_t convolutions = 0;
  int64_t dense_layers = 0;
  for (const StageSpec& any : spec.stages) {
    std::visit(
        [&]<typename Kind>(const Kind& kind) {
          if constexpr (kIsPool<Kind>) {
            pools.push_back(pool_of(kind));
          } else {
            const StageDescription described = describe(kind);
            Stage stage{.name = described.name, .neuron = described.neuron};
            if constexpr (std::is_same_v<Kind, Readout>) {
              stage.readout = true;
              readout_ = kind;
            }
            if (stage.name.empty()) {
              const bool dense =
                  stage.readout || described.branches[0].synapse.kind == SynapseKind::dense;
              stage.name = dense ? "fc" + std::to_string(++dense_layers)
                                 : "conv" + std::to_string(++convolutions);
            }
            add_stage(std::move(stage), described.branches, pools, spec.input);
            pools.clear();
          }
        },
        any);
  }
}

TorchNetwork::Branch TorchNetwork::make_branch(const BranchSpec& spec,
                                               const std::vector<PoolSpec>& pools,
                                               const MapShape& input,
                                               const TorchNormPlace& place) const {
  Branch branch;
  for (const std::string& name : spec.source) {
    const auto stage = std::find_if(stages_.begin(), stages_.end(),
                                    [&](const Stage& other) { return other.name == name; });
    BNTT_CHECK(name == kInputName || stage != stages_.end());
    branch.sources.push_back(name == kInputName ? -1 : stage - stages_.begin());
  }
  if (branch.sources.empty()) branch.sources.push_back(std::ssize(stages_) - 1);
  const int64_t first = branch.sources.front();
  const MapShape source = first < 0 ? input : stages_[first].branches[0].module->output();
  std::vector<PoolSpec> all_pools = pools;
  if (spec.pool.size != 1) all_pools.push_back(spec.pool);
  branch.module = TorchBranch(spec.synapse, all_pools, source, dtype());
  branch.module->add_norm(spec.norm, place, dtype());
  return branch;
}

void TorchNetwork::add_stage(Stage stage, const std::vector<BranchSpec>& branches,
                             const std::vector<PoolSpec>& pools, const MapShape& input) {
  stage.first_step = propagation_ == Propagation::delayed ? std::ssize(stages_) : 0;
  const TorchNormPlace place{.steps = steps_,
                             .threshold = static_cast<double>(stage.neuron.threshold),
                             .branches = std::ssize(branches)};
  for (const BranchSpec& spec : branches) {
    stage.branches.push_back(make_branch(spec, pools, input, place));
  }
  // The first branch has the name of the stage; the others, and the neurons, are inside it.
  TorchBranch& first = stage.branches.front().module;
  register_module(stage.name, first);
  for (std::size_t b = 1; b < stage.branches.size(); ++b) {
    first->register_module("branch" + std::to_string(b + 1), stage.branches[b].module);
  }
  if (!stage.readout) {
    stage.neurons = first->register_module(
        "neuron", TorchNeurons(stage.neuron, first->output(), propagation_, options_.dtype));
  }
  stages_.push_back(std::move(stage));
}

void TorchNetwork::load(const Network& network) {
  const torch::NoGradGuard values_only;
  copy_by_name("parameter", network.parameters(), named_parameters(), dtype());
  copy_by_name("statistic", network.statistics(), named_buffers(), dtype());
}

TorchResult TorchNetwork::forward(const torch::Tensor& input, NormMode mode,
                                  const std::vector<torch::Tensor>* imposed_spikes,
                                  const std::vector<torch::Tensor>* kept_outputs) {
  TorchResult result;
  const torch::Tensor whole_input =
      input.size(0) == active_steps_ ? input : input.expand({active_steps_, -1, -1, -1, -1});
  const auto output_of = [&](int64_t stage) {
    if (stage < 0) return whole_input;
    const torch::Tensor& output = result.stages[stage].output;
    const torch::Tensor mask = kept_outputs != nullptr ? kept_outputs->at(stage) : torch::Tensor();
    if (!mask.defined()) return output;
    return output * mask / (1.0 - static_cast<double>(stages_[stage].neuron.dropout));
  };
  for (std::size_t index = 0; index < stages_.size(); ++index) {
    Stage& stage = stages_[index];
    TorchStageResult kept;
    torch::Tensor drive;
    for (Branch& branch : stage.branches) {
      torch::Tensor signal = output_of(branch.sources.front());
      for (std::size_t s = 1; s < branch.sources.size(); ++s) {
        signal = signal + output_of(branch.sources[s]);
      }
      const torch::Tensor frames = branch.module->current(signal.flatten(0, 1));
      kept.currents.push_back(frames.unflatten(0, {active_steps_, -1}));
      const torch::Tensor normalised =
          branch.module->normalise(kept.currents.back(), stage.first_step, mode);
      drive = drive.defined() ? drive + normalised : normalised;
    }
    if (stage.readout) {
      result.step_logits =
          drive.flatten(2).unflatten(2, {readout_.classes, readout_.votes}).mean(3);
      const double leak = readout_.leak;
      const auto leaked = [&](const torch::Tensor& voltage) {
        return readout_.leak_gradient ? leak * voltage : voltage - (1.0 - leak) * voltage.detach();
      };
      torch::Tensor voltage = torch::zeros_like(result.step_logits[0]);
      for (int64_t i = 0; i < active_steps_; ++i) {
        const torch::Tensor& newest = result.step_logits[i];
        voltage = readout_.leak_newest ? leaked(voltage + newest) : leaked(voltage) + newest;
      }
      result.logits = readout_.divide_by_steps ? voltage / static_cast<double>(steps_) : voltage;
    } else {
      const torch::Tensor imposed =
          imposed_spikes != nullptr ? imposed_spikes->at(index) : torch::Tensor();
      const TorchNeuronsImpl::Run run = stage.neurons->forward(drive, imposed);
      kept.membrane = run.membrane;
      kept.output = run.output;
    }
    result.stages.push_back(std::move(kept));
  }
  return result;
}

}  // namespace bntt
