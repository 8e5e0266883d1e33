#include "exchange/nir_import.h"

#include <algorithm>
#include <cmath>

#include "base/fail.h"
#include "base/text.h"
#include "exchange/nir_lowering.h"
#include "exchange/nir_numbers.h"
#include "exchange/nir_order.h"
#include "exchange/nir_own.h"
#include "model/spec_limits.h"

namespace bntt {
namespace {

constexpr double kUsualDt = 1e-4;  // seconds; used by the files and importers of other tools
constexpr int64_t kMostWeights = int64_t{1} << 28;
constexpr int64_t kMostInputs = int64_t{1} << 24;
constexpr std::size_t kMostTerms = 16;

/// Walks a graph in order; every node turns its input signals into one.
class Importer : private NirNumbers {
 public:
  Importer(const NirGraph& graph, const std::string& origin, const NirImportOptions& options)
      : NirNumbers(origin),
        graph_(graph),
        origin_(origin),
        options_(options),
        order_(nir_order(graph, origin)) {
    dt_ =
        options.dt.value_or(readable_double(nir_number(graph.metadata, kNirDt).value_or(kUsualDt)));
    if (!(dt_ > 0.0)) fail("{}: dt is {}, expected a number above 0", origin_, dt_);
  }

  NirImport run() {
    std::vector<NirSignal> signals(graph_.nodes.size());
    for (const std::size_t place : order_.nodes) {
      const NirNode& node = graph_.nodes[place];
      const std::vector<std::size_t>& sources = order_.sources[place];
      if (sources.empty()) {
        signals[place] = begin(node);
        continue;
      }
      NirSignal arriving = signals[sources.front()];
      for (std::size_t i = 1; i < sources.size(); ++i) {
        const NirSignal& more = signals[sources[i]];
        if (more.map != arriving.map) refuse(node, "adds up maps of different shapes");
        arriving.flat = arriving.flat || more.flat;
        arriving.terms.insert(arriving.terms.end(), more.terms.begin(), more.terms.end());
        // A graph of n nodes can have 2ⁿ paths through it.
        if (arriving.terms.size() > kMostTerms) lowering_->make_plain(arriving, node.name + "_sum");
      }
      last_ = is_last(place);
      signals[place] = pass(node, std::move(arriving));
    }
    try {
      return {lowering_->network(), std::move(notes_)};
    } catch (const Error& error) {
      fail("{}: {}", origin_, error.what());
    }
  }

 private:
  /// Whether the output is the only reader of this node.
  bool is_last(std::size_t place) const {
    bool last = true;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const auto& sources = order_.sources[i];
      const bool reads = std::ranges::find(sources, place) != sources.end();
      if (reads && (graph_.nodes[i].type != "Output" || sources.size() != 1)) last = false;
    }
    return last;
  }

  NirSignal begin(const NirNode& node) {
    std::vector<int64_t> shape = array(node, "shape").integers;
    // Some exporters keep a leading batch axis of size one.
    while (shape.size() > 3 || shape.size() == 2) {
      if (shape.front() != 1) break;
      shape.erase(shape.begin());
      batch_axis_ = true;
    }
    if (shape.size() != 1 && shape.size() != 3) {
      refuse(node, "has shape {}, expected [features] or [channels, height, width]",
             nir_shape_text(array(node, "shape").integers));
    }
    int64_t size = 1;
    for (const int64_t extent : shape) {
      if (extent < 1 || extent > kMostInputs / size) {
        refuse(node, "has shape {}, expected 1 to {} values", nir_shape_text(shape), kMostInputs);
      }
      size *= extent;
    }
    const bool flat = shape.size() == 1;
    const MapShape map = flat ? MapShape{shape[0], 1, 1} : MapShape{shape[0], shape[1], shape[2]};
    const int64_t steps = options_.steps > 0 ? options_.steps : nir_steps(graph_);
    if (steps < 1 || steps > kMaxSteps) {
      fail("{}: does not give a number of steps, expected 1 to {}", origin_, kMaxSteps);
    }
    lowering_.emplace(map, steps, origin_);
    return lowering_->input(flat);
  }

