#include "train/authors_format.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/fail.h"

namespace bntt {
namespace {

// bntt1 ... for convolutions, bntt_fc, bntt_fc2 ... for hidden fully connected stages.
std::vector<std::string> norm_names(const std::vector<StagePlan>& plans) {
  std::vector<std::string> names;
  int64_t convolutions = 0;
  int64_t dense = 0;
  for (const StagePlan& plan : plans) {
    if (plan.synapse == SynapseKind::conv3x3) {
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
    const NormKind expected = plan.readout ? NormKind::none : NormKind::bntt;
    if (plan.norm.kind != expected) {
      fail("{}: the authors' models have {} there, this network has another norm", plan.name,
           plan.readout ? "no norm" : "BNTT");
    }
    if (!plan.readout && plan.neuron.kind == NeuronKind::relu) {
      fail("{}: the authors' models have spiking neurons, this network has ReLU", plan.name);
    }
  }
}

std::string at_step(const std::string& norm, int64_t step, const char* what) {
  return fmt::format("{}.{}.{}", norm, step, what);
}

std::span<const float> row(const Buffer<float>& values, int64_t step, int64_t channels) {
  return values.span().subspan(static_cast<std::size_t>(step * channels),
                               static_cast<std::size_t>(channels));
}

/// Takes tensors out of a file by name, and knows at the end which were not asked for.
class TensorPicker {
 public:
  TensorPicker(const TensorFile& file, const std::string& origin) : file_(file), origin_(origin) {}

  std::span<const float> floats(const std::string& name, const std::vector<int64_t>& shape) {
    const Tensor* tensor = file_.find(name);
    if (tensor == nullptr) fail("{}: expected a tensor '{}', found none", origin_, name);
    if (tensor->shape != shape) {
      fail("{}: tensor '{}' has shape [{}], expected [{}]", origin_, name,
           fmt::join(tensor->shape, ", "), fmt::join(shape, ", "));
    }
    if (tensor->type != TensorType::f32) {
      fail("{}: tensor '{}' holds another type of number, expected float32", origin_, name);
    }
    used_.insert(name);
    return tensor->floats();
  }

  void allow(const std::string& name) { used_.insert(name); }

  void refuse_the_rest() const {
    for (const Tensor& tensor : file_.tensors) {
      if (!used_.contains(tensor.name)) {
        fail("{}: holds a tensor '{}' that this network has no place for", origin_, tensor.name);
      }
    }
  }

 private:
  const TensorFile& file_;
  const std::string& origin_;
  std::set<std::string> used_;
};

}  // namespace

TensorFile to_authors_format(const Network& network) {
  expect_expressible(network);
  TensorFile file;
  const auto names = norm_names(network.stages());
  std::size_t parameter = 0;
  for (std::size_t i = 0; i < network.stages().size(); ++i) {
    const StagePlan& plan = network.stages()[i];
    const Parameter& weight = network.parameters()[parameter++];
    file.tensors.push_back(float_tensor(plan.name + ".weight", weight.pytorch_shape,
                                        to_pytorch_order(weight, weight.value).span()));
    if (plan.readout) continue;
    const Parameter& gain = network.parameters()[parameter++];
    const RunningStatistics& running = network.statistics()[i];
    const int64_t channels = plan.output.channels;
    for (int64_t step = 0; step < network.spec().steps; ++step) {
      const auto add = [&](const char* what, const Buffer<float>& values) {
        file.tensors.push_back(
            float_tensor(at_step(names[i], step, what), {channels}, row(values, step, channels)));
      };
      add("weight", gain.value);
      add("running_mean", running.mean);
      add("running_var", running.variance);
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
  std::size_t parameter = 0;
  for (std::size_t i = 0; i < network.stages().size(); ++i) {
    const StagePlan& plan = network.stages()[i];
    Parameter& weight = network.parameters()[parameter++];
    const auto values = picker.floats(plan.name + ".weight", weight.pytorch_shape);
    Buffer<float> in_their_order(static_cast<int64_t>(values.size()));
    std::copy(values.begin(), values.end(), in_their_order.begin());
    weight.value = from_pytorch_order(weight, in_their_order);
    if (plan.readout) continue;
    Parameter& gain = network.parameters()[parameter++];
    RunningStatistics& running = network.statistics()[i];
    const int64_t channels = plan.output.channels;
    for (int64_t step = 0; step < network.spec().steps; ++step) {
      const auto take = [&](const char* what, Buffer<float>& target) {
        const auto row_values = picker.floats(at_step(names[i], step, what), {channels});
        std::copy(row_values.begin(), row_values.end(), target.data() + step * channels);
      };
      take("weight", gain.value);
      take("running_mean", running.mean);
      take("running_var", running.variance);
      picker.allow(at_step(names[i], step, "num_batches_tracked"));
    }
  }
  picker.refuse_the_rest();
}

AuthorsModelShape authors_model_shape(const TensorFile& file, const std::string& origin) {
  const auto shape_of = [&](const std::string& name, std::size_t axes) {
    const Tensor* tensor = file.find(name);
    if (tensor == nullptr || tensor->shape.size() != axes) {
      fail("{}: expected a tensor '{}' of {} axes, found none", origin, name, axes);
    }
    return tensor->shape;
  };
  const auto first = shape_of("conv1.weight", 4);
  AuthorsModelShape shape{.input_channels = first[1], .first_channels = first[0]};
  while (file.find(at_step("bntt1", shape.steps, "weight")) != nullptr) ++shape.steps;
  shape.hidden_inputs = shape_of("fc1.weight", 2)[1];
  int64_t last = 1;
  while (file.find(fmt::format("fc{}.weight", last + 1)) != nullptr) ++last;
  shape.classes = shape_of(fmt::format("fc{}.weight", last), 2)[0];
  return shape;
}

}  // namespace bntt
