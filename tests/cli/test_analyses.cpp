#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "tiny_runs.h"

// The analyses from the command line: what they print as JSON, and what they refuse.
namespace bntt {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::ProcessEnd;
using testing::run_bntt;
using testing::TinyRuns;

class Analyses : public TinyRuns {
 protected:
  Analyses() { train("run"); }

  Json json_of(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin() + 1, path("run"));
    arguments.emplace_back("--json");
    return parse_json(succeed(arguments), "output");
  }
  std::string text_of(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin() + 1, path("run"));
    return succeed(arguments);
  }
  std::string refused(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin() + 1, path("run"));
    const ProcessEnd end = run_bntt(arguments);
    EXPECT_EQ(end.exit_code, 2) << end.out << end.error;
    EXPECT_EQ(end.out, "");
    EXPECT_EQ(std::count(end.error.begin(), end.error.end(), '\n'), 1) << end.error;
    return end.error;
  }
};

TEST_F(Analyses, Exit) {
  const Json study = json_of({"exit"});
  EXPECT_EQ(study.at("steps"), 3);
  EXPECT_EQ(study.at("images"), kTestImages);
  EXPECT_EQ(study.at("validation_images"), 12);
  EXPECT_EQ(study.at("methods").at(0).at("name"), "all-steps");
  EXPECT_EQ(study.at("sweep").at(0).at("exit_step"), 3);
  EXPECT_EQ(study.at("methods").at(0).at("accuracy"), json_of({"eval"}).at("accuracy"));
  EXPECT_EQ(json_of({"exit", "--limit", "5"}).at("validation_images"), 5);
  EXPECT_THAT(text_of({"exit"}), AllOf(HasSubstr("T_exit"), HasSubstr("all-steps")));
}

TEST_F(Analyses, ExitTellsHowCertainItIs) {
  // Twelve validation images show no more than that a rule costs at most 22.1 points.
  const Json cautious = json_of({"exit"});
  EXPECT_FALSE(cautious.contains("proposed"));
  EXPECT_EQ(cautious.at("methods").size(), 1U);
  EXPECT_GE(cautious.at("sweep").at(1).at("validation_loss_bound"), 22.0);
  EXPECT_THAT(text_of({"exit"}),
              AllOf(HasSubstr("nothing is proposed"), HasSubstr("12 validation images")));

  const Json bold = json_of({"exit", "--max-loss", "100"});
  const Json& point = bold.at("sweep").at(bold.at("proposed").get<std::size_t>());
  EXPECT_EQ(point.at("exit_step"), 1);
  EXPECT_LE(point.at("validation_loss"), point.at("validation_loss_bound"));
  EXPECT_THAT(text_of({"exit", "--max-loss", "100"}),
              AllOf(HasSubstr("proposed: gamma threshold"), HasSubstr("with 95 % confidence")));
}

TEST_F(Analyses, EvalStopsAtTheExitOfAThreshold) {
  const Json study = json_of({"exit"});
  for (const Json& point : study.at("sweep")) {
    const Json eval = json_of(
        {"eval", "--exit-threshold", fmt::format("{}", point.at("threshold").get<double>())});
    EXPECT_EQ(eval.at("steps"), point.at("exit_step"));
    EXPECT_EQ(eval.at("accuracy"), point.at("accuracy"));
  }
}

TEST_F(Analyses, EvalLetsImagesLeaveAndLayersRest) {
  const Json plain = json_of({"eval"});
  const Json never = json_of({"eval", "--exit-confidence", "1"});
  EXPECT_EQ(plain.at("mean_steps"), 3.0);
  EXPECT_EQ(never.at("loss"), plain.at("loss"));
  const Json at_once = json_of({"eval", "--exit-margin", "0"});
  EXPECT_EQ(at_once.at("mean_steps"), 1.0);
  EXPECT_EQ(at_once.at("accuracy"), json_of({"eval", "--steps", "1"}).at("accuracy"));
  EXPECT_EQ(json_of({"eval", "--window-threshold", "0"}).at("loss"), plain.at("loss"));
  EXPECT_EQ(json_of({"eval", "--window-threshold", "100"}).at("spikes_per_image"), 0.0);
}

