#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "bntt/network.h"
#include "bntt/zoo.h"
#include "checksum.h"
#include "kernels/kernel_set.h"
#include "layers/loss.h"
#include "learn/sgd.h"

namespace bntt {
namespace {

/// One number that stands for every bit of a fixed small training run and of inference after it: a
/// refactoring that leaves it alone has changed no result. It holds for every kernel set; oneDNN's
/// own kernels differ between processors, so the test is run with ONEDNN_MAX_CPU_ISA=AVX2.
constexpr uint64_t kSignature = 0xcad17a16adb3f51c;

constexpr int64_t kBatch = 6;
constexpr int64_t kClasses = 5;

struct Case {
  ZooOptions options;
  bool direct = false;
  Precision precision = Precision::fp32;
};

void train_and_infer(const Case& trial, testing::Checksum& hash) {
  Network network(vgg5(trial.options), 3);
  network.set_precision(trial.precision);
  Sgd sgd(network, {});
  const std::vector<int64_t> labels = {0, 1, 2, 3, 4, 0};
  for (uint32_t step = 0; step < 4; ++step) {
    Trace trace = network.forward(testing::drawn_input(network.spec(), kBatch, trial.direct, step),
                                  NormMode::batch, Keep::for_backward);
    hash.add(trace.logits);
    const Loss loss = cross_entropy(trace.logits, labels);
    network.backward(std::move(trace), loss.gradient);
    sgd.step(network, 0.1);
  }
  for (const Parameter& parameter : network.parameters()) hash.add(parameter.value);
  ChainState state = network.start(kBatch);
  network.advance(testing::drawn_input(network.spec(), kBatch, trial.direct, 9), state);
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
  testing::Checksum hash;
  for (const Case& trial : cases) train_and_infer(trial, hash);
  std::printf("signature of %s: %016llx\n", kernels::kernels().name.c_str(),
              static_cast<unsigned long long>(hash.value()));
  EXPECT_EQ(hash.value(), kSignature);
}

}  // namespace
}  // namespace bntt
