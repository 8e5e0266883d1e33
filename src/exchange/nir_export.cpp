#include "exchange/nir_export.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/check.h"
#include "base/fail.h"
#include "base/json.h"
#include "bntt/encoder.h"
#include "bntt/version.h"
#include "exchange/nir_own.h"
#include "layers/neurons/neurons.h"
#include "model/model_file.h"
#include "model/quantise.h"

namespace bntt {
namespace {

/// Version of the nir package that writes files of this form.
constexpr const char* kNirVersion = "1.0.8";

/// y = scale · x + shift of a branch, with the same numbers for all steps.
struct FixedAffine {
  std::vector<double> scale;  // [channel]
  std::vector<double> shift;  // [channel]
  bool changes = false;       // from step to step; then scale and shift are means
  NormTrace steps;            // [step, channel]: the values they were computed from

  void scale_by(double factor, double of_shift) {
    for (double& value : scale) value *= factor;
    for (double& value : shift) value *= of_shift;
    for (float& value : steps.scale) value = static_cast<float>(value * factor);
    for (float& value : steps.shift) value = static_cast<float>(value * of_shift);
  }
};

NirArray number(double value) {
  return {.shape = {}, .values = {static_cast<float>(value)}, .integers = {}};
}

const Parameter* find_parameter(const Network& network, const std::string& name) {
  const auto found = std::ranges::find(network.parameters(), name, &Parameter::name);
  return found == network.parameters().end() ? nullptr : &*found;
}

class Exporter {
 public:
  Exporter(const Network& network, const NirExportOptions& options)
      : network_(network), options_(options), outputs_(network.stages().size()) {
    if (!(options.dt > 0.0) || !std::isfinite(options.dt)) {
      fail("NIR: dt is {}, expected a number above 0", options.dt);
    }
    if (network.spec().propagation == Propagation::delayed) {
      fail("NIR: the network uses delayed propagation, which NIR cannot express");
    }
    result_.graph.version = kNirVersion;
    add("input", "Input", {}).arrays["shape"] = shape_array(network.spec().input, false);
  }

  NirExport run() {
    for (std::size_t i = 0; i < network_.stages().size(); ++i) add_stage(i);
    return std::move(result_);
  }

 private:
  using Names = std::vector<std::string>;

  static std::vector<int64_t> shape_of(const MapShape& map, bool flat) {
    return flat ? std::vector<int64_t>{map.size()}
                : std::vector<int64_t>{map.channels, map.height, map.width};
  }
  static NirArray shape_array(const MapShape& map, bool flat) {
    return nir_integers(shape_of(map, flat));
  }

  /// Adds a node that reads others. PyTorch's modules do not allow dots in names.
  NirNode& add(const std::string& name, const std::string& type, const Names& sources) {
    std::string unique = name;
    std::ranges::replace(unique, '.', '_');
    while (!names_.insert(unique).second) unique += '_';
    for (const std::string& source : sources) result_.graph.edges.emplace_back(source, unique);
    return result_.graph.nodes.emplace_back(NirNode{.name = unique, .type = type});
  }

  bool is_flat(int64_t stage) const {
    if (stage == BranchPlan::kInput) return false;
    const BranchPlan& branch = network_.stages()[stage].branches.front();
    return branch.synapse == SynapseKind::dense ||
           (branch.synapse == SynapseKind::identity && is_flat(branch.sources.front()));
  }

  void add_stage(std::size_t i) {
    const StagePlan& plan = network_.stages()[i];
    if (!plan.readout && !plan.spikes() && plan.neuron.kind != "none") {
      fail("{}: {} neurons have no NIR node: their output is not spikes", plan.name,
           plan.neuron.kind);
    }
    const auto neurons = make_neurons(plan, network_.spec().propagation);
    const auto parameters = network_.neuron_parameters(i);
    const auto dynamics = neurons->dynamics(parameters);
    const double leak = dynamics ? dynamics->leak : plan.readout ? plan.neuron.leak : 1.0;
    // v ← v + dt/τ (r I − v) with dt/τ = 1 − λ and r = 1: the input must be 1/(1 − λ) larger.
    double gain = leak < 1.0 ? 1.0 / (1.0 - leak) : 1.0;
    if (plan.readout && readout_of(network_.spec()).leak_newest) gain *= leak;  // v = λ (v + y)
    Names branches;
    for (std::size_t b = 0; b < plan.branches.size(); ++b) {
      const Names of_branch = add_branch(i, b, gain, neurons->input_factor(parameters));
      branches.insert(branches.end(), of_branch.begin(), of_branch.end());
    }
    const bool flat = is_flat(static_cast<int64_t>(i));
    if (plan.readout) {
      add_readout(plan, leak, flat, branches);
    } else if (dynamics) {
      outputs_[i] = {add_neurons(plan, *dynamics, flat, branches)};
    } else {
      outputs_[i] = branches;  // neurons none: readers receive the sum
    }
  }

