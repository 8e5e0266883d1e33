#include "train/authors_format.h"

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>

#include "base/check.h"
#include "base/fail.h"

namespace bntt {
namespace {

// bntt1 ... for convolutions, bntt_fc, bntt_fc2 ... for hidden fully connected stages.
std::vector<std::string> norm_names(const std::vector<StagePlan>& plans) {
  std::vector<std::string> names;
  int64_t convolutions = 0;
  int64_t dense = 0;
  for (const StagePlan& plan : plans) {
    if (plan.branches.front().synapse == SynapseKind::conv) {
      names.push_back(fmt::format("bntt{}", ++convolutions));
    } else {
      ++dense;
      names.push_back(dense == 1 ? "bntt_fc" : fmt::format("bntt_fc{}", dense));
    }
  }
  return names;
}

void expect_expressible(const Network& network) {
  for (const StagePlan& plan : network.stages()) {
    const BranchPlan& branch = plan.branches.front();
    if (plan.branches.size() > 1 || branch.sources.size() > 1) {
      fail("{}: the authors' models are chains, this network has branches", plan.name);
    }
    if (branch.synapse == SynapseKind::identity || !branch.geometry.is_same_3x3() || branch.bias) {
      fail("{}: the authors' models have 3x3 convolutions and full connections without bias",
           plan.name);
    }
    if (branch.norm.kind != (plan.readout ? "none" : "bntt") || branch.norm.shift) {
      fail("{}: the authors' models have {} there, this network has another norm", plan.name,
           plan.readout ? "no norm" : "BNTT");
    }
    if (plan.readout && plan.output.channels != classes_of(network.spec())) {
      fail("{}: the authors' models have one output for each class, this network has {}", plan.name,
           readout_of(network.spec()).votes);
    }
    if (!plan.readout && plan.neuron.kind != "lif" && plan.neuron.kind != "if") {
      fail("{}: the authors' models have LIF neurons, this network has '{}'", plan.name,
           plan.neuron.kind);
    }
  }
}

/// The parameter or statistic with the given name.
template <typename Numbers>
auto named(Numbers& numbers, const std::string& name) {
  const auto found =
      std::ranges::find_if(numbers, [&](const auto& number) { return number.name == name; });
  BNTT_CHECK(found != numbers.end());
  return found;
}

std::string at_step(const std::string& norm, int64_t step, const char* what) {
  return fmt::format("{}.{}.{}", norm, step, what);
}

std::span<const float> row(const Buffer<float>& values, int64_t step, int64_t channels) {
  return values.span().subspan(static_cast<std::size_t>(step * channels),
                               static_cast<std::size_t>(channels));
}

/// Reads tensors of a file by name, and reports at the end those that were not used.
class TensorPicker {
 public:
  TensorPicker(const TensorFile& file, const std::string& origin) : file_(file), origin_(origin) {
    for (const Tensor& tensor : file.tensors) by_name_[tensor.name] = &tensor;
  }

  std::span<const float> floats(const std::string& name, const std::vector<int64_t>& shape) {
    const auto found = by_name_.find(name);
    const Tensor* tensor = found == by_name_.end() ? nullptr : found->second;
    if (tensor == nullptr) fail("{}: expected a tensor '{}', found none", origin_, name);
    if (tensor->shape != shape) {
      fail("{}: tensor '{}' has shape [{}], expected [{}]", origin_, name,
           fmt::join(tensor->shape, ", "), fmt::join(shape, ", "));
    }
    if (tensor->type != TensorType::f32) {
      fail("{}: tensor '{}' is not float32", origin_, name);
    }
    used_.insert(name);
    return tensor->floats();
  }

  void allow(const std::string& name) { used_.insert(name); }

  void refuse_the_rest() const {
    for (const Tensor& tensor : file_.tensors) {
      if (!used_.contains(tensor.name)) {
        fail("{}: holds a tensor '{}' that this network does not have", origin_, tensor.name);
      }
    }
  }

