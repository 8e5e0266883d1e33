#include <algorithm>

#include "base/json.h"
#include "tiny_runs.h"

namespace bntt {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::ProcessEnd;
using testing::run_bntt;
using testing::TinyRuns;

class Bench : public TinyRuns {
 protected:
  std::vector<std::string> tiny(const std::string& kind,
                                const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {
        "bench",   kind, "--model", "vgg5",          "--width",   "0.1",
        "--steps", "3",  "--data",  data().string(), "--repeats", "2"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  static Json json_of(const std::vector<std::string>& arguments) {
    return parse_json(succeed(arguments), "bench");
  }
  static std::string refused(const std::vector<std::string>& arguments) {
    const ProcessEnd end = run_bntt(arguments);
    EXPECT_EQ(end.exit_code, 2) << end.out << end.error;
    EXPECT_THAT(end.error, ::testing::StartsWith("bntt: "));
    EXPECT_EQ(std::count(end.error.begin(), end.error.end(), '\n'), 1) << end.error;
    return end.error;
  }
  static std::filesystem::path torch_program() {
    return std::filesystem::path(BNTT_PROGRAM).parent_path() / "bntt-torch-bench";
  }
};

TEST_F(Bench, ARunHasItsOwnBreakEvenUnlessOneIsChosen) {
  train("run", {"--epochs", "1", "--set", "train.break_even=[0.7,0.8]"});
  const auto report = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"bench", "train",     "--run", path("run"), "--batch",
                                          "6",     "--repeats", "1",     "--json",    "--threads",
                                          "1",     "--density", "0.2"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return json_of(arguments);
  };
  const Json own = report({});
  EXPECT_EQ(own.at("break_even_from"), "the run");
  const Json formula = report({"--break-even", "formula"});
  EXPECT_EQ(formula.at("break_even_from"), "formula");
  EXPECT_NE(formula.at("break_even"), own.at("break_even"));
}

TEST_F(Bench, TrainGivesTheFieldsOfEveryDensity) {
  const Json report =
      json_of(tiny("train", {"--batch", "6", "--density", "0.2,0.05", "--threads", "1", "--json"}));
  ASSERT_EQ(report.at("results").size(), 2U);
  const std::vector<double> wanted = {0.2, 0.05};
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const Json& result = report.at("results")[i];
    EXPECT_EQ(result.at("what"), "train");
    EXPECT_NEAR(result.at("density").get<double>(), wanted[i], 0.1 * wanted[i]);
    EXPECT_EQ(result.at("batch"), 6);
    EXPECT_EQ(result.at("steps"), 3);
    EXPECT_EQ(result.at("threads"), 1);
    EXPECT_GT(result.at("images_per_second"), 0.0);
    EXPECT_TRUE(result.at("torch_fp32_images_per_second").is_null());
    EXPECT_TRUE(result.at("torch_bf16_images_per_second").is_null());
    EXPECT_TRUE(result.at("torch_peak_memory_bytes").is_null());
    EXPECT_GT(result.at("peak_memory_bytes"), 1 << 20);
    EXPECT_GT(result.at("processor_seconds_per_image"), 0.0);
    EXPECT_TRUE(result.at("torch_fp32_processor_seconds_per_image").is_null());
    EXPECT_EQ(result.at("seconds").size(), 2U);
    const Json& conv2 = result.at("stages").at(1);
    EXPECT_EQ(conv2.at("name"), "conv2");
    ASSERT_EQ(conv2.at("phases").size(), 5U);
    for (const Json& phase : conv2.at("phases")) {
      EXPECT_GT(phase.at("seconds"), 0.0);
      EXPECT_TRUE(phase.contains("gflops_per_second") || phase.contains("gbytes_per_second"));
      EXPECT_TRUE(phase.at("bound") == "compute" || phase.at("bound") == "bandwidth");
    }
  }
}

TEST_F(Bench, StagesAddUpToTheTotal) {
  for (const std::string kind : {"train", "infer"}) {
    const Json result =
        json_of(tiny(kind, {"--batch", "4", "--density", "0.1", "--json"})).at("results").at(0);
    const auto seconds = result.at("seconds").get<std::vector<double>>();
    double sum = 0.0;
    for (const Json& stage : result.at("stages")) sum += stage.at("seconds").get<double>();
    EXPECT_NEAR(sum, *std::ranges::min_element(seconds), 1e-9);
    EXPECT_EQ(result.at("stages").back().at("name"), "other");
    EXPECT_GE(result.at("stages").back().at("seconds"), 0.0);
  }
}

TEST_F(Bench, InferTimesEveryBatch) {
  const Json report = json_of(tiny("infer", {"--batch", "1,4", "--density", "0.1", "--json"}));
  ASSERT_EQ(report.at("results").size(), 2U);
  EXPECT_EQ(report.at("results")[0].at("batch"), 1);
  EXPECT_EQ(report.at("results")[1].at("batch"), 4);
  for (const Json& result : report.at("results")) {
    EXPECT_EQ(result.at("what"), "infer");
    const Json& conv2 = result.at("stages").at(1).at("phases");
    ASSERT_EQ(conv2.size(), 1U);
    EXPECT_EQ(conv2[0].at("phase"), "synapse and neurons forward");
  }
}

TEST_F(Bench, InferWithWindows) {
  const std::vector<std::string> options = {"--batch", "1,4",       "--density",
                                            "0.1",     "--windows", "0.67"};
  std::vector<std::string> as_json = options;
  as_json.emplace_back("--json");
  for (const Json& result : json_of(tiny("infer", as_json)).at("results")) {
    const Json& rules = result.at("rules");
    ASSERT_EQ(rules.size(), 2U);
    EXPECT_EQ(rules[0].at("rule"), "windows");
    EXPECT_NEAR(rules[0].at("work").get<double>(), 0.67, 0.05);
    EXPECT_EQ(rules[1].at("rule"), "sample-exit");
    EXPECT_LE(rules[1].at("work").get<double>(), 0.67);
    for (const Json& rule : rules) {
      EXPECT_GT(rule.at("images_per_second"), 0.0);
      EXPECT_EQ(rule.at("seconds").size(), 2U);
      EXPECT_GT(rule.at("time_of_all_steps"), 0.0);
      EXPECT_GT(rule.at("time_of_expected"), 0.0);
    }
  }
  EXPECT_THAT(succeed(tiny("infer", options)),
              AllOf(HasSubstr("windows, 67 % of the synapses' work"), HasSubstr("sample-exit, ")));
  EXPECT_EQ(json_of(tiny("infer", {"--density", "0.1", "--batch", "1", "--json"}))
                .at("results")
                .at(0)
                .at("rules")
                .size(),
            0U);
}

TEST_F(Bench, OfARun) {
  train("run", {"--epochs", "1"});
  const Json report = json_of({"bench", "train", "--run", path("run"), "--batch", "4", "--density",
                               "0.1", "--repeats", "1", "--json"});
  EXPECT_EQ(report.at("images"), "mnist");
  EXPECT_EQ(report.at("results").at(0).at("steps"), 3);
}

TEST_F(Bench, ResidualNetworksShowThePathOfEveryBranch) {
  // Widths that leave every stage at least two channels.
  for (const auto& [model, width] : {std::pair<std::string, std::string>{"resnet19", "0.03"},
                                     {"resnet20", "0.15"},
                                     {"sew-resnet18", "0.03"},
                                     {"ms-resnet18", "0.03"}}) {
    for (const std::string kind : {"train", "infer"}) {
      SCOPED_TRACE(model + " " + kind);
      const Json result =
          json_of({"bench", kind, "--model", model, "--width", width, "--steps", "2", "--data",
                   data().string(), "--repeats", "1", "--batch", "2", "--density", "0.1", "--json"})
              .at("results")
              .at(0);
      EXPECT_NEAR(result.at("density").get<double>(), 0.1, 0.015);
      int paths = 0;
      int joined = 0;
      for (const Json& stage : result.at("stages")) {
        for (const Json& phase : stage.at("phases")) {
          if (!phase.contains("path")) continue;
          ++paths;
          joined += phase.at("path").get<std::string>().find('+') != std::string::npos ? 1 : 0;
        }
      }
      EXPECT_GE(paths, 18);
      // The spikes of sew-resnet18 are added before the synapse: no stage has two branches.
      EXPECT_EQ(joined > 0, model != "sew-resnet18");
    }
  }
}

TEST_F(Bench, NetworksWithoutGammaAreTimedAtTheirOwnDensity) {
  train("plain", {"--epochs", "1", "--set", "model.name=resnet20", "--set", "model.norm=none"});
  const std::vector<std::string> arguments = {"bench",     "infer", "--run",   path("plain"),
                                              "--repeats", "1",     "--batch", "2"};
  std::vector<std::string> as_json = arguments;
  as_json.emplace_back("--json");
  const Json report = json_of(as_json);
  ASSERT_EQ(report.at("results").size(), 1U) << "one density only";
  EXPECT_TRUE(report.at("results").at(0).at("wanted_density").is_null());
  EXPECT_THAT(succeed(arguments), HasSubstr("its own: the network has no gamma to scale"));
}

TEST_F(Bench, ScalingAddsTheOtherSizes) {
  const Json report = json_of(
      tiny("train", {"--batch", "4", "--density", "0.1", "--threads", "2", "--scaling", "--json"}));
  const Json& scaling = report.at("scaling");
  ASSERT_EQ(scaling.size(), 4U);
  EXPECT_EQ(scaling[1].at("threads"), 1);
  EXPECT_EQ(scaling[2].at("steps"), 6);
  EXPECT_EQ(scaling[3].at("batch"), 8);
}

TEST_F(Bench, AsText) {
  const std::string text = succeed(tiny("train", {"--batch", "4", "--density", "0.1"}));
  EXPECT_THAT(
      text, AllOf(HasSubstr("images: mnist"), HasSubstr("images/s"), HasSubstr("weight gradient"),
                  HasSubstr("sgd"), HasSubstr("outside the stages"), HasSubstr("fastest repeat")));
}

TEST_F(Bench, Kernels) {
  const Json report =
      json_of({"bench", "kernels", "--filter", "cross-entropy|neurons-forward", "--json"});
  ASSERT_GE(report.at("results").size(), 2U);
  for (const Json& result : report.at("results")) {
    EXPECT_EQ(result.at("what"), "kernel");
    EXPECT_GT(result.at("seconds"), 0.0);
  }
}

TEST_F(Bench, AgainstTorch) {
  const auto arguments =
      tiny("train", {"--batch", "4", "--density", "0.1", "--against", "torch", "--json"});
  if (!std::filesystem::exists(torch_program())) {
    EXPECT_THAT(refused(arguments), HasSubstr("bntt-torch-bench is missing"));
    return;
  }
  const Json result = json_of(arguments).at("results").at(0);
  EXPECT_GT(result.at("torch_fp32_images_per_second"), 0.0);
  EXPECT_GT(result.at("torch_peak_memory_bytes"), result.at("peak_memory_bytes"));
}

TEST_F(Bench, WrongOptions) {
  EXPECT_THAT(refused({"bench"}), HasSubstr("--help"));
  EXPECT_THAT(refused(tiny("train", {"--density", "0"})), HasSubstr("--density"));
  EXPECT_THAT(refused(tiny("train", {"--density", "0.1,2"})), HasSubstr("--density"));
  EXPECT_THAT(refused(tiny("train", {"--density", "0.97"})), HasSubstr("cannot be reached"));
  EXPECT_THAT(refused(tiny("train", {"--batch", "0"})), HasSubstr("--batch"));
  EXPECT_THAT(refused(tiny("infer", {"--windows", "1.5"})), HasSubstr("--windows"));
  EXPECT_THAT(refused(tiny("train", {"--windows", "0.5"})), HasSubstr("--windows"));
  EXPECT_THAT(refused(tiny("infer", {"--threads", "-1"})), HasSubstr("--threads"));
  EXPECT_THAT(refused(tiny("infer", {"--against", "tensorflow"})), HasSubstr("--against"));
  EXPECT_THAT(refused(tiny("infer", {"--run", path("run")})), HasSubstr("--run"));
  EXPECT_THAT(refused({"bench", "train", "--model", "vgg8"}), HasSubstr("vgg5"));
  EXPECT_THAT(refused({"bench", "train", "--run", path("none")}), HasSubstr("holds no run"));
  EXPECT_THAT(refused({"bench", "train", "--data", path("none")}), HasSubstr("not a directory"));
  EXPECT_THAT(refused({"bench", "kernels", "--filter", "("}), HasSubstr("--filter"));
  EXPECT_THAT(refused({"bench", "kernels", "--filter", "abacus"}), HasSubstr("no kernel"));
}

TEST_F(Bench, ParallelismOfEveryPhase) {
  const std::vector<std::string> command = {
      "bench", "parallelism", "--model", "vgg5",   "--width",       "0.1",       "--steps",
      "3",     "--batch",     "4",       "--data", data().string(), "--repeats", "1"};
  EXPECT_THAT(succeed(command), AllOf(HasSubstr("weight gradient"), HasSubstr("64 threads")));
  std::vector<std::string> as_json = command;
  as_json.insert(as_json.end(), {"--json", "--precision", "bf16"});
  const Json json = json_of(as_json);
  EXPECT_GE(json.at("vgg5").at("phases").size(), 10U);
  EXPECT_GE(json.at("vgg5").at("whole").at("speedups").at("8").get<double>(), 1.0);
  EXPECT_THAT(refused({"bench", "parallelism", "--kind", "fly"}), HasSubstr("--kind"));
}

class BenchGate : public Bench {
 protected:
  /// A gate of one tiny case, whose recorded ratio to another program is `previous`.
  std::string gate(const std::string& previous) const {
    write_text(
        "gate.toml",
        "repeats = 1\n[[case]]\nmodel = \"vgg5\"\nwidth = 0.1\nsteps = 3\nbatch = 4\n" + previous);
    return path("gate.toml");
  }
  ProcessEnd pass(const std::string& file) const {
    return run_bntt(
        {"bench", "--gate", file, "--data", data().string(), "--previous", BNTT_PROGRAM});
  }
};

// The recorded ratios are far from what can be measured: no clock decides these tests.
TEST_F(BenchGate, HoldsWhereTheRecordedRatioIsReached) {
  const ProcessEnd end = pass(gate("previous = 0.0001"));
  EXPECT_EQ(end.exit_code, 0) << end.error;
  EXPECT_THAT(end.out, AllOf(HasSubstr("passed"), HasSubstr("1 ratios hold within 5 %, 0 do not")));
}

TEST_F(BenchGate, FailsBelowTheRecordedRatio) {
  const ProcessEnd end = pass(gate("previous = 10000.0"));
  EXPECT_EQ(end.exit_code, 1) << end.error;
  EXPECT_THAT(end.out,
              AllOf(HasSubstr("TOO SLOW"), HasSubstr("0 ratios hold within 5 %, 1 do not")));
}

TEST_F(BenchGate, SaysWhatItCannotMeasure) {
  const ProcessEnd end =
      run_bntt({"bench", "--gate", gate("previous = 1.0"), "--data", data().string()});
  EXPECT_EQ(end.exit_code, 1) << "a gate that measures nothing must not pass";
  EXPECT_THAT(end.out, HasSubstr("no --previous PROGRAM"));
  EXPECT_THAT(end.error, HasSubstr("none of its ratios could be measured"));
}

TEST_F(BenchGate, TimesInferenceWithInt8Weights) {
  const ProcessEnd end = pass(gate("kind = \"infer\"\nint8 = true\nprevious = 0.0001"));
  EXPECT_EQ(end.exit_code, 0) << end.error;
  EXPECT_THAT(end.out, HasSubstr("infer int8 vgg5"));
}

TEST_F(BenchGate, RefusesFilesAndProgramsThatAreNoGate) {
  EXPECT_THAT(refused({"bench", "--gate", gate("speed = 2.0")}), HasSubstr("speed"));
  write_text("empty.toml", "margin = 0.1\n");
  EXPECT_THAT(refused({"bench", "--gate", path("empty.toml")}), HasSubstr("at least one [[case]]"));
  EXPECT_THAT(refused({"bench", "--gate", gate("int8 = true\nprevious = 1.0")}),
              HasSubstr("only for 'infer'"));
  EXPECT_THAT(refused({"bench", "--gate", gate("")}), HasSubstr("compares with nothing"));
  EXPECT_THAT(refused({"bench", "--gate", gate("previous = 1.0"), "--previous", path("none")}),
              HasSubstr("expected another bntt program"));
  EXPECT_THAT(refused({"bench"}), HasSubstr("--gate FILE or one of train"));
  EXPECT_THAT(refused({"bench", "--gate", gate("previous = 1.0"), "kernels"}),
              HasSubstr("kernels"));
}

}  // namespace
}  // namespace bntt