  /// Readers expect one value per neuron; a fill value takes no space in the file.
  static void set_everywhere(NirNode& node, const char* name, const std::vector<int64_t>& shape,
                             double value) {
    node.arrays[name] = nir_constant(shape, static_cast<float>(value));
  }

  std::string add_neurons(const StagePlan& plan, const kernels::Dynamics& dynamics, bool flat,
                          const Names& sources) {
    const bool soft = dynamics.reset == Reset::soft;
    if (soft && !options_.allow_lossy) {
      fail(
          "{}: its neurons subtract the threshold when they fire, but most readers of NIR reset to "
          "0: --allow-lossy writes them anyway, with the reset as metadata",
          plan.name);
    }
    const bool clipped = std::isfinite(dynamics.floor);
    if (clipped && !options_.allow_lossy) {
      fail(
          "{}: its neurons clip their voltage at {}, which NIR cannot express: --allow-lossy "
          "writes "
          "them anyway, with the limit as metadata",
          plan.name, dynamics.floor);
    }
    result_.soft_reset = result_.soft_reset || soft;
    result_.clipped = result_.clipped || clipped;
    const std::vector<int64_t> shape = shape_of(plan.output, flat);
    const bool leaks = dynamics.leak < 1.0F;
    NirNode& node = add(plan.name, leaks ? "LIF" : "IF", sources);
    if (leaks) {
      set_everywhere(node, "tau", shape, options_.dt / (1.0 - dynamics.leak));
      set_everywhere(node, "v_leak", shape, 0.0);
    }
    set_everywhere(node, "r", shape, 1.0);
    set_everywhere(node, "v_threshold", shape, dynamics.fires_above);  // NIR fires above θ only
    set_everywhere(node, "v_reset", shape, 0.0);
    node.metadata.texts[kNirReset] = soft ? kNirSubtract : "zero";
    if (clipped) node.metadata.arrays[kNirFloor] = number(dynamics.floor);
    return node.name;
  }

  void add_readout(const StagePlan& plan, double leak, bool flat, Names sources) {
    if (leak < 1.0) {
      const std::vector<int64_t> shape = shape_of(plan.output, flat);
      NirNode& node = add(plan.name + "_voltage", "LI", sources);
      set_everywhere(node, "tau", shape, options_.dt / (1.0 - leak));
      set_everywhere(node, "r", shape, 1.0);
      set_everywhere(node, "v_leak", shape, 0.0);
      sources = {node.name};
    }
    add("output", "Output", sources).arrays["shape"] = shape_array(plan.output, flat);
    const bool counts = plan.branches.front().synapse == SynapseKind::identity && leak == 1.0;
    result_.graph.metadata.texts["decode"] = counts       ? "spike count"
                                             : leak < 1.0 ? "last voltage"
                                                          : "sum over the steps";
  }

  Names source_nodes(const BranchPlan& branch) const {
    Names names;
    for (const int64_t source : branch.sources) {
      if (source == BranchPlan::kInput) {
        names.emplace_back("input");
      } else {
        names.insert(names.end(), outputs_[source].begin(), outputs_[source].end());
      }
    }
    return names;
  }

  /// Adds pool, flatten and weights; returns the names of the nodes whose sum is the branch.
  Names add_branch(std::size_t stage, std::size_t b, double gain, float input_factor) {
    const BranchPlan& branch = network_.stages()[stage].branches[b];
    const bool readout = network_.stages()[stage].readout;
    Names sources = source_nodes(branch);
    const bool flat = is_flat(branch.sources.front());
    if (branch.pools()) sources = {add_pool(branch, sources)};
    FixedAffine affine = affine_of(stage, b, input_factor);
    // An average is written as a sum pool: the weights after it compensate for that.
    const double pooled = branch.pools() && branch.pool == PoolKind::average
                              ? static_cast<double>(branch.pool_height * branch.pool_width)
                              : 1.0;
    affine.scale_by(gain / pooled, gain);
    if (branch.synapse == SynapseKind::identity) {
      return add_identity(branch, sources, flat, readout, affine);
    }
    if (branch.synapse == SynapseKind::dense && !flat) {
      NirNode& node = add(branch.name + "_flatten", "Flatten", sources);
      node.arrays["start_dim"] = scalar(0);
      node.arrays["end_dim"] = scalar(-1);
      node.arrays["input_type"] = shape_array(branch.input, false);
      sources = {node.name};
    }
    return {add_weights(branch, sources, readout, affine)};
  }

  static NirArray scalar(int64_t value) {
    return {.shape = {}, .values = {static_cast<float>(value)}, .integers = {value}};
  }

