#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/json.h"
#include "bntt/network.h"
#include "bntt/zoo.h"
#include "fixtures.h"
#include "process.h"

namespace bntt {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::ProcessEnd;

/// benchmarks/peers.py, without what PYTHONPATH and the user's own packages may hold.
ProcessEnd run_peers(const std::vector<std::string>& arguments) {
  std::vector<std::string> all = {"-B", "-E", "-s", BNTT_PEERS};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return testing::run_bntt(all, {.program = BNTT_PYTHON});
}

TEST(Peers, HelpNamesToolsAndOptions) {
  const ProcessEnd end = run_peers({"--help"});
  EXPECT_EQ(end.exit_code, 0) << end.error;
  EXPECT_THAT(end.out,
              AllOf(HasSubstr("snntorch"), HasSubstr("spikingjelly"), HasSubstr("--threads")));
}

TEST(Peers, AMissingToolIsSaidInOneSentence) {
  for (const std::string peer : {"snntorch", "spikingjelly"}) {
    const ProcessEnd end = run_peers({peer, "--data", "none", "train"});
    EXPECT_EQ(end.exit_code, 2) << end.out;
    EXPECT_THAT(end.error, ::testing::StartsWith("peers.py: " + peer + " cannot be imported ("));
    EXPECT_EQ(std::ranges::count(end.error, '\n'), 1) << end.error;
  }
}

class PlainPyTorch : public ::testing::Test {
 protected:
  void SetUp() override {
    if (run_peers({"torch", "--data", "none", "train"}).error.find("cannot be imported") !=
        std::string::npos) {
      GTEST_SKIP() << "python3-torch is not installed";
    }
    constexpr int64_t kImages = 16;
    constexpr int64_t kImageBytes = 3 * 32 * 32;
    testing::Bytes records;
    for (int64_t i = 0; i < kImages * (1 + kImageBytes); ++i) {
      records.push_back(static_cast<uint8_t>(i % (1 + kImageBytes) == 0 ? i % 10 : 7 * i));
    }
    for (const char* file : {"data_batch_1.bin", "test_batch.bin"}) {
      directory_.write(std::string("cifar-10-batches-bin/") + file, records);
    }
  }
  ProcessEnd run(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {"torch",   "--data",  directory_.path().string(),
                                          "--steps", "3",       "--width",
                                          "0.05",    "--batch", "4"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_peers(arguments);
  }

  testing::TemporaryDirectory directory_;
};

TEST_F(PlainPyTorch, IsTheZoosVgg9) {
  for (const std::string what : {"train", "infer"}) {
    const ProcessEnd end = run({what, "--repeats", "1"});
    ASSERT_EQ(end.exit_code, 0) << end.error;
    const Json report = parse_json(end.out, "peers.py");
    const Network ours(vgg9({.steps = 3, .width = 0.05}), 1);
    int64_t parameters = 0;
    for (const Parameter& parameter : ours.parameters()) {
      parameters += static_cast<int64_t>(parameter.value.size());
    }
    EXPECT_EQ(report.at("parameters"), parameters);
    EXPECT_GT(report.at("images_per_second"), 0.0);
    EXPECT_GT(report.at("peak_memory_bytes"), 1 << 20);
  }
}

TEST_F(PlainPyTorch, ImagesThatAreMissingAreSaidInOneSentence) {
  const ProcessEnd end = run({"train", "--repeats", "3"});
  EXPECT_EQ(end.exit_code, 2);
  EXPECT_THAT(end.error, HasSubstr("data_batch_1.bin: holds 49168 bytes, expected at least 61460"));
}

}  // namespace
}  // namespace bntt
