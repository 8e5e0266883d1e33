// usage: export_case WEIGHTS.safetensors CASE.safetensors
// Trains a small network for a few steps and writes it, in the authors' format, with a batch of
// input spikes and its logits.

#include <torch/torch.h>

#include <cstdio>
#include <optional>

#include "base/safetensors.h"
#include "cases.h"
#include "layers/loss.h"
#include "torch/conversion.h"
#include "torch/torch_network.h"
#include "train/authors_format.h"

namespace bntt {
namespace {

constexpr int64_t kBatch = 8;

NetworkSpec authors_like_network() {
  return {
      .input = {3, 10, 10},
      .steps = 6,
      .stages = {Conv3x3{.channels = 8}, Conv3x3{.channels = 12}, AvgPool{},
                 Conv3x3{.channels = 16}, AvgPool{}, Dense{.features = 24}, Readout{.classes = 5}}};
}

void train(Network& network, uint64_t seed) {
  const std::vector<int64_t> labels = random_labels(kBatch, classes_of(network.spec()), seed);
  for (uint64_t step = 0; step < 15; ++step) {
    const Signal input =
        random_input(network.spec(), Encoding::signed_spikes, kBatch, seed + step % 5);
    const Trace trace = network.forward(input, NormMode::batch);
    network.backward(trace, cross_entropy(trace.logits, labels).gradient);
    for (Parameter& parameter : network.parameters()) {
      for (int64_t i = 0; i < parameter.value.size(); ++i) {
        parameter.value[i] -= 0.2F * parameter.gradient[i];
      }
    }
  }
}

double nearest_to_threshold(const Network& network, const torch::Tensor& input) {
  TorchNetwork oracle(network.spec());
  oracle.load(network);
  const torch::NoGradGuard forward_only;
  double nearest = 1.0;
  for (const TorchStageResult& stage : oracle.forward(input, NormMode::running).stages) {
    if (!stage.membrane.defined()) continue;
    nearest = std::min(nearest, (stage.membrane - 1.0).abs().min().item<double>());
  }
  return nearest;
}

/// Nothing when a membrane lies so near the threshold that two right implementations may differ.
std::optional<TensorFile> make_case(Network& network, uint64_t seed) {
  const Signal input = random_input(network.spec(), Encoding::signed_spikes, kBatch, seed);
  if (nearest_to_threshold(network, to_tensor(input, torch::kFloat64)) < 1e-5) return {};
  const torch::Tensor frames = to_tensor(input, torch::kFloat32).contiguous();
  const Trace trace = network.forward(input, NormMode::running);
  TensorFile file;
  file.tensors.push_back(
      float_tensor("input_spikes", frames.sizes().vec(),
                   {frames.data_ptr<float>(), static_cast<std::size_t>(frames.numel())}));
  file.tensors.push_back(
      float_tensor("logits", {kBatch, classes_of(network.spec())}, trace.logits.span()));
  return file;
}

int export_case(const char* weights_path, const char* case_path) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Network network(authors_like_network(), seed);
    train(network, 100 * seed);
    const std::optional<TensorFile> file = make_case(network, 100 * seed + 50);
    if (!file) continue;
    write_tensors(weights_path, to_authors_format(network));
    write_tensors(case_path, *file);
    return 0;
  }
  std::fprintf(stderr, "every seed put a membrane within 1e-5 of the threshold\n");
  return 1;
}

}  // namespace
}  // namespace bntt

int main(int argument_count, char** arguments) {
  if (argument_count != 3) return 2;
  return bntt::export_case(arguments[1], arguments[2]);
}