  std::string add_pool(const BranchPlan& branch, const Names& sources) {
    if (branch.pool == PoolKind::max) fail("{}: a max pool has no NIR node", branch.name);
    NirNode& node = add(branch.name + "_pool", "SumPool2d", sources);
    node.arrays["kernel_size"] = nir_integers({branch.pool_height, branch.pool_width});
    node.arrays["stride"] = nir_integers({branch.pool_height, branch.pool_width});
    node.arrays["padding"] = nir_integers({0, 0});
    return node.name;
  }

  std::string add_weights(const BranchPlan& branch, const Names& sources, bool readout,
                          const FixedAffine& affine) {
    const bool conv = branch.synapse == SynapseKind::conv;
    NirNode& node =
        add(branch.name + (readout ? "" : "_weights"), conv ? "Conv2d" : "Affine", sources);
    const Parameter& weight = *find_parameter(network_, branch.name + ".weight");
    const Buffer<float> values = to_pytorch_order(weight, weight.value);
    NirArray raw{.shape = weight.pytorch_shape,
                 .values = std::vector<float>(values.begin(), values.end()),
                 .integers = {}};
    NirArray folded = raw;
    const int64_t row = values.size() / branch.output.channels;
    for (int64_t i = 0; i < values.size(); ++i) {
      folded.values[i] = static_cast<float>(values[i] * affine.scale[i / row]);
    }
    node.arrays["weight"] = std::move(folded);
    node.arrays["bias"] = channel_array(affine.shift);
    if (conv) {
      node.arrays["input_shape"] = nir_integers({branch.input.height, branch.input.width});
      set_geometry(node, branch.geometry, 1);
    }
    keep_steps(branch, affine, node);
    if (affine.changes) {
      node.metadata.texts[kNirPrefix] = branch.name;
      node.metadata.arrays[kNirRawWeight] = std::move(raw);
    }
    return node.name;
  }

  static NirArray channel_array(const std::vector<double>& values) {
    return {.shape = {static_cast<int64_t>(values.size())},
            .values = std::vector<float>(values.begin(), values.end()),
            .integers = {}};
  }

  static void set_geometry(NirNode& node, const ConvGeometry& geometry, int64_t groups) {
    node.arrays["stride"] = nir_integers({geometry.stride, geometry.stride});
    node.arrays["padding"] = nir_integers({geometry.padding, geometry.padding});
    node.arrays["dilation"] = nir_integers({1, 1});
    node.arrays["groups"] = scalar(groups);
  }

  /// A shortcut is an edge. A scaled one is a depthwise 1x1 convolution, which every reader of
  /// convolutions supports, or a Scale for a flat layer.
  Names add_identity(const BranchPlan& branch, const Names& sources, bool flat, bool readout,
                     const FixedAffine& affine) {
    const bool neutral = std::ranges::all_of(affine.scale, [](double s) { return s == 1.0; });
    const bool still = std::ranges::all_of(affine.shift, [](double s) { return s == 0.0; });
    if (neutral && still && !affine.changes) return sources;
    const std::string name = branch.name + (readout ? "" : "_weights");
    if (flat && !still) {
      fail("{}: a shortcut between flat layers with a shift has no NIR node", branch.name);
    }
    NirNode& node = add(name, flat ? "Scale" : "Conv2d", sources);
    if (flat) {
      node.arrays["scale"] = channel_array(affine.scale);
    } else {
      node.arrays["weight"] = channel_array(affine.scale);
      node.arrays["weight"].shape = {branch.output.channels, 1, 1, 1};
      node.arrays["bias"] = channel_array(affine.shift);
      node.arrays["input_shape"] = nir_integers({branch.input.height, branch.input.width});
      set_geometry(node, {.kernel = 1, .stride = 1, .padding = 0}, branch.output.channels);
    }
    keep_steps(branch, affine, node);
    return {node.name};
  }

