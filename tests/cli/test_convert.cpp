#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "convert/settings.h"
#include "tiny_runs.h"
#include "train/config.h"

namespace bntt {
namespace {

using ::testing::AllOf;
using testing::bytes_of;
using ::testing::HasSubstr;
using testing::ProcessEnd;
using testing::run_bntt;
using testing::TinyRuns;

/// A tiny ANN, its conversions, and what can be done with them.
class Conversions : public TinyRuns {
 protected:
  void train_ann(const std::string& run, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> settings = {
        "--set", "model.neuron=relu",        "--set", "model.steps=1",
        "--set", "model.norm=none",          "--set", "model.width=0.1",
        "--set", "encoder.kind=direct",      "--set", "data.mean=[0.5]",
        "--set", "data.deviation=[0.25]",    "--set", "model.init=he-fan-in",
        "--set", "train.learning_rate=0.05", "--set", "train.epochs=8"};
    settings.insert(settings.end(), more.begin(), more.end());
    train(run, settings);
  }
  std::string convert(const std::string& from, const std::string& method, const std::string& to,
                      const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {
        "convert", path(from), "--method", method, "--calibration-images", "16", "--out", path(to)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    if (std::ranges::count(more, "--steps") == 0) {
      arguments.insert(arguments.end(), {"--steps", "40"});
    }
    return succeed(arguments);
  }
  Json eval(const std::string& run, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {"eval", path(run), "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Json::parse(succeed(arguments));
  }
  RunConfig settings_of(const std::string& run) const {
    return config_from_toml(bytes_of(root() / run / "run.toml"), run);
  }
};

TEST_F(Conversions, AreRunsLikeAnyOther) {
  train_ann("ann");
  const double ann = eval("ann").at("accuracy");
  ASSERT_GT(ann, 60.0) << "something was learned";
  convert("ann", "rueckauer", "rueckauer");
  const Json measured = eval("rueckauer", {"--at-steps", "2,10,40"});
  ASSERT_EQ(measured.at("at_steps").size(), 3U);
  EXPECT_EQ(measured["at_steps"][2].at("accuracy"), measured.at("accuracy"));
  EXPECT_EQ(measured["at_steps"][1].at("steps"), 10);
  EXPECT_LT(measured["at_steps"][1].at("spikes_per_image"), measured.at("spikes_per_image"));
  EXPECT_GE(measured.at("accuracy"), ann - 15.0);
  EXPECT_THAT(succeed({"eval", path("rueckauer"), "--at-steps", "5"}),
              HasSubstr("after     5 steps"));

  const Json curves = Json::parse(succeed({"steps", path("ann"), path("rueckauer"), "--at",
                                           "2,10,500", "--out", path("steps.svg"), "--json"}));
  EXPECT_EQ(curves.at("runs")[0].at("points").size(), 1U) << "an ANN has one step";
  EXPECT_EQ(curves["runs"][1].at("points").size(), 3U) << "2, 10 and the last, 40";
  EXPECT_EQ(curves["runs"][1]["points"][1].at("accuracy"), measured["at_steps"][1]["accuracy"]);
  EXPECT_THAT(bytes_of(root() / "steps.svg"), HasSubstr("rueckauer"));
  EXPECT_THAT(succeed({"steps", path("rueckauer"), "--at", "5"}), HasSubstr("accuracy (%) after"));

  EXPECT_THAT(succeed({"inspect", path("rueckauer")}),
              AllOf(HasSubstr("method    rueckauer\n"), HasSubstr("source    Rueckauer"),
                    HasSubstr("converted from ")));
  succeed({"exit", path("rueckauer"), "--limit", "8"});
  succeed({"activity", path("rueckauer"), "--limit", "8"});
  succeed({"energy", path("rueckauer"), "--limit", "8"});
  succeed({"attack", path("rueckauer"), "--noise", "0.1", "--limit", "4"});
  succeed({"report", path("rueckauer"), path("ann"), "--limit", "8", "--out", path("page.html")});
  EXPECT_THAT(bytes_of(root() / "page.html"), HasSubstr("Rueckauer, Lungu"));
}

TEST_F(Conversions, OfEveryMethodHaveTheSameBytesWhateverTheThreads) {
  train_ann("ann", {"--set", "model.norm=bn", "--set", "model.norm_shift=true"});
  for (const std::string method : {"cao", "diehl", "rueckauer", "spike-norm", "rmp"}) {
    const std::string told = convert("ann", method, method, {"--threads", "1"});
    EXPECT_THAT(told, HasSubstr("conv1")) << method;
    convert("ann", method, method + "-2", {"--threads", "2"});
    EXPECT_EQ(bytes_of(root() / method / "checkpoint.safetensors"),
              bytes_of(root() / (method + "-2") / "checkpoint.safetensors"))
        << method;
    const RunConfig settings = settings_of(method);
    EXPECT_EQ(settings.method.name, method);
    EXPECT_EQ(settings.network->steps, 40);
    EXPECT_GT(eval(method).at("images"), 0);
  }
}

TEST_F(Conversions, TakeTheScaleThatValidationLikes) {
  train_ann("ann");
  const std::string told = convert("ann", "rmp", "rmp", {"--sweep", "1,0.8", "--json"});
  const Json report = Json::parse(told);
  EXPECT_EQ(report.at("sweep").size(), 2U);
  EXPECT_THAT(settings_of("rmp").method.settings, HasSubstr("the best of 1, 0.8"));
  const double scale = report.at("threshold_scale");
  const bool first = report["sweep"][0].at("accuracy") >= report["sweep"][1].at("accuracy");
  EXPECT_EQ(scale, first ? 1.0 : 0.8);
  convert("ann", "rmp", "plain");
  const auto threshold = [&](const std::string& run) {
    return std::get<Conv>(settings_of(run).network->stages.front()).neuron.threshold;
  };
  EXPECT_FLOAT_EQ(threshold("rmp"), static_cast<float>(scale) * threshold("plain"));
}

TEST_F(Conversions, OfEveryPresetRunAndMayBeChanged) {
  train_ann("ann");
  const std::vector<std::string> presets = conversion_preset_names();
  ASSERT_GE(presets.size(), 8U);
  for (const std::string& preset : presets) {
    succeed({"convert", path("ann"), "--preset", preset, "--steps", "4", "--calibration-steps", "4",
             "--calibration-images", "8", "--out", path(preset)});
    const ConversionOptions options = conversion_preset(preset);
    const RunConfig made = settings_of(preset);
    EXPECT_EQ(made.method.name, options.method);
    EXPECT_EQ(made.network->steps, 4);
    const auto& first = std::get<Conv>(made.network->stages.front()).neuron;
    EXPECT_EQ(first.reset, options.reset.value_or(conversion_method(options.method).reset));
    EXPECT_EQ(made.method.settings.ends_with(", readout copied"), options.copy_readout) << preset;
    if (options.sweep.empty()) {
      EXPECT_THAT(made.method.settings,
                  HasSubstr(fmt::format("thresholds times {:g}", options.threshold_scale)));
    }
    EXPECT_GT(eval(preset).at("images"), 0);
  }
  // Options replace the values of the preset, a sweep its scale.
  succeed({"convert", path("ann"), "--preset", "rathi-2020", "--steps", "4", "--calibration-images",
           "8", "--sweep", "1,0.5", "--reset", "hard", "--copy-readout=false", "--out",
           path("mine")});
  EXPECT_THAT(settings_of("mine").method.settings,
              AllOf(HasSubstr("hard reset"), HasSubstr("of 8 images over 200 steps, thresholds"),
                    HasSubstr("the best of 1, 0.5"), ::testing::Not(HasSubstr("copied"))));
  const auto refused = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"convert", path("ann"), "--out", path("new")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProcessEnd end = run_bntt(arguments);
    EXPECT_EQ(end.exit_code, 2);
    return end.error;
  };
  EXPECT_THAT(refused({}), HasSubstr("names no method, expected --method or --preset"));
  EXPECT_THAT(refused({"--preset", "rathy"}), HasSubstr("did you mean 'rathi'?"));
  EXPECT_THAT(refused({"--method", "rmp", "--scaled-search"}),
              HasSubstr("--scaled-search requires --threshold-scale"));
}

TEST_F(Conversions, AreWhereHybridTrainingStarts) {
  train_ann("ann");
  convert("ann", "spike-norm", "converted", {"--reset", "soft", "--threshold-scale", "0.7"});
  write_text("hybrid.toml",
             "[data]\nname = \"mnist\"\nvalidation = 0.25\nmean = [0.5]\ndeviation = [0.25]\n"
             "[model]\nname = \"vgg5\"\nsteps = 12\nwidth = 0.1\nnorm = \"none\"\nleak = 0.99\n"
             "propagation = \"delayed\"\nsurrogate = \"stdb\"\nsurrogate_per_threshold = true\n"
             "[train]\nepochs = 2\nbatch = 6\noptimizer = \"adam\"\nlearning_rate = 1e-4\n"
             "from_thresholds = true\n[run]\nlog_steps = 2\ncheckpoint_steps = 2\n");
  const auto hybrid = [&](const std::string& run, const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {
        "train", "--config", path("hybrid.toml"), "--data", data().string(), "--out", path(run)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  };
  succeed(hybrid("one", {"--from", path("converted"), "--threads", "1"}));
  succeed(hybrid("two", {"--from", path("converted"), "--threads", "2"}));
  expect_same_runs("one", "two");
  const RunConfig one = settings_of("one");
  const RunConfig converted = settings_of("converted");
  ASSERT_EQ(one.model.thresholds.size(), 4U);
  EXPECT_EQ(one.model.thresholds.front(),
            std::get<Conv>(converted.network->stages.front()).neuron.threshold);
  // Resumed with the settings it was begun with, whose thresholds are in run.toml.
  succeed(hybrid("one", {"--resume", "--epochs", "3"}));

  const ProcessEnd without = run_bntt(hybrid("new", {}));
  EXPECT_EQ(without.exit_code, 2);
  EXPECT_THAT(without.error, HasSubstr("train.from names no run"));
  const ProcessEnd from_ann = run_bntt(hybrid("new", {"--from", path("ann")}));
  EXPECT_EQ(from_ann.exit_code, 2);
  EXPECT_THAT(from_ann.error, HasSubstr("is not a spiking network"));
}

// The membranes are kept between windows of steps, and nothing else: the history of 2,500 steps
// would be a hundred megabytes and more.
TEST_F(Conversions, MoreStepsNeedNoMoreMemory) {
  train_ann("ann", {"--epochs", "1"});
  for (const std::string method : {"rmp", "rueckauer"}) {
    const auto peak = [&](const std::string& steps) {
      const std::string run = method + steps;
      convert("ann", method, run, {"--steps", steps, "--calibration-steps", "10"});
      const ProcessEnd end =
          run_bntt({"eval", path(run), "--threads", "1", "--at-steps", "5,10,20"});
      EXPECT_EQ(end.exit_code, 0) << end.error;
      return static_cast<double>(end.peak_memory);
    };
    const double few = peak("25");
    EXPECT_GT(few, 1e6) << method;
    EXPECT_LT(peak("2500"), 1.1 * few + 4e6) << method;
  }
}

TEST_F(Conversions, OfOtherNetworksAreRefused) {
  const auto refused = [&](const std::vector<std::string>& arguments) {
    const ProcessEnd end = run_bntt(arguments);
    EXPECT_EQ(end.exit_code, 2) << end.out;
    EXPECT_FALSE(std::filesystem::exists(root() / "new"));
    return end.error;
  };
  train("spiking", {"--epochs", "0"});
  EXPECT_EQ(refused({"convert", path("spiking"), "--method", "rmp", "--calibration-images", "8",
                     "--out", path("new")}),
            fmt::format("bntt: {}: cannot be converted: conv1 has lif neurons, but only an ANN of "
                        "relu neurons can be converted\n",
                        path("spiking")));
  train_ann("layer", {"--set", "model.norm=layer", "--epochs", "0"});
  EXPECT_THAT(refused({"convert", path("layer"), "--method", "rmp", "--out", path("new")}),
              HasSubstr("conv1 has the norm 'layer'"));
  EXPECT_THAT(refused({"convert", path("layer"), "--method", "rpm", "--out", path("new")}),
              HasSubstr("rpm"));
  train_ann("ann", {"--epochs", "0"});
  EXPECT_THAT(refused({"convert", path("ann"), "--method", "rmp", "--out", path("new")}),
              HasSubstr("--calibration-images is 512, expected 1 to the 36 training images"));
  const ProcessEnd taken = run_bntt({"convert", path("ann"), "--method", "rmp",
                                     "--calibration-images", "8", "--out", path("spiking")});
  EXPECT_EQ(taken.exit_code, 2);
  EXPECT_THAT(taken.error, HasSubstr("already holds a run"));
}

}  // namespace
}  // namespace bntt