  NirSignal pass(const NirNode& node, NirSignal signal) {
    const std::string& type = node.type;
    if (type == "Linear" || type == "Affine") return connect(node, std::move(signal));
    if (type == "Conv2d") return convolve(node, std::move(signal));
    if (type == "Scale") return scaled(node, std::move(signal));
    if (type == "Flatten") return flattened(node, std::move(signal));
    if (type == "SumPool2d") return pooled(node, std::move(signal), PoolKind::sum);
    if (type == "AvgPool2d") return pooled(node, std::move(signal), PoolKind::average);
    if (type == "IF" || type == "LIF" || type == "CubaLIF") return fire(node, signal);
    if (type == "I" || type == "LI") return integrate(node, std::move(signal));
    if (type == "Output") return finish(node, std::move(signal));
    refuse(node, "is of a type that bntt does not support");
  }

  NirSignal connect(const NirNode& node, NirSignal signal) {
    const NirArray& weight = array(node, "weight");
    if (weight.shape.size() != 2) {
      refuse(node, "has weights {}, expected [outputs, inputs]", nir_shape_text(weight.shape));
    }
    // PyTorch's Linear acts on the last axis: all others must have one element.
    const bool one_axis =
        signal.flat || signal.map.channels * signal.map.height == 1 || signal.map.pixels() == 1;
    if (!one_axis || weight.shape[1] != signal.map.size()) {
      refuse(node, "takes {} inputs, but {} arrive", weight.shape[1], nir_shape_text(signal));
    }
    if (weight.size() > kMostWeights) refuse(node, "has more than {} weights", kMostWeights);
    lowering_->make_plain(signal, node.name + "_sum");
    const int64_t outputs = weight.shape[0];
    NirTerm& term = signal.terms.front();
    term.synapse = SynapseSpec{.kind = SynapseKind::dense, .outputs = outputs};
    term.weight = weights(node);
    if (node.type == "Affine") term.shift = biases(node, outputs);
    signal.map = {outputs, 1, 1};
    signal.flat = true;
    return signal;
  }

  NirSignal convolve(const NirNode& node, NirSignal signal) {
    const NirArray& weight = array(node, "weight");
    const MapShape map = signal.map;
    if (signal.flat) refuse(node, "reads a flat layer, expected a map");
    if (weight.shape.size() != 4 || weight.shape[2] != weight.shape[3] ||
        weight.shape[2] > kMaxKernel) {
      refuse(node, "has weights {}, expected [outputs, inputs, side, side] with a side of 1 to {}",
             nir_shape_text(weight.shape), kMaxKernel);
    }
    const int64_t outputs = weight.shape[0];
    const int64_t stride = square(node, "stride", 1, kMaxKernel);
    const int64_t dilation =
        node.arrays.contains("dilation") ? square(node, "dilation", 1, kMaxKernel) : 1;
    const int64_t kernel = (weight.shape[2] - 1) * dilation + 1;
    if (kernel > kMaxKernel) {
      refuse(node, "has a kernel of {} pixels and dilation {}, which together cover more than {}",
             weight.shape[2], dilation, kMaxKernel);
    }
    const int64_t groups = node.arrays.contains("groups") ? integers(node, "groups", 1).front() : 1;
    if (groups < 1 || map.channels % groups != 0 || outputs % groups != 0 ||
        weight.shape[1] != map.channels / groups) {
      refuse(node, "has weights {} in {} groups for {} channels", nir_shape_text(weight.shape),
             groups, map.channels);
    }
    const int64_t most = groups == 1 && dilation == 1 ? kMostWeights : kMostUnwritten;
    if (outputs > most / (map.channels * kernel * kernel)) {
      refuse(node, "has more than {} weights, its groups and dilation filled up with zeros", most);
    }
    const SynapseSpec synapse{.kind = SynapseKind::conv,
                              .outputs = outputs,
                              .kernel = kernel,
                              .stride = stride,
                              .padding = padding_of(node, kernel, stride)};
    const ConvGeometry geometry{synapse.kernel, synapse.stride, synapse.padding};
    if (geometry.output(map, outputs).pixels() < 1) {
      refuse(node, "has a kernel that does not fit into a map of {}x{} pixels", map.height,
             map.width);
    }
    lowering_->make_plain(signal, node.name + "_sum");
    NirTerm& term = signal.terms.front();
    term.synapse = synapse;
    term.weight = groups == 1 ? weights(node) : without_groups(weight, groups, map.channels);
    if (dilation > 1) term.weight = without_dilation(term.weight, weight.shape[2], dilation);
    term.shift = biases(node, outputs);
    signal.map = geometry.output(map, outputs);
    return signal;
  }