  FixedAffine affine_of(std::size_t stage, std::size_t b, float input_factor) {
    const StagePlan& plan = network_.stages()[stage];
    const BranchPlan& branch = plan.branches[b];
    const int64_t channels = branch.output.channels;
    const int64_t steps = network_.spec().steps;
    const auto norm = make_norm(branch.norm, {.channels = channels,
                                              .run_steps = steps,
                                              .threshold = plan.neuron.threshold,
                                              .branches = std::ssize(plan.branches)});
    if (norm->per_image()) {
      fail("{}: its norm '{}' depends on the sample, which NIR cannot express", branch.name,
           branch.norm.kind);
    }
    const RowSplit rows{steps, 1, branch.output.pixels(), channels};
    NormTrace trace = norm->from_running({.split = rows}, 0, network_.norm_statistics(stage, b));
    if (branch.bias) {
      const Buffer<float>& bias = find_parameter(network_, branch.name + ".bias")->value;
      for (int64_t i = 0; i < trace.mean.size(); ++i) trace.mean[i] -= bias[i % channels];
    }
    const std::size_t own = norm->parameters().size();
    norm->fold(0, own == 0 ? std::span<const Parameter>() : std::span(network_.gain(stage, b), own),
               input_factor, trace);
    FixedAffine result{.scale = std::vector<double>(static_cast<std::size_t>(channels), 0.0),
                       .shift = std::vector<double>(static_cast<std::size_t>(channels), 0.0)};
    for (int64_t i = 0; i < steps * channels; ++i) {
      result.changes = result.changes || trace.scale[i] != trace.scale[i % channels] ||
                       trace.shift[i] != trace.shift[i % channels];
      result.scale[i % channels] += trace.scale[i];
      result.shift[i % channels] += trace.shift[i];
    }
    for (int64_t c = 0; c < channels; ++c) {
      result.scale[c] = result.changes ? result.scale[c] / static_cast<double>(steps)
                                       : static_cast<double>(trace.scale[c]);
      result.shift[c] = result.changes ? result.shift[c] / static_cast<double>(steps)
                                       : static_cast<double>(trace.shift[c]);
    }
    if (result.changes && !options_.mean_of_steps) {
      fail(
          "{}: its norm '{}' changes from step to step, which NIR cannot express: --bntt mean "
          "writes "
          "the mean over time",
          branch.name, branch.norm.kind);
    }
    result_.approximate = result_.approximate || result.changes;
    result.steps = std::move(trace);
    return result;
  }

  /// For readers that can change a node's numbers from step to step: weights are raw_weight times
  /// the scale of a step, biases are its shift.
  void keep_steps(const BranchPlan& branch, const FixedAffine& affine, NirNode& node) const {
    if (!affine.changes) return;
    const auto rows = [&](const Buffer<float>& values) {
      return NirArray{.shape = {network_.spec().steps, branch.output.channels},
                      .values = std::vector<float>(values.begin(), values.end()),
                      .integers = {}};
    };
    node.metadata.texts["approximation"] = "mean over time";
    node.metadata.arrays["bntt_scale"] = rows(affine.steps.scale);
    node.metadata.arrays["bntt_shift"] = rows(affine.steps.shift);
  }

  const Network& network_;
  const NirExportOptions& options_;
  NirExport result_;
  std::set<std::string> names_;
  std::vector<Names> outputs_;  // [stage]: nodes whose sum its readers receive
};

/// Tensors that no node stores go into the metadata of the graph.
void add_tensors(const Network& network, NirGraph& graph) {
  std::set<std::string> kept;
  for (const NirNode& node : graph.nodes) {
    const auto prefix = node.metadata.texts.find(kNirPrefix);
    if (prefix != node.metadata.texts.end()) kept.insert(prefix->second + ".weight");
  }
  const TensorFile file = to_state_dict(with_float_weights(network));
  for (const Tensor& tensor : file.tensors) {
    if (kept.contains(tensor.name)) continue;
    const std::span<const float> values = tensor.floats();
    graph.metadata.arrays[kNirTensor + tensor.name] = {
        .shape = tensor.shape, .values = {values.begin(), values.end()}, .integers = {}};
  }
}

void describe(const Network& network, const ModelCard& card, const NirExportOptions& options,
              NirExport& result) {
  const NetworkSpec& spec = network.spec();
  NirMetadata& metadata = result.graph.metadata;
  metadata.texts["producer"] = fmt::format("bntt {}", version());
  metadata.texts["encoder"] = encoder_name(card.input.encoder.kind);
  if (!card.class_names.empty()) metadata.texts["class_names"] = Json(card.class_names).dump();
  metadata.texts[kNirReset] = result.soft_reset ? kNirSubtract : "zero";
  metadata.arrays[kNirDt] = number(options.dt);
  metadata.arrays[kNirSteps] = number(static_cast<double>(spec.steps));
  metadata.arrays[kNirVotes] = number(static_cast<double>(readout_of(spec).votes));
  metadata.arrays[kNirDivide] = number(readout_of(spec).divide_by_steps ? 1.0 : 0.0);
  TensorFile described;
  describe_model(network, card, described);
  if (!result.approximate) {
    // The graph itself is the network; the metadata must not describe a different one.
    std::erase_if(described.metadata, [](const auto& entry) { return entry.first != "bntt.card"; });
  } else {
    metadata.texts["approximation"] = "norms of every step as their mean over time";
    add_tensors(network, result.graph);
  }
  metadata.texts.insert(described.metadata.begin(), described.metadata.end());
}

}  // namespace

NirExport to_nir(const Network& network, const ModelCard& card, const NirExportOptions& options) {
  NirExport result = Exporter(network, options).run();
  describe(network, card, options, result);
  return result;
}

}  // namespace bntt
