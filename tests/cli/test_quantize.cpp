#include "base/json.h"
#include "tiny_runs.h"

namespace bntt {
namespace {

using ::testing::AllOf;
using testing::bytes_of;
using ::testing::HasSubstr;
using testing::ProcessEnd;
using testing::ProcessOptions;
using testing::run_bntt;
using testing::TinyRuns;

/// A tiny trained run, and the same with int8 weights.
class Quantize : public TinyRuns {
 protected:
  Quantize() {
    train("run");
    told_ = quantize("run", "int8");
  }
  std::string quantize(const std::string& from, const std::string& to,
                       const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {
        "quantize", path(from), "--out", path(to), "--calibration-images", "12"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return succeed(arguments);
  }
  Json json_of(std::vector<std::string> arguments) const {
    arguments.emplace_back("--json");
    return Json::parse(succeed(arguments));
  }
  std::string refused(const std::vector<std::string>& arguments) const {
    const ProcessEnd end = run_bntt(arguments);
    EXPECT_EQ(end.exit_code, 2);
    return end.error;
  }

  std::string told_;
};

TEST_F(Quantize, MakesARunThatEveryCommandReads) {
  EXPECT_THAT(told_, AllOf(HasSubstr("conv1"), HasSubstr("int8"), HasSubstr(" bytes, 0.")));
  const Json fp32 = json_of({"eval", path("run")});
  const Json int8 = json_of({"eval", path("int8")});
  EXPECT_EQ(int8.at("images"), fp32.at("images"));
  EXPECT_NEAR(int8.at("accuracy").get<double>(), fp32.at("accuracy").get<double>(), 25.0);
  EXPECT_NEAR(int8.at("spikes_per_image").get<double>(), fp32.at("spikes_per_image").get<double>(),
              0.1 * fp32.at("spikes_per_image").get<double>());

  EXPECT_THAT(succeed({"inspect", path("int8")}),
              AllOf(HasSubstr("weights   int8"), HasSubstr("scales by the least error on 12")));
  EXPECT_THAT(succeed({"inspect", path("run")}), HasSubstr("weights   fp32"));
  EXPECT_EQ(json_of({"inspect", path("int8")}).at("precision"), "int8");

  const Json energy = json_of({"energy", path("int8")});
  const Json dear = json_of({"energy", path("run")});
  EXPECT_EQ(energy.at("stages")[1].at("int8"), true);
  EXPECT_EQ(dear.at("stages")[1].at("int8"), false);
  EXPECT_NEAR(energy.at("stages")[1].at("measured_pj").get<double>(),
              0.03 * energy.at("stages")[1].at("accumulates").get<double>(), 1e-6);
  EXPECT_LT(energy.at("measured_pj"), dear.at("measured_pj"));

  EXPECT_EQ(json_of({"exit", path("int8")}).at("images"), kTestImages);
  EXPECT_THAT(succeed({"attack", path("int8"), "--noise", "0.1"}), HasSubstr("Gaussian noise"));
  succeed({"activity", path("int8")});
  succeed({"report", path("int8"), "--out", path("int8.html")});
  EXPECT_THAT(bytes_of(root() / "int8.html"), HasSubstr("\"precision\":\"int8\""));
}

TEST_F(Quantize, GivesTheSameBytesAgainAndWithOneThread) {
  quantize("run", "again", {"--threads", "1"});
  EXPECT_TRUE(bytes_of(root() / "int8" / "checkpoint.safetensors") ==
              bytes_of(root() / "again" / "checkpoint.safetensors"));
  const auto predictions = [&](const std::string& threads, const ProcessOptions& options = {}) {
    succeed({"eval", path("int8"), "--threads", threads, "--predictions", path("p.csv")}, options);
    return bytes_of(root() / "p.csv");
  };
  const std::string ours = predictions("2");
  EXPECT_EQ(predictions("1"), ours);
  EXPECT_EQ(predictions("2", {.environment = {"BNTT_KERNELS=reference"}}), ours)
      << "integers have the same bits on every instruction set";
  const Json largest = json_of({"quantize", path("run"), "--out", path("max"), "--scales", "max"});
  EXPECT_EQ(largest.at("scales"), "max");
  EXPECT_FALSE(bytes_of(root() / "int8" / "checkpoint.safetensors") ==
               bytes_of(root() / "max" / "checkpoint.safetensors"));
}

TEST_F(Quantize, ComesBackFromItsExport) {
  succeed({"export", path("int8"), "--format", "state-dict", path("int8.safetensors")});
  succeed({"import", path("int8.safetensors"), "--out", path("back")});
  EXPECT_EQ(json_of({"inspect", path("back")}).at("precision"), "int8");
}

TEST_F(Quantize, RefusesInOneSentence) {
  EXPECT_THAT(refused({"quantize", path("int8"), "--out", path("twice")}),
              HasSubstr("cannot be quantised: its weights are int8 already"));
  EXPECT_THAT(refused({"attack", path("int8"), "--fgsm", "2/255"}),
              HasSubstr("weights of int8 do not have"));
  EXPECT_THAT(refused({"train", "--resume", path("int8")}), HasSubstr("int8"));
  EXPECT_THAT(refused(train_arguments("next", {"--from", path("int8")})), HasSubstr("int8"));
  EXPECT_THAT(refused({"bench", "infer", "--run", path("int8")}), HasSubstr("int8"));
  EXPECT_THAT(refused({"quantize", path("run"), "--out", path("int8")}), HasSubstr("int8"));
  EXPECT_THAT(refused({"quantize", path("run"), "--out", path("x"), "--calibration-images", "999"}),
              HasSubstr("--calibration-images is 999, expected 1 to the 36 training images"));
  train("ann", {"--set", "model.neuron=relu", "--set", "model.steps=1", "--set",
                "encoder.kind=direct", "--epochs", "1"});
  EXPECT_THAT(refused({"quantize", path("ann"), "--out", path("ann8")}),
              HasSubstr("cannot be quantised: stage conv1 has ReLU neurons"));
}

TEST_F(Quantize, IsTimedInTurnWithFp32) {
  const Json report =
      json_of({"bench", "infer", "--model", "vgg5", "--width", "0.1", "--steps", "3", "--density",
               "0.2", "--batch", "2", "--repeats", "1", "--int8"});
  const Json& result = report.at("results")[0];
  EXPECT_GT(result.at("int8_images_per_second"), 0.0);
  EXPECT_GT(result.at("processor_seconds_per_image"), 0.0);
  EXPECT_GT(result.at("int8_processor_seconds_per_image"), 0.0);
}

}  // namespace
}  // namespace bntt
