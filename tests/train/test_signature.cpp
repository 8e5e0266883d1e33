#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/random.h"
#include "bntt/network.h"
#include "bntt/zoo.h"
#include "kernels/kernel_set.h"
#include "layers/loss.h"
#include "learn/sgd.h"

namespace bntt {
namespace {

/// One number that stands for every bit of a fixed small training run and of inference after it: a
/// refactoring that leaves it alone has changed no result. It holds for every kernel set; oneDNN's
/// own kernels differ between processors, so the test is run with ONEDNN_MAX_CPU_ISA=AVX2.
constexpr uint64_t kSignature = 0xcad17a16adb3f51c;

class Hash {
 public:
  void add(const Buffer<float>& values) {
    for (const float value : values) {
      state_ = (state_ ^ std::bit_cast<uint32_t>(value)) * 0x100000001b3U;
    }
  }
  uint64_t value() const { return state_; }

 private:
  uint64_t state_ = 0xcbf29ce484222325U;
};

constexpr int64_t kBatch = 6;
constexpr int64_t kClasses = 5;

float uniform(uint32_t sample, int64_t position) {
  const auto bits =
      draw4(7, Purpose::encoding, {.sample = sample, .block = static_cast<uint32_t>(position)});
  return uniform01(bits[0]);
}

/// Signed spikes at about three of ten places, or the same real values at every step.
Signal input_of(const NetworkSpec& spec, bool direct, uint32_t seed) {
  const MapShape& shape = spec.input;
  const int64_t steps = active_steps(spec);
  if (direct) {
    DenseTrain values{.steps = steps,
                      .batch = kBatch,
                      .shape = shape,
                      .constant = true,
                      .values = Buffer<float>(kBatch * shape.size())};
    for (int64_t i = 0; i < values.values.size(); ++i) {
      values.values[i] = 2.0F * uniform(seed, i) - 1.0F;
    }
    return values;
  }
  SpikeTrain spikes(steps, kBatch, shape, {1.0F, -1.0F});
  int64_t position = 0;
  for (int64_t step = 0; step < steps; ++step) {
    for (int64_t image = 0; image < kBatch; ++image) {
      for (int64_t i = 0; i < shape.size(); ++i) {
        const float draw = uniform(seed, position++);
        if (draw > 0.3F) continue;
        const int64_t pixel = i / shape.channels;
        spikes.set(draw < 0.15F ? 0 : 1, step, image, pixel / shape.width, pixel % shape.width,
                   i % shape.channels);
      }
    }
  }
  return spikes;
}

struct Case {
  ZooOptions options;
  bool direct = false;
  Precision precision = Precision::fp32;
};

void train_and_infer(const Case& trial, Hash& hash) {
  Network network(vgg5(trial.options), 3);
  network.set_precision(trial.precision);
  Sgd sgd(network, {});
  const std::vector<int64_t> labels = {0, 1, 2, 3, 4, 0};
  for (uint32_t step = 0; step < 4; ++step) {
    Trace trace = network.forward(input_of(network.spec(), trial.direct, step), NormMode::batch,
                                  Keep::for_backward);
    hash.add(trace.logits);
    const Loss loss = cross_entropy(trace.logits, labels);
    network.backward(std::move(trace), loss.gradient);
    sgd.step(network, 0.1);
  }
  for (const Parameter& parameter : network.parameters()) hash.add(parameter.value);
  ChainState state = network.start(kBatch);
  network.advance(input_of(network.spec(), trial.direct, 9), state);
  hash.add(network.logits(state));
}

bool this_processor_runs(const std::string& set) {
  return std::ranges::any_of(kernels::kernel_sets(),
                             [&](const kernels::KernelSet& known) { return known.name == set; });
}

TEST(Signature, IsThatOfTheRecordedRun) {
  const char* wanted = std::getenv("BNTT_KERNELS");
  if (wanted != nullptr && !this_processor_runs(wanted)) {
    GTEST_SKIP() << "this processor does not run the kernels of " << wanted;
  }
  const ZooOptions small{.input = {3, 12, 10}, .classes = kClasses, .steps = 5, .width = 0.25};
  std::vector<Case> cases;
  const auto add = [&](auto change) {
    Case trial{.options = small};
    change(trial);
    cases.push_back(trial);
  };
  add([](Case&) {});
  add([](Case& c) { c.precision = Precision::mixed; });
  add([](Case& c) { c.direct = true; });
  add([](Case& c) { c.options.width = 0.06; });  // too narrow for Winograd's algorithm
  add([](Case& c) { c.options.propagation = Propagation::delayed; });
  add([](Case& c) { c.options.norm.kind = "bn"; });
  add([](Case& c) { c.options.norm.kind = "bn-time"; });
  add([](Case& c) { c.options.norm.kind = "layer"; });
  add([](Case& c) { c.options.norm.kind = "none"; });
  add([](Case& c) { c.options.readout_norm.kind = "bntt"; });
  add([](Case& c) {
    c.options.neuron.reset = Reset::hard;
    c.options.neuron.detach_reset = false;
    c.options.neuron.surrogate.kind = SurrogateKind::arctan;
  });
  add([](Case& c) {
    c.options.steps = 1;
    c.direct = true;
    c.options.neuron.kind = "relu";
  });
  Hash hash;
  for (const Case& trial : cases) train_and_infer(trial, hash);
  std::printf("signature of %s: %016llx\n", kernels::kernels().name.c_str(),
              static_cast<unsigned long long>(hash.value()));
  EXPECT_EQ(hash.value(), kSignature);
}

}  // namespace
}  // namespace bntt