TEST_F(Analyses, InspectShowsLearnedWindows) {
  EXPECT_FALSE(json_of({"inspect"}).contains("windows"));
  const std::string told = train("windows", {"--set", "train.window_work=0.6"});
  EXPECT_THAT(told, HasSubstr("% of the work left"));
  const Json inspected = parse_json(succeed({"inspect", path("windows"), "--json"}), "inspect");
  const double work = inspected.at("windows").at("work");
  EXPECT_GE(work, 0.6);
  EXPECT_LT(work, 1.0);
  const std::string text = succeed({"inspect", path("windows")});
  EXPECT_THAT(text, HasSubstr(fmt::format("{:.1f} % of the work is left", 100.0 * work)));
  for (const auto& [branch, window] : inspected.at("windows").at("branches").items()) {
    EXPECT_THAT(text, HasSubstr(fmt::format("{:<8} {}", branch, window.get<std::string>())));
  }
}

TEST_F(Analyses, Activity) {
  const Json study = json_of({"activity", "--bins", "7"});
  EXPECT_EQ(study.at("images"), kTestImages);
  const Json& stage = study.at("stages").at(0);
  EXPECT_EQ(stage.at("name"), "conv1");
  EXPECT_EQ(stage.at("gamma_mean").size(), 3U);
  EXPECT_EQ(stage.at("gamma_histograms").at(0).at("counts").size(), 7U);
  EXPECT_TRUE(stage.contains("membrane"));
  EXPECT_TRUE(stage.contains("effective_threshold"));
  EXPECT_FALSE(
      json_of({"activity", "--detail-images", "0"}).at("stages").at(0).contains("membrane"));
  EXPECT_THAT(text_of({"activity"}), AllOf(HasSubstr("conv1"), HasSubstr("mean gamma")));
}

TEST_F(Analyses, Energy) {
  const Json study = json_of({"energy"});
  EXPECT_EQ(study.at("table").at("mac_pj"), 4.6);
  EXPECT_GT(study.at("measured_pj"), 0.0);
  EXPECT_GT(study.at("cpu").at("ms_per_image"), 0.0);
  write_text("cheap.toml", "name = \"cheap\"\nmac_pj = 2.3\n");
  const Json cheap = json_of({"energy", "--table", path("cheap.toml")});
  EXPECT_EQ(cheap.at("table").at("name"), "cheap");
  EXPECT_DOUBLE_EQ(cheap.at("ann_pj"), study.at("ann_pj").get<double>() / 2.0);
  EXPECT_THAT(text_of({"energy"}), AllOf(HasSubstr("E_ANN"), HasSubstr("ms per image")));
  write_text("dear.toml", "mac_pj = 1000\naccumulate_pj = 0.001\n");
  EXPECT_THAT(text_of({"energy", "--table", path("dear.toml")}),
              HasSubstr("times less than the ANN"));
  write_text("free.toml", "mac_pj = 0.001\naccumulate_pj = 1000\n");
  EXPECT_THAT(text_of({"energy", "--table", path("free.toml")}),
              HasSubstr("times that of the ANN"));
}

TEST_F(Analyses, Attack) {
  const Json study = json_of({"attack", "--noise", "0.1,0.3", "--fgsm", "0,8/255", "--pgd", "0.1",
                              "--pgd-steps", "2", "--draws", "2"});
  EXPECT_EQ(study.at("curves").size(), 3U);
  EXPECT_EQ(study.at("clean_accuracy"), json_of({"eval"}).at("accuracy"));
  const Json& fgsm = study.at("curves").at(1);
  EXPECT_EQ(fgsm.at("kind"), "fgsm");
  EXPECT_EQ(fgsm.at("points").at(0).at("accuracy"), study.at("clean_accuracy"));
  EXPECT_EQ(fgsm.at("points").at(1).at("strength"), 8.0 / 255.0);
  EXPECT_EQ(json_of({"attack", "--noise", "0.1,0.3", "--threads", "1"}).at("curves").at(0),
            study.at("curves").at(0))
      << "depends on the other attacks or on the threads";
  EXPECT_THAT(text_of({"attack", "--noise", "0.1"}), HasSubstr("clean accuracy"));
}