  int64_t padding_of(const NirNode& node, int64_t kernel, int64_t stride) const {
    const auto named = node.texts.find("padding");
    if (named == node.texts.end()) return square(node, "padding", 0, kMaxKernel);
    if (named->second == "valid") return 0;
    if (named->second == "same" && stride == 1 && kernel % 2 == 1) return kernel / 2;
    refuse(node, "has padding '{}' with a kernel of {} and stride {}", excerpt(named->second),
           kernel, stride);
  }

  /// Expands grouped weights, with zeros where a group does not see a channel.
  static std::vector<float> without_groups(const NirArray& weight, int64_t groups,
                                           int64_t channels) {
    const int64_t outputs = weight.shape[0];
    const int64_t inputs = weight.shape[1];
    const int64_t taps = weight.shape[2] * weight.shape[3];
    std::vector<float> result(static_cast<std::size_t>(outputs * channels * taps), 0.0F);
    for (int64_t out = 0; out < outputs; ++out) {
      const int64_t first = out / (outputs / groups) * inputs;
      for (int64_t i = 0; i < inputs * taps; ++i) {
        result[(out * channels + first) * taps + i] = weight.at(out * inputs * taps + i);
      }
    }
    return result;
  }

  /// Spreads every kernel, with zeros between its weights.
  static std::vector<float> without_dilation(const std::vector<float>& weight, int64_t taps,
                                             int64_t dilation) {
    const int64_t kernel = (taps - 1) * dilation + 1;
    const auto kernels = static_cast<int64_t>(weight.size()) / (taps * taps);
    std::vector<float> result(static_cast<std::size_t>(kernels * kernel * kernel), 0.0F);
    for (int64_t i = 0; i < kernels; ++i) {
      for (int64_t y = 0; y < taps; ++y) {
        for (int64_t x = 0; x < taps; ++x) {
          result[(i * kernel + y * dilation) * kernel + x * dilation] =
              weight[(i * taps + y) * taps + x];
        }
      }
    }
    return result;
  }

  NirSignal scaled(const NirNode& node, NirSignal signal) {
    const NirArray& scale = array(node, "scale");
    expect_shape(node, "scale", scale, signal);
    const int64_t pixels = signal.map.pixels();
    std::vector<double> factors(static_cast<std::size_t>(signal.map.channels));
    for (int64_t c = 0; c < signal.map.channels; ++c) {
      factors[c] = scale.at(c * pixels);
      for (int64_t i = 1; i < pixels; ++i) {
        if (scale.at(c * pixels + i) != scale.at(c * pixels)) {
          refuse(node, "has scales that differ within a channel");
        }
      }
    }
    for (NirTerm& term : signal.terms) {
      if (term.scale.empty()) term.scale.assign(factors.size(), 1.0);
      for (std::size_t c = 0; c < factors.size(); ++c) {
        term.scale[c] *= factors[c];
        if (!term.shift.empty()) term.shift[c] *= factors[c];
      }
    }
    return signal;
  }

  NirSignal flattened(const NirNode& node, NirSignal signal) const {
    const auto axis = [&](const char* name, int64_t otherwise) {
      return node.arrays.contains(name) ? integers(node, name, 1).front() : otherwise;
    };
    const int64_t first = axis("start_dim", 0);
    const int64_t last = axis("end_dim", -1);
    const int64_t axes = (signal.flat ? 1 : 3) + (batch_axis_ ? 1 : 0);
    const bool from_front = first == 0 || (first == 1 && batch_axis_);
    if (!from_front || (last != -1 && last != axes - 1)) {
      refuse(node, "flattens axes {} to {}, expected all of a map", first, last);
    }
    signal.flat = true;
    return signal;
  }

