#include <cmath>

#include "base/json.h"
#include "base/safetensors.h"
#include "tiny_runs.h"

namespace bntt {
namespace {

using testing::bytes_of;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::TinyRuns;

class RoundTrip : public TinyRuns {
 protected:
  Json eval(const std::string& run, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {"eval", path(run), "--data", data().string(), "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    Json report = parse_json(succeed(arguments), "eval");
    EXPECT_GT(report.at("images_per_second").get<double>(), 0.0);
    report.erase("images_per_second");  // the only number that may vary
    return report;
  }
};

TEST_F(RoundTrip, TrainEvalInspectExportImportAgree) {
  const std::string told = train("run");
  EXPECT_THAT(told, HasSubstr("epoch 3 done"));
  EXPECT_THAT(told, HasSubstr("test accuracy"));
  EXPECT_THAT(files_of("run"), ::testing::UnorderedElementsAre(
                                   "run.toml", "metrics.jsonl", "times.jsonl", "best.safetensors",
                                   "checkpoint.safetensors", "previous.safetensors"));

  const Json report = eval("run");
  EXPECT_EQ(report.at("images"), kTestImages);
  EXPECT_EQ(report.at("steps"), 3);
  const double correct = report.at("accuracy").get<double>() * kTestImages / 100.0;
  EXPECT_NEAR(correct, std::round(correct), 1e-9);
  EXPECT_GT(report.at("spikes_per_image").get<double>(), 0.0);
  EXPECT_EQ(report.at("stages").size(), 4U);
  std::istringstream metrics(bytes_of(root() / "run" / "metrics.jsonl"));
  Json last;
  for (std::string line; std::getline(metrics, line);) last = parse_json(line, "metrics");
  EXPECT_EQ(last.at("kind"), "test");
  EXPECT_EQ(last.at("accuracy"), report.at("accuracy"));
  EXPECT_EQ(last.at("spikes_per_image"), report.at("spikes_per_image"));

  const Json inspected = parse_json(succeed({"inspect", path("run"), "--json"}), "inspect");
  EXPECT_EQ(inspected.at("stages").size(), 5U);
  EXPECT_EQ(inspected.at("stages")[0].at("name"), "conv1");
  EXPECT_EQ(inspected.at("stages")[0].at("mean_gamma").size(), 3U);
  // 1·3·9 + 3·6·9 + 6·6·9 + 6·9·51 + 51·10 weights, and γ of 3 steps for 3 + 6 + 6 + 51 channels.
  EXPECT_EQ(inspected.at("parameters"), 27 + 162 + 324 + 2754 + 510 + 3 * 66);
  EXPECT_EQ(inspected.at("neurons"), 3 * 144 + 6 * 36 + 6 * 36 + 51);

  succeed({"export", path("run"), "--format", "authors-pytorch", path("out.safetensors")});
  const TensorFile exported = read_tensors(path("out.safetensors"));
  EXPECT_NE(exported.find("bntt_fc.2.running_var"), nullptr);
  EXPECT_EQ(exported.find("conv1.weight")->shape, (std::vector<int64_t>{3, 1, 3, 3}));

  succeed({"import", path("out.safetensors"), "--out", path("back")});
  EXPECT_EQ(eval("back"), report);
  succeed({"export", path("back"), "--format", "authors-pytorch", path("again.safetensors")});
  EXPECT_EQ(bytes_of(path("out.safetensors")), bytes_of(path("again.safetensors")));
}

TEST_F(RoundTrip, EveryFormatKeepsEncoderNormalisationAndAnswers) {
  train("run", {"--epochs", "1", "--set", "encoder.kind=direct", "--set", "data.mean=[0.4]"});
  const Json report = eval("run");
  for (const char* format : {"state-dict", "authors-pytorch"}) {
    const std::string file = path(std::string(format) + ".safetensors");
    succeed({"export", path("run"), "--format", format, file});
    succeed({"import", file, "--out", path(format)});
    EXPECT_EQ(eval(format), report) << format;
  }
}

TEST_F(RoundTrip, ForeignFilesAreToldWhatTheyDoNotSay) {
  train("run", {"--epochs", "1", "--set", "encoder.kind=direct"});
  succeed({"export", path("run"), "--format", "authors-pytorch", path("out.safetensors")});
  forget_description("out.safetensors");
  const std::vector<std::string> known = {
      "import", path("out.safetensors"), "--model", "vgg5", "--data", "mnist", "--size", "12",
      "--out"};
  const auto import = [&](const char* run, const std::vector<std::string>& more) {
    std::vector<std::string> arguments = known;
    arguments.push_back(path(run));
    arguments.insert(arguments.end(), more.begin(), more.end());
    succeed(arguments);
  };
  import("signed", {});
  import("direct", {"--set", "encoder.kind=direct"});
  EXPECT_EQ(eval("direct"), eval("run"));
  EXPECT_NE(eval("signed"), eval("run"));
}

TEST_F(RoundTrip, EvalTakesSplitsStepsLimitsAndSeeds) {
  train("run", {"--epochs", "1"});
  EXPECT_EQ(eval("run", {"--split", "train"}).at("images"), kTrainImages);
  EXPECT_EQ(eval("run", {"--limit", "5"}).at("images"), 5);
  EXPECT_EQ(eval("run", {"--steps", "2"}).at("steps"), 2);
  EXPECT_EQ(eval("run", {"--seed", "1"}), eval("run"));
  EXPECT_NE(eval("run", {"--seed", "2"}), eval("run"));
  EXPECT_EQ(eval("run", {"--threads", "1"}), eval("run", {"--threads", "2"}));
  EXPECT_THAT(succeed({"eval", path("run"), "--data", data().string()}),
              HasSubstr("on 21 test images, 3 steps"));
}

TEST_F(RoundTrip, EvalFindsTheDataWhereTrainingDid) {
  train("run", {"--epochs", "1"});
  const std::string told = succeed({"eval", path("run"), "--json"});
  EXPECT_EQ(parse_json(told, "eval").at("images"), kTestImages);
}

TEST_F(RoundTrip, InspectShowsGammaOfEveryStep) {
  train("run", {"--epochs", "1"});
  const std::string told = succeed({"inspect", path("run")});
  for (const char* word : {"conv1", "conv3", "fc1", "total", "gamma", "neuron-steps that fire"}) {
    EXPECT_THAT(told, HasSubstr(word));
  }
}

TEST_F(RoundTrip, InspectShowsSeedFitAndBreakEvens) {
  // Wide enough that dense convolutions are an alternative.
  train("run", {"--epochs", "0", "--seed", "5", "--set", "model.width=0.25", "--set",
                "train.break_even=[0.25, 0.5, 0.125, 0.75, 0.375, 0.625, 1.0, 1.0, 1.0, 1.0]"});
  const std::string told = succeed({"inspect", path("run")});
  EXPECT_THAT(told, HasSubstr(", seed 5\n"));
  EXPECT_THAT(told, HasSubstr("fit       crop"));
  EXPECT_THAT(told, HasSubstr("conv2               0.125            0.750\n"));
  EXPECT_THAT(told, Not(HasSubstr("fc1                 1.000"))) << "it has no dense way";
  const Json densities =
      parse_json(succeed({"inspect", path("run"), "--json"}), "inspect").at("break_even");
  ASSERT_EQ(densities.size(), 5U);
  EXPECT_EQ(densities[2],
            (Json{{"synapse", "conv3"}, {"forward", 0.375}, {"weight_gradient", 0.625}}));
}

TEST_F(RoundTrip, SettingsOfTheCommandLineAreKeptWithTheRun) {
  train("run", {"--epochs", "1", "--set", "model.steps=2", "--set", "train.learning_rate=0.1",
                "--set", "model.reset=hard", "--seed", "5", "--limit-train", "40"});
  const std::string settings = bytes_of(root() / "run" / "run.toml");
  for (const char* line : {"steps = 2", "learning_rate = 0.1", "reset = \"hard\"", "seed = 5",
                           "limit_train = 40", "epochs = 1"}) {
    EXPECT_THAT(settings, HasSubstr(line));
  }
  EXPECT_EQ(eval("run").at("steps"), 2);
}

TEST_F(RoundTrip, ImportFindsWidthsWhoseRoundingIsAwkward) {
  // 64·w rounds up and 1024·w rounds down just here: no single stage tells the width.
  train("run", {"--epochs", "0", "--set", "model.width=0.05470"});
  succeed({"export", path("run"), "--format", "authors-pytorch", path("out.safetensors")});
  forget_description("out.safetensors");
  succeed({"import", path("out.safetensors"), "--model", "vgg5", "--data", "mnist", "--size", "12",
           "--out", path("back")});
  EXPECT_EQ(eval("back"), eval("run"));
}

}  // namespace
}  // namespace bntt
