#include <algorithm>

#include "base/json.h"
#include "tiny_runs.h"

// Every analysis on networks with branches: currents that are added (resnet19, resnet20), spikes
// that are added (sew-resnet18), and stages whose output is a current (ms-resnet18).
namespace bntt {
namespace {

using ::testing::HasSubstr;
using testing::TinyRuns;

struct Residual {
  std::string model;
  std::string norm;
  std::size_t stages;  // with the readout
};

void PrintTo(const Residual& residual, std::ostream* out) { *out << residual.model; }

class ResidualRuns : public TinyRuns, public ::testing::WithParamInterface<Residual> {
 protected:
  ResidualRuns() {
    train("run", {"--epochs", "1", "--set", "model.name=" + GetParam().model, "--set",
                  "model.norm=" + GetParam().norm, "--set", "model.width=0.04", "--set",
                  "train.batch=12", "--set", "data.augment_pad=0"});
  }

  std::string text_of(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin() + 1, path("run"));
    return succeed(arguments);
  }
  Json json_of(std::vector<std::string> arguments) const {
    arguments.emplace_back("--json");
    return parse_json(text_of(arguments), "output");
  }
};

INSTANTIATE_TEST_SUITE_P(Zoo, ResidualRuns,
                         ::testing::Values(Residual{"resnet19", "tdbn", 19},
                                           Residual{"resnet20", "none", 20},
                                           Residual{"sew-resnet18", "bntt", 21},
                                           Residual{"ms-resnet18", "bntt", 27}),
                         [](const auto& test) {
                           std::string name = test.param.model;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST_P(ResidualRuns, GoThroughEveryAnalysis) {
  const Json eval = json_of({"eval"});
  EXPECT_EQ(eval.at("images"), kTestImages);
  const Json& accuracy = eval.at("accuracy");
  const bool gain_per_step = GetParam().norm == "bntt";
  if (gain_per_step) {
    EXPECT_EQ(json_of({"eval", "--window-threshold", "0"}).at("loss"), eval.at("loss"));
  }

  const Json exit = json_of({"exit"});
  EXPECT_EQ(exit.at("methods").at(0).at("accuracy"), accuracy);
  EXPECT_EQ(exit.at("sweep").size() > 1, gain_per_step);

  const Json activity = json_of({"activity"});
  EXPECT_EQ(activity.at("accuracy"), accuracy);
  double spikes = 0.0;
  for (const Json& stage : activity.at("stages")) {
    for (const Json& of_step : stage.at("spikes_per_step")) spikes += of_step.get<double>();
  }
  EXPECT_GT(spikes, 0.0);
  EXPECT_NEAR(spikes, activity.at("spikes_per_image").get<double>(), 1e-6 * spikes);

  const Json energy = json_of({"energy"});
  EXPECT_EQ(energy.at("accuracy"), accuracy);
  EXPECT_EQ(energy.at("spikes_per_image"), activity.at("spikes_per_image"));
  ASSERT_EQ(energy.at("stages").size(), GetParam().stages);
  double measured = 0.0;
  for (const Json& stage : energy.at("stages")) measured += stage.at("measured_pj").get<double>();
  EXPECT_GT(measured, 0.0);
  EXPECT_DOUBLE_EQ(measured, energy.at("measured_pj").get<double>());

  const Json attack = json_of({"attack", "--noise", "0.1", "--fgsm", "0,8/255"});
  EXPECT_EQ(attack.at("clean_accuracy"), accuracy);
  EXPECT_EQ(attack.at("curves").at(1).at("points").at(0).at("accuracy"), accuracy);

  const std::string inspected = text_of({"inspect"});
  const std::string report = path("report.html");
  text_of({"report", "--limit", "8", "--out", report});
  const std::string page = testing::bytes_of(report);
  for (const Json& stage : energy.at("stages")) {
    EXPECT_THAT(inspected, HasSubstr(stage.at("name").get<std::string>()));
    EXPECT_TRUE(page.find('"' + stage.at("name").get<std::string>() + '"') != std::string::npos)
        << stage.at("name");
  }
  for (const std::string figure : {"spikes", "spike-rate"}) {
    text_of({"plot", "--figure", figure, "--limit", "8", "--out", path(figure + ".svg")});
    EXPECT_THAT(testing::bytes_of(path(figure + ".svg")), HasSubstr("<svg")) << figure;
  }
}

}  // namespace
}  // namespace bntt