 private:
  const TensorFile& file_;
  const std::string& origin_;
  std::unordered_map<std::string, const Tensor*> by_name_;
  std::set<std::string> used_;
};

}  // namespace

TensorFile to_authors_format(const Network& network) {
  expect_expressible(network);
  TensorFile file;
  const auto names = norm_names(network.stages());
  for (std::size_t i = 0; i < network.stages().size(); ++i) {
    const StagePlan& plan = network.stages()[i];
    const Parameter& weight = *named(network.parameters(), plan.name + ".weight");
    file.tensors.push_back(float_tensor(weight.name, weight.pytorch_shape,
                                        to_pytorch_order(weight, weight.value).span()));
    if (plan.readout) continue;
    const auto statistics = network.norm_statistics(i);
    const int64_t channels = plan.output.channels;
    for (int64_t step = 0; step < network.spec().steps; ++step) {
      const auto add = [&](const char* what, const Buffer<float>& values) {
        file.tensors.push_back(
            float_tensor(at_step(names[i], step, what), {channels}, row(values, step, channels)));
      };
      add("weight", network.gain(i)->value);
      add("running_mean", statistics[0].value);
      add("running_var", statistics[1].value);
      // PyTorch counts batches for averaging without momentum; with momentum the number has no
      // effect.
      const std::array<int64_t, 1> batches = {0};
      file.tensors.push_back(
          integer_tensor(at_step(names[i], step, "num_batches_tracked"), {}, batches));
    }
  }
  return file;
}

void from_authors_format(const TensorFile& file, const std::string& origin, Network& network) {
  expect_expressible(network);
  TensorPicker picker(file, origin);
  const auto names = norm_names(network.stages());
  for (std::size_t i = 0; i < network.stages().size(); ++i) {
    const StagePlan& plan = network.stages()[i];
    Parameter& weight = *named(network.parameters(), plan.name + ".weight");
    const auto values = picker.floats(weight.name, weight.pytorch_shape);
    Buffer<float> in_their_order(static_cast<int64_t>(values.size()));
    std::copy(values.begin(), values.end(), in_their_order.begin());
    weight.value = from_pytorch_order(weight, in_their_order);
    if (plan.readout) continue;
    const int64_t channels = plan.output.channels;
    const auto take = [&](const char* what, Buffer<float>& target) {
      for (int64_t step = 0; step < network.spec().steps; ++step) {
        const auto row_values = picker.floats(at_step(names[i], step, what), {channels});
        std::copy(row_values.begin(), row_values.end(), target.data() + step * channels);
      }
    };
    const std::string norm = plan.name + ".norm.";
    take("weight", named(network.parameters(), norm + "weight")->value);
    take("running_mean", named(network.statistics(), norm + "running_mean")->value);
    take("running_var", named(network.statistics(), norm + "running_var")->value);
    for (int64_t step = 0; step < network.spec().steps; ++step) {
      picker.allow(at_step(names[i], step, "num_batches_tracked"));
    }
  }
  picker.refuse_the_rest();
}

bool has_authors_names(const TensorFile& file) {
  return std::ranges::any_of(file.tensors,
                             [](const Tensor& tensor) { return tensor.name.starts_with("bntt"); });
}

AuthorsModelShape authors_model_shape(const TensorFile& file, const std::string& origin) {
  std::unordered_map<std::string_view, const Tensor*> by_name;
  for (const Tensor& tensor : file.tensors) by_name.emplace(tensor.name, &tensor);
  const auto shape_of = [&](const std::string& name, std::size_t axes) {
    const auto found = by_name.find(name);
    const Tensor* tensor = found == by_name.end() ? nullptr : found->second;
    if (tensor == nullptr || tensor->shape.size() != axes) {
      fail("{}: expected a tensor '{}' of {} axes, found none", origin, name, axes);
    }
    return tensor->shape;
  };
  const auto first = shape_of("conv1.weight", 4);
  AuthorsModelShape shape{.input_channels = first[1], .first_channels = first[0]};
  while (by_name.contains(at_step("bntt1", shape.steps, "weight"))) ++shape.steps;
  shape.hidden_inputs = shape_of("fc1.weight", 2)[1];
  int64_t last = 1;
  while (by_name.contains(fmt::format("fc{}.weight", last + 1))) ++last;
  shape.classes = shape_of(fmt::format("fc{}.weight", last), 2)[0];
  return shape;
}

}  // namespace bntt
