#include "exchange/nir_lowering.h"

#include <algorithm>

#include "base/check.h"
#include "base/fail.h"

namespace bntt {
namespace {

constexpr int64_t kMostWeights = int64_t{1} << 29;
constexpr std::size_t kLongestName = 48;  // leaves room for a number

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

/// With running mean 0, variance 1 and a negligible ε: y = γ x + β.
NormSpec scaling_norm(bool shift) { return {.kind = "bn", .epsilon = 1e-30F, .shift = shift}; }

}  // namespace

NirLowering::NirLowering(const MapShape& input, int64_t steps, const std::string& origin)
    : origin_(origin),
      // "fc1" is reserved for the readout.
      spec_{.input = input, .steps = steps, .stages = {}},
      names_{kInputName, "fc1"} {}

NirSignal NirLowering::input(bool flat) const {
  return {.map = spec_.input,
          .flat = flat,
          .terms = {{.sources = {kInputName}, .spikes = false, .pool = {}, .synapse = {}}}};
}

std::string NirLowering::unique(const std::string& name) {
  std::string base = name.substr(0, kLongestName);
  for (char& c : base) {
    if (!is_letter(c)) c = '_';
  }
  std::string result = base.empty() ? "node" : base;
  for (int64_t i = 2; names_.contains(result); ++i) result = fmt::format("{}_{}", base, i);
  names_.insert(result);
  return result;
}

BranchSpec NirLowering::branch(const NirTerm& term, const MapShape& map, const std::string& prefix,
                               const NirDrive& drive) {
  const int64_t channels = map.channels;
  std::vector<float> scale(channels);
  std::vector<float> shift(channels);
  bool scales = false;
  bool shifts = false;
  for (int64_t c = 0; c < channels; ++c) {
    scale[c] = static_cast<float>((term.scale.empty() ? 1.0 : term.scale[c]) * drive.gain);
    shift[c] = static_cast<float>((term.shift.empty() ? 0.0 : term.shift[c]) * drive.gain +
                                  drive.constant);
    scales = scales || scale[c] != 1.0F;
    shifts = shifts || shift[c] != 0.0F;
  }
  BranchSpec result{.source = term.sources, .pool = term.pool, .norm = {.kind = "none"}};
  if (!term.synapse) {
    result.synapse = {.kind = SynapseKind::identity};
    if (scales || shifts) {
      result.norm = scaling_norm(shifts);
      numbers_[prefix + ".norm.weight"] = scale;
      if (shifts) numbers_[prefix + ".norm.bias"] = shift;
    }
    return result;
  }
  // Every reader of a layer has its own copy of the weights.
  weights_ += std::ssize(term.weight);
  if (weights_ > kMostWeights) {
    fail("{}: its layers and their readers have more than {} weights", origin_, kMostWeights);
  }
  result.synapse = *term.synapse;
  result.synapse.bias = shifts;
  std::vector<float> weight = term.weight;
  const auto row = static_cast<int64_t>(weight.size()) / channels;
  for (int64_t c = 0; c < channels; ++c) {
    const double factor = (term.scale.empty() ? 1.0 : term.scale[c]) * drive.gain;
    for (int64_t i = 0; i < row; ++i) {
      weight[c * row + i] = static_cast<float>(weight[c * row + i] * factor);
    }
  }
  numbers_[prefix + ".weight"] = std::move(weight);
  if (shifts) numbers_[prefix + ".bias"] = shift;
  return result;
}

std::string NirLowering::add_stage(const NirSignal& signal, const std::string& name,
                                   const NeuronSpec& neuron, const NirDrive& drive) {
  BranchedStage stage{.name = unique(name), .branches = {}, .neuron = neuron};
  for (std::size_t i = 0; i < signal.terms.size(); ++i) {
    const std::string prefix = i == 0 ? stage.name : fmt::format("{}.branch{}", stage.name, i + 1);
    // The constant is added once, not once per term.
    const NirDrive own{.gain = drive.gain, .constant = i == 0 ? drive.constant : 0.0};
    stage.branches.push_back(branch(signal.terms[i], signal.map, prefix, own));
  }
  spec_.stages.emplace_back(stage);
  return stage.name;
}

void NirLowering::make_plain(NirSignal& signal, const std::string& name) {
  std::vector<NirTerm>& terms = signal.terms;
  if (terms.size() == 1 && terms.front().is_plain()) return;
  const bool spikes_add_up = std::ranges::all_of(terms, [&](const NirTerm& term) {
    return term.is_plain() && term.spikes && term.pool == terms.front().pool;
  });
  if (spikes_add_up) {
    NirTerm sum = terms.front();
    bool distinct = true;
    for (std::size_t i = 1; i < terms.size(); ++i) {
      for (const std::string& source : terms[i].sources) {
        distinct = distinct && std::ranges::find(sum.sources, source) == sum.sources.end();
        sum.sources.push_back(source);
      }
    }
    if (distinct) {
      terms = {std::move(sum)};
      return;
    }
  }
  const std::string stage = add_stage(signal, name, {.kind = "none"}, {});
  terms = {{.sources = {stage}, .spikes = false, .pool = {}, .synapse = {}}};
}

NirSignal NirLowering::fire(const NirSignal& signal, const std::string& name,
                            const NeuronSpec& neuron, const NirDrive& drive) {
  const std::string stage = add_stage(signal, name, neuron, drive);
  return {.map = signal.map,
          .flat = signal.flat,
          .terms = {{.sources = {stage}, .pool = {}, .synapse = {}}}};
}

void NirLowering::read_out(NirSignal signal, const std::string& name, Readout readout,
                           const NirDrive& drive) {
  if (signal.terms.size() > 1) make_plain(signal, name);
  NirTerm term = signal.terms.front();
  const bool dense = term.synapse && term.synapse->kind == SynapseKind::dense;
  const bool neutral = drive.gain == 1.0 && drive.constant == 0.0;
  if (!dense && (!term.is_plain() || !neutral || term.pool.size != 1)) {
    const std::string stage = add_stage(signal, name, {.kind = "none"}, drive);
    term = {.sources = {stage}, .spikes = false, .pool = {}, .synapse = {}};
  }
  readout.synapse = dense ? SynapseKind::dense : SynapseKind::identity;
  readout.source = term.sources;
  if (dense) {
    const BranchSpec own = branch(term, signal.map, "fc1", drive);
    readout.bias = own.synapse.bias;
    if (own.pool.size != 1 && own.pool.kind == PoolKind::sum) {
      spec_.stages.emplace_back(SumPool{own.pool.size});
    } else if (own.pool.size != 1) {
      spec_.stages.emplace_back(AvgPool{own.pool.size});
    }
  }
  spec_.stages.emplace_back(readout);
}

Network NirLowering::network() const {
  Network network = Network::unfilled(spec_);
  for (Parameter& parameter : network.parameters()) {
    const auto found = numbers_.find(parameter.name);
    BNTT_CHECK(found != numbers_.end());
    BNTT_CHECK(std::ssize(found->second) == parameter.value.size());
    Buffer<float> values(parameter.value.size());
    std::ranges::copy(found->second, values.begin());
    parameter.value = from_pytorch_order(parameter, values);
  }
  return network;
}

}  // namespace bntt