TEST_F(Analyses, AttackOnRecordingsIsNoise) {
  write_recordings();
  train_on_recordings("recordings");
  const std::vector<std::string> attack = {"attack", path("recordings"), "--noise", "0.25,1",
                                           "--json"};
  const Json study = parse_json(succeed(attack), "output");
  EXPECT_EQ(study.at("events"), true);
  EXPECT_EQ(study.at("images"), 20);
  EXPECT_EQ(study.at("curves").size(), 1U);
  EXPECT_EQ(study.at("curves").at(0).at("points").size(), 3U);
  EXPECT_THAT(succeed({"attack", path("recordings"), "--noise", "0.5"}),
              HasSubstr("share of events removed and added"));
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{"--fgsm", "2/255"}, {"--noise", "1.5"}}) {
    const ProcessEnd end = run_bntt({"attack", path("recordings"), wrong[0], wrong[1]});
    EXPECT_EQ(end.exit_code, 2);
    EXPECT_THAT(end.error, HasSubstr("event"));
    EXPECT_EQ(std::count(end.error.begin(), end.error.end(), '\n'), 1) << end.error;
  }
}

TEST_F(Analyses, WrongInputIsRefusedInOneSentence) {
  EXPECT_THAT(refused({"attack"}), HasSubstr("no attack was given"));
  EXPECT_THAT(refused({"attack", "--fgsm", "2/0"}), HasSubstr("--fgsm"));
  EXPECT_THAT(refused({"attack", "--noise", "0.1,much"}), HasSubstr("'much' is not a strength"));
  EXPECT_THAT(refused({"attack", "--noise", "0.1", "--draws", "0"}), HasSubstr("--draws"));
  EXPECT_THAT(refused({"exit", "--max-loss", "-1"}), HasSubstr("--max-loss"));
  EXPECT_THAT(refused({"activity", "--bins", "0"}), HasSubstr("--bins"));
  EXPECT_THAT(refused({"energy", "--steps", "9"}), HasSubstr("steps: 9 is out of range"));
  EXPECT_THAT(refused({"energy", "--table", path("none.toml")}), HasSubstr("none.toml"));
  write_text("wrong.toml", "mac = 3\n");
  EXPECT_THAT(refused({"energy", "--table", path("wrong.toml")}),
              AllOf(HasSubstr("wrong.toml"), HasSubstr("did you mean 'mac_pj'")));
  EXPECT_THAT(refused({"eval", "--exit-threshold", "0.1", "--steps", "2"}), HasSubstr("--steps"));
  EXPECT_THAT(refused({"eval", "--exit-confidence", "1.5"}), HasSubstr("--exit-confidence"));
  for (const std::string command : {"exit", "activity", "energy"}) {
    EXPECT_THAT(refused({command, "--data", path("nowhere")}), HasSubstr("nowhere")) << command;
    const ProcessEnd end = run_bntt({command, path("norun")});
    EXPECT_EQ(end.exit_code, 2);
    EXPECT_THAT(end.error, HasSubstr("holds no run")) << command;
  }
}

TEST_F(Analyses, WithoutGainsPerStepThereIsNoThreshold) {
  train("plain", {"--set", "model.norm=bn"});
  const ProcessEnd end = run_bntt({"eval", path("plain"), "--exit-threshold", "0.1"});
  EXPECT_EQ(end.exit_code, 2);
  EXPECT_THAT(end.error, HasSubstr("no gamma per step"));
  EXPECT_THAT(succeed({"exit", path("plain")}), HasSubstr("no gamma per step"));
}

TEST_F(Analyses, AnAnnHasEnergyAndAttacksButNoSpikes) {
  train("ann", {"--set", "model.neuron=relu", "--set", "model.steps=1", "--set", "model.norm=bn",
                "--set", "encoder.kind=direct"});
  for (const char* command : {"exit", "activity"}) {
    const ProcessEnd end = run_bntt({command, path("ann")});
    EXPECT_EQ(end.exit_code, 2);
    EXPECT_THAT(end.error, HasSubstr("is an ANN"));
  }
  const Json energy = parse_json(succeed({"energy", path("ann"), "--json"}), "output");
  EXPECT_FALSE(energy.contains("paper_ratio"));
  succeed({"attack", path("ann"), "--fgsm", "2/255"});
}

}  // namespace
}  // namespace bntt
