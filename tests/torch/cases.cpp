#include "cases.h"

#include <algorithm>

#include "base/random.h"
#include "bntt/norm.h"
#include "kernels/surrogates.h"
#include "layers/neurons/neurons.h"

namespace bntt {

NetworkSpec small_network(const SmallNetwork& options) {
  const auto conv = [&](int64_t channels) {
    return Conv3x3{.channels = channels, .norm = options.norm, .neuron = options.neuron};
  };
  return {.input = {2, 9, 7},
          .steps = options.steps,
          .propagation = options.propagation,
          .stages = {conv(5), conv(70), AvgPool{options.pool}, conv(9),
                     Dense{.features = 11, .norm = options.norm, .neuron = options.neuron},
                     Readout{.classes = 4,
                             .norm = options.readout_norm,
                             .divide_by_steps = options.divide_by_steps,
                             .votes = options.readout_votes,
                             .leak = options.readout_leak}}};
}

Buffer<float> random_values(int64_t size, float low, float high, uint64_t seed) {
  Buffer<float> values(size);
  for (int64_t i = 0; i < size; ++i) {
    const auto bits = draw4(seed, Purpose::encoding, {.block = static_cast<uint32_t>(i)});
    values[i] = low + (high - low) * uniform01(bits[0]);
  }
  return values;
}

std::vector<int64_t> random_labels(int64_t batch, int64_t classes, uint64_t seed) {
  const Buffer<float> values = random_values(batch, 0.0F, static_cast<float>(classes), seed);
  return {values.begin(), values.end()};
}

namespace {

SpikeTrain random_spikes(int64_t steps, int64_t batch, const MapShape& shape,
                         std::vector<float> plane_weights, uint64_t seed) {
  constexpr float kDensity = 0.4F;
  SpikeTrain train(steps, batch, shape, std::move(plane_weights));
  const bool exclusive = train.planes() == 2;  // a pixel is not +1 and -1 at once
  const int64_t count = steps * batch * shape.size();
  const Buffer<float> draws = random_values(count * train.planes(), 0.0F, 1.0F, seed);
  int64_t i = 0;
  for (int64_t step = 0; step < steps; ++step)
    for (int64_t image = 0; image < batch; ++image)
      for (int64_t y = 0; y < shape.height; ++y)
        for (int64_t x = 0; x < shape.width; ++x)
          for (int64_t channel = 0; channel < shape.channels; ++channel, ++i) {
            if (exclusive) {
              if (draws[i] < kDensity) {
                train.set(draws[i + count] < 0.5F ? 0 : 1, step, image, y, x, channel);
              }
              continue;
            }
            for (int64_t plane = 0; plane < train.planes(); ++plane) {
              if (draws[i + plane * count] < kDensity) train.set(plane, step, image, y, x, channel);
            }
          }
  return train;
}

}  // namespace

Signal random_input(const NetworkSpec& spec, Encoding encoding, int64_t batch, uint64_t seed) {
  const int64_t steps = active_steps(spec);
  switch (encoding) {
    case Encoding::signed_spikes:
      return random_spikes(steps, batch, spec.input, {1.0F, -1.0F}, seed);
    case Encoding::unsigned_spikes:
      return random_spikes(steps, batch, spec.input, {1.0F}, seed);
    case Encoding::counts:
      return random_spikes(steps, batch, spec.input, {1.0F, 2.0F, 4.0F}, seed);
    case Encoding::direct:
    case Encoding::real_frames:
      break;
  }
  DenseTrain train;
  train.steps = steps;
  train.batch = batch;
  train.shape = spec.input;
  train.constant = encoding == Encoding::direct;
  train.values = random_values(train.stored_steps() * batch * spec.input.size(), -1.5F, 1.5F, seed);
  return train;
}

namespace {

/// Without a norm, Xavier's weights leave the deeper stages of a short run silent.
void enliven_branches_without_norm(Network& network) {
  for (std::size_t stage = 0; stage + 1 < network.stages().size(); ++stage) {
    const StagePlan& plan = network.stages()[stage];
    for (std::size_t b = 0; b < plan.branches.size(); ++b) {
      if (network.gain(stage, b) != nullptr) continue;
      for (Parameter& parameter : network.parameters()) {
        if (parameter.name != plan.branches[b].name + ".weight") continue;
        const float bound = *std::max_element(parameter.value.begin(), parameter.value.end());
        for (float& weight : parameter.value) weight = 1.2F * weight + 0.15F * bound;
      }
    }
  }
}

Buffer<float> unremarkable_values(const Parameter& parameter, uint64_t seed) {
  const int64_t size = parameter.value.size();
  switch (parameter.group) {
    case ParameterGroup::weight:
      return parameter.value;
    case ParameterGroup::gain:
      return random_values(size, 0.6F, 1.4F, seed);
    case ParameterGroup::shift:
    case ParameterGroup::bias:
      return random_values(size, -0.2F, 0.3F, seed);
    case ParameterGroup::neuron:
      break;
  }
  Buffer<float> values = random_values(size, -0.4F, 0.4F, seed);
  for (int64_t i = 0; i < size; ++i) values[i] += parameter.value[i];
  return values;
}

}  // namespace

void make_unremarkable(Network& network, Encoding encoding, int64_t batch) {
  enliven_branches_without_norm(network);
  uint64_t seed = 1000;
  for (Parameter& parameter : network.parameters()) {
    if (parameter.group == ParameterGroup::weight) continue;
    parameter.value = unremarkable_values(parameter, ++seed);
  }
  for (int warm_up = 0; warm_up < 4; ++warm_up) {
    network.forward(random_input(network.spec(), encoding, batch, ++seed), NormMode::batch);
  }
}

void set_break_even(Network& network, float break_even) {
  network.set_break_even(
      std::vector<BreakEven>(network.break_even().size(), {break_even, break_even}));
}

std::vector<std::string> norm_names() {
  std::vector<std::string> names;
  for (const NormEntry& entry : norm_table()) names.emplace_back(entry.name);
  return names;
}

std::vector<std::string> real_norm_names() {
  std::vector<std::string> names = norm_names();
  std::erase(names, "none");
  return names;
}

std::vector<std::string> spiking_neuron_names() {
  std::vector<std::string> names;
  for (const NeuronEntry& entry : neuron_table()) {
    const StagePlan plan{.neuron = {.kind = entry.name}};
    if (plan.spikes()) names.emplace_back(entry.name);
  }
  return names;
}

std::vector<SurrogateKind> surrogates() {
  std::vector<SurrogateKind> kinds;
  for (const auto& [kind, name, meaning] : kSurrogates) kinds.push_back(kind);
  return kinds;
}

std::string name_of(std::string kind) {
  std::replace(kind.begin(), kind.end(), '-', '_');
  return kind;
}

std::string name_of(SurrogateKind kind) {
  return std::ranges::find(kSurrogates, kind, &EnumEntry<SurrogateKind>::value)->name;
}

std::string name_of(Encoding encoding) {
  switch (encoding) {
    case Encoding::signed_spikes:
      return "signed_spikes";
    case Encoding::unsigned_spikes:
      return "unsigned_spikes";
    case Encoding::counts:
      return "counts";
    case Encoding::direct:
      return "direct";
    case Encoding::real_frames:
      return "real_frames";
  }
  return "unknown";
}

std::string name_of(PoolKind kind) {
  switch (kind) {
    case PoolKind::average:
      return "average";
    case PoolKind::sum:
      return "sum";
    case PoolKind::max:
      return "max";
  }
  return "unknown";
}

std::string name_of(Propagation propagation) {
  return propagation == Propagation::instant ? "instant" : "delayed";
}

std::string name_of(Reset reset) { return reset == Reset::soft ? "soft" : "hard"; }

std::string name_of(Fire fire) { return fire == Fire::gt ? "gt" : "ge"; }

std::string name_of(NormMode mode) { return mode == NormMode::batch ? "training" : "evaluation"; }

}  // namespace bntt
