// Writes networks as NIR, and beside each what it read and fired here. usage: export_nir DIRECTORY
#include <cstdio>
#include <filesystem>

#include "base/safetensors.h"
#include "exchange/nir_export.h"
#include "exchange/nir_file.h"
#include "nir_networks.h"

namespace bntt {
namespace {

/// [step, channel, y, x], as NIR has it, of one image.
Tensor channels_first(const std::string& name, const Signal& signal) {
  const MapShape& map = signal_shape(signal);
  const int64_t steps = signal_steps(signal);
  std::vector<float> values;
  const auto at = [&](int64_t step, int64_t y, int64_t x, int64_t c) {
    if (const auto* spikes = std::get_if<SpikeTrain>(&signal)) {
      return spikes->value(step, 0, y, x, c);
    }
    return std::get<DenseTrain>(signal)
        .values[((step * map.height + y) * map.width + x) * map.channels + c];
  };
  for (int64_t step = 0; step < steps; ++step) {
    for (int64_t c = 0; c < map.channels; ++c) {
      for (int64_t y = 0; y < map.height; ++y) {
        for (int64_t x = 0; x < map.width; ++x) values.push_back(at(step, y, x, c));
      }
    }
  }
  return float_tensor(name, {steps, map.channels, map.height, map.width}, values);
}

void write_case(const std::filesystem::path& directory, const testing::NirCase& each) {
  const Network network = testing::filled_network(each.spec);
  const DenseTrain input = testing::drawn_input(each.spec);
  const testing::RunOfNetwork run = testing::run_network(network, input);
  TensorFile file;
  file.tensors.push_back(channels_first("input", input));
  for (std::size_t i = 0; i < network.stages().size(); ++i) {
    const StagePlan& plan = network.stages()[i];
    if (plan.spikes()) file.tensors.push_back(channels_first(plan.name, run.outputs[i]));
  }
  file.tensors.push_back(float_tensor("logits", {run.logits.size()}, run.logits.span()));
  write_tensors(directory / (each.name + ".safetensors"), file, {.checksum = false});
  // The means over time are never run: the reader has the numbers of every step.
  write_nir(directory / (each.name + ".nir"), to_nir(network, {}, {.mean_of_steps = true}).graph);
}

}  // namespace
}  // namespace bntt

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::filesystem::create_directories(argv[1]);
  for (const auto& each : bntt::testing::exact_nir_cases()) bntt::write_case(argv[1], each);
  bntt::write_case(argv[1], bntt::testing::stepwise_nir_case());
  std::printf("%s: written\n", argv[1]);
  return 0;
}