  NirSignal pooled(const NirNode& node, NirSignal signal, PoolKind kind) {
    if (signal.flat) refuse(node, "reads a flat layer, expected a map");
    const std::vector<int64_t> kernel = integers(node, "kernel_size", 2);
    const std::vector<int64_t> stride =
        node.arrays.contains("stride") ? integers(node, "stride", 2) : kernel;
    if (kernel != stride) refuse(node, "has squares that overlap or leave gaps");
    if (node.arrays.contains("padding") &&
        integers(node, "padding", 2) != std::vector<int64_t>{0, 0}) {
      refuse(node, "has a padding, expected none");
    }
    const bool whole = kernel[0] == signal.map.height && kernel[1] == signal.map.width;
    if (!whole && kernel[0] != kernel[1]) {
      refuse(node, "takes {}x{} pixels together, expected a square or the whole map", kernel[0],
             kernel[1]);
    }
    if (kernel[0] < 1 || kernel[0] > signal.map.height || kernel[1] > signal.map.width) {
      refuse(node, "takes {}x{} pixels together of a map of {}x{}", kernel[0], kernel[1],
             signal.map.height, signal.map.width);
    }
    lowering_->make_plain(signal, node.name + "_sum");
    if (signal.terms.front().pool.size != 1) {
      // A branch has only one pool: the previous one becomes a stage of its own.
      signal.terms.front().scale.assign(static_cast<std::size_t>(signal.map.channels), 1.0);
      lowering_->make_plain(signal, node.name + "_before");
    }
    signal.terms.front().pool = {kind, whole ? 0 : kernel[0]};
    signal.map.height /= kernel[0];
    signal.map.width /= kernel[1];
    return signal;
  }

  double leak_of(const NirNode& node, double tau) const {
    if (!(tau > dt_)) {
      refuse(node, "has a time constant of {} s, expected more than dt, {} s: see --dt", tau, dt_);
    }
    return 1.0 - dt_ / tau;
  }

  /// With τ_syn = dt, only the weight of the synapse remains.
  double synaptic_gain(const NirNode& node, const NirSignal& signal) const {
    const double tau = parameter(node, "tau_syn", signal);
    if (std::abs(tau - dt_) > 1e-6 * dt_) {
      refuse(node, "has tau_syn {} s, but bntt runs synapses without memory: tau_syn = dt, {} s",
             tau, dt_);
    }
    return parameter_or(node, "w_in", signal, 1.0);
  }

  /// v' = R I over one step: some files include the step in R, some do not.
  double integrator_gain(double r) const { return std::abs(r * dt_ - 1.0) < 1e-6 ? 1.0 : r; }

  Reset reset_of(const NirNode& node) const {
    if (options_.reset) return *options_.reset;
    for (const NirMetadata* metadata : {&node.metadata, &graph_.metadata}) {
      const auto found = metadata->texts.find(kNirReset);
      if (found != metadata->texts.end()) {
        return found->second == kNirSubtract ? Reset::soft : Reset::hard;
      }
    }
    return Reset::hard;
  }

  // Forward Euler: v ← v + dt/τ (v_leak − v + r I) = λ v + (1 − λ)(r I + v_leak), λ = 1 − dt/τ.
  NirSignal fire(const NirNode& node, const NirSignal& signal) {
    if (parameter_or(node, "v_reset", signal, 0.0) != 0.0) {
      refuse(node, "resets to a voltage other than 0");
    }
    const double threshold = parameter(node, "v_threshold", signal);
    if (!(threshold > 0.0)) refuse(node, "has the threshold {}, expected more than 0", threshold);
    const double r = parameter(node, "r", signal);
    NirDrive drive;
    double leak = 1.0;
    if (node.type == "IF") {
      drive.gain = integrator_gain(r);
    } else {
      const bool synapses = node.type == "CubaLIF";
      leak = leak_of(node, parameter(node, synapses ? "tau_mem" : "tau", signal));
      drive.gain = (1.0 - leak) * r * (synapses ? synaptic_gain(node, signal) : 1.0);
      drive.constant = (1.0 - leak) * parameter_or(node, "v_leak", signal, 0.0);
    }
    const NeuronSpec neuron{.kind = node.type == "IF" ? "if" : "lif",
                            .leak = static_cast<float>(leak),
                            .threshold = static_cast<float>(threshold),
                            .reset = reset_of(node),
                            .floor = nir_number(node.metadata, kNirFloor)};
    notes_.push_back(fmt::format("{}: leak {:.6g}, threshold {:.6g}, {} reset", node.name, leak,
                                 threshold, neuron.reset == Reset::soft ? "soft" : "hard"));
    return lowering_->fire(signal, node.name, neuron, drive);
  }

