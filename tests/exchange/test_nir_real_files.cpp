#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "bntt/session.h"
#include "exchange/nir_file.h"
#include "exchange/nir_import.h"
#include "message.h"
#include "shared_data.h"

namespace bntt {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::message_of;

/// Published files, where they are: see tests/data/shared_data.h.
class RealNirFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::is_directory(folder())) GTEST_SKIP() << "no published NIR files here";
  }
  static std::filesystem::path folder() {
    const std::filesystem::path data = testing::shared_data();
    return data.empty() ? data : data / "nir";
  }
  static NirImport import(const std::string& name, const NirImportOptions& options) {
    return from_nir(read_nir(folder() / name), name, options);
  }
};

Signal one_value(float value) {
  Buffer<float> values(1);
  values[0] = value;
  return DenseTrain{.steps = 1, .batch = 1, .shape = {1, 1, 1}, .values = std::move(values)};
}

TEST_F(RealNirFiles, OneNeuronFollowsItsPublishedTrace) {
  const Network network =
      import("lif_norse.nir", {.dt = 1e-4, .reset = Reset::hard, .steps = 1000}).network;
  Session session(network, 1);
  std::ifstream trace(folder() / "lif_norse.csv");
  std::vector<int64_t> spikes;
  float counted = 0.0F;
  int64_t step = 0;
  for (std::string line; std::getline(trace, line); ++step) {
    std::istringstream fields(line);
    char comma = ',';
    double input = 0;
    double voltage = 0;
    double spike = 0;
    fields >> input >> comma >> voltage >> comma >> spike;
    session.advance(one_value(static_cast<float>(input)));
    EXPECT_NEAR(session.membranes("1")[0], voltage, 1e-6) << step;
    const float count = session.logits()[0];
    if (count > counted) spikes.push_back(step);
    EXPECT_EQ(count - counted, static_cast<float>(spike)) << step;
    counted = count;
  }
  EXPECT_EQ(step, 1000);
  EXPECT_EQ(spikes, (std::vector<int64_t>{460, 510, 710, 760}));
}

TEST_F(RealNirFiles, RestingVoltagesAndResistancesCount) {
  // v_leak 1.2 above the threshold 1: it fires without input.
  const Network two = import("two_lif_neurons.nir", {.dt = 1e-3, .steps = 100}).network;
  Session session(two, 1);
  for (int i = 0; i < 100; ++i) session.advance(one_value(0.0F));
  double v = 0.0;
  double w = 0.0;
  for (int i = 0; i < 100; ++i) {
    v += 0.1 * (1.2 - v);
    const bool fired = v > 1.0;
    if (fired) v = 0.0;
    w += 0.1 * ((fired ? 1.0 : 0.0) - w);
  }
  EXPECT_NEAR(session.membranes("lif1")[0], v, 1e-5);
  EXPECT_NEAR(session.membranes("lif2")[0], w, 1e-5);
  EXPECT_GT(w, 0.0);

  const Network one = import("lif_rockpool.nir", {.steps = 1}).network;
  Session single(one, 1);
  single.advance(one_value(1.0F));
  EXPECT_NEAR(single.membranes("1_LIFNeuronTorch")[0], 0.04 * 24.019737 * 0.04, 1e-6);
}

TEST_F(RealNirFiles, CyclesAreRefused) {
  for (const char* name : {"braille_noDelay_bias_zero.nir", "nirtorch_feedback_graph.nir"}) {
    EXPECT_THAT(message_of([&] { import(name, {.steps = 1}); }),
                AllOf(HasSubstr(name), HasSubstr("is part of a cycle")));
  }
}

TEST_F(RealNirFiles, FillValuesAndMetadataAreRead) {
  const NirGraph graph = read_nir(folder() / "lif_fillvalue.nir");
  for (const NirNode& node : graph.nodes) {
    if (node.name != "lif") continue;
    EXPECT_EQ(node.arrays.at("v_threshold").values, std::vector<float>{0.75F});
    EXPECT_EQ(node.arrays.at("v_threshold").size(), 64 * 32 * 32);
    EXPECT_EQ(node.metadata.texts.at("reset"), "subtract");
  }
  // Its output is a map, not classes.
  EXPECT_THAT(message_of([&] { from_nir(graph, "file", {.steps = 1}); }),
              HasSubstr("node 'output' (Output) reads a map"));
}

}  // namespace
}  // namespace bntt