  NirSignal integrate(const NirNode& node, NirSignal signal) {
    if (!last_) refuse(node, "is not the last node, and bntt integrates without spikes only there");
    const double r = parameter(node, "r", signal);
    readout_drive_.gain = integrator_gain(r);
    if (node.type == "LI") {
      const double leak = leak_of(node, parameter(node, "tau", signal));
      readout_.leak = static_cast<float>(leak);
      readout_drive_ = {.gain = (1.0 - leak) * r,
                        .constant = (1.0 - leak) * parameter_or(node, "v_leak", signal, 0.0)};
    }
    // The answer is its voltage, not a mean.
    readout_.divide_by_steps = false;
    integrated_ = true;
    return signal;
  }

  NirSignal finish(const NirNode& node, NirSignal signal) {
    const NirArray& shape = array(node, "shape");
    std::vector<int64_t> own = shape.integers;
    while (own.size() > 1 && own.front() == 1) own.erase(own.begin());
    if (!nir_shape_fits(shape.integers, signal) && own != std::vector<int64_t>{signal.map.size()}) {
      refuse(node, "has shape {}, but {} arrives", nir_shape_text(shape.integers),
             nir_shape_text(signal));
    }
    if (signal.map.pixels() != 1) {
      refuse(node, "reads a map of {}, expected one value for each class", nir_shape_text(signal));
    }
    const bool counts =
        signal.terms.size() == 1 && signal.terms.front().is_plain() && signal.terms.front().spikes;
    if (!integrated_) readout_.divide_by_steps = !counts;
    if (const auto divide = nir_number(graph_.metadata, kNirDivide)) {
      readout_.divide_by_steps = *divide != 0.0F;
    }
    const float given = nir_number(graph_.metadata, kNirVotes).value_or(1.0F);
    const bool possible = given >= 1.0F && given <= static_cast<float>(signal.map.channels);
    const auto votes = possible ? static_cast<int64_t>(given) : int64_t{0};
    if (votes == 0 || signal.map.channels % votes != 0) {
      refuse(node, "has {} outputs, which are not {} for each class", signal.map.channels, given);
    }
    readout_.votes = votes;
    readout_.classes = signal.map.channels / votes;
    lowering_->read_out(std::move(signal), node.name, readout_, readout_drive_);
    return {};
  }

  const NirGraph& graph_;
  const std::string& origin_;
  NirImportOptions options_;
  NirOrder order_;
  double dt_ = kUsualDt;
  bool batch_axis_ = false;  // the input has a batch axis of size one
  bool last_ = false;        // the current node is the last before the output
  std::optional<NirLowering> lowering_;
  Readout readout_;
  NirDrive readout_drive_;
  bool integrated_ = false;
  std::vector<std::string> notes_;
};

}  // namespace

NirImport from_nir(const NirGraph& graph, const std::string& origin,
                   const NirImportOptions& options) {
  if (!options.as_others && graph.metadata.texts.contains(kNirNetwork)) {
    if (options.dt || options.reset || options.steps > 0) {
      fail("{}: holds its exact network: leave out --dt, --reset and --steps", origin);
    }
    return {exact_network(graph, origin), {"exactly as it was exported, from the metadata"}};
  }
  return Importer(graph, origin, options).run();
}

}  // namespace bntt
