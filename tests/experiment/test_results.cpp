#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "experiment/result.h"
#include "experiment/result_page.h"
#include "experiment/tables.h"
#include "fixtures.h"

namespace bntt {
namespace {

using ::testing::HasSubstr;
using testing::TemporaryDirectory;

constexpr const char* kText =
    "title = \"A <table>\"\n"
    "columns = [\"steps\", \"accuracy\", \"spikes\", \"energy_ratio\", \"truenorth\"]\n"
    "[[run]]\nname = \"a\"\npreset = \"paper-cifar10\"\n"
    "[[run]]\nname = \"b\"\nlike = \"a\"\nset = [\"model.norm=none\"]\n"
    "[[row]]\nlabel = \"A | B\"\nrun = \"a\"\npaper = { accuracy = 90.5, steps = 25 }\n"
    "[[row]]\nlabel = \"other\"\nrun = \"b\"\n"
    "[[row]]\nlabel = \"early\"\nrun = \"a\"\nearly_exit = true\n"
    "[[claim]]\ntext = \"a is right more often\"\nhigher = \"a\"\nlower = \"b\"\n"
    "[[claim]]\ntext = \"b fires more\"\nsubject = \"spikes\"\nhigher = \"b\"\nlower = \"a\"\n"
    "[[claim]]\ntext = \"a fires more\"\nsubject = \"spikes\"\nhigher = \"a\"\nlower = \"b\"\n"
    "[[claim]]\ntext = \"deep is late\"\nsubject = \"gamma-peak\"\nhigher = \"a\"\n";

/// Answers as if runs had been trained: a is right on 150 of 200 images, b on 100 of them.
class Results : public ::testing::Test {
 protected:
  Results() : experiment_(experiment_from_toml(kText, "mine")) {
    std::filesystem::create_directory(data_.path() / "cifar10");
    plan_ = plan_runs({experiment_}, {.scale = Scale::full, .data = data_.path().string()});
  }

  std::optional<Json> answer(std::size_t run, const Measure& measure) {
    ++asked_;
    const bool a = plan_.runs[run].name == "a";
    switch (measure.kind) {
      case MeasureKind::answers:
        return Json{{"images", 200},
                    {"correct", a ? 150 : 100},
                    {"steps", 25},
                    {"spiking", true},
                    {"spikes_per_image", a ? 1000.0 : 4000.0},
                    {"right", std::string(a ? 150 : 100, '1') + std::string(a ? 50 : 100, '0')}};
      case MeasureKind::energy:
        return Json{{"spiking", true}, {"paper_ratio", a ? 9.0 : 1.0}, {"measured_ratio", 2.0}};
      case MeasureKind::exit:
        return Json{{"images", 200}, {"sweep", Json::array()}};  // proposes nothing
      case MeasureKind::activity: {
        const auto stage = [](const char* name, std::vector<double> means) {
          return Json{
              {"name", name}, {"first_step", 0}, {"active_steps", 3}, {"gamma_mean", means}};
        };
        return Json{{"stages", {stage("conv1", {0.9, 0.5, 0.1}), stage("conv2", {0.2, 0.8, 0.3})}}};
      }
      default:
        return std::nullopt;
    }
  }
  ExperimentResult gathered() {
    return gather(experiment_,
                  {.plan = plan_, .lookup = [this](std::size_t run, const Measure& measure) {
                     return answer(run, measure);
                   }});
  }

  TemporaryDirectory data_;
  Experiment experiment_;
  Plan plan_;
  int asked_ = 0;
};

TEST_F(Results, StandBesideThePapersWithTheirIntervals) {
  const ExperimentResult result = gathered();
  ASSERT_EQ(result.rows.size(), 3U);
  const ResultCell& accuracy = result.rows[0].cells[1];
  EXPECT_EQ(accuracy.values, std::vector<double>{75.0});
  EXPECT_EQ(accuracy.paper, 90.5);
  ASSERT_TRUE(accuracy.interval);
  EXPECT_NEAR(accuracy.interval->low, 68.566, 0.001);
  EXPECT_NEAR(accuracy.interval->high, 80.492, 0.001);
  EXPECT_NEAR(result.rows[0].cells[4].values.at(0),
              (0.4 * 1000 + 0.6 * 25) / (0.4 * 4193000 + 0.6 * 1000), 1e-12);
  EXPECT_EQ(result.rows[2].problem, "no exit step is certain to cost at most 0.3 points");
  EXPECT_TRUE(result.rows[2].cells[1].values.empty());
}

TEST_F(Results, ClaimsAreConfirmedOrDenied) {
  const ExperimentResult result = gathered();
  ASSERT_EQ(result.claims.size(), 4U);
  EXPECT_EQ(result.claims[0].verdict, Verdict::confirmed);
  EXPECT_THAT(result.claims[0].numbers, HasSubstr("+25.00 points, McNemar p < 0.0001"));
  EXPECT_EQ(result.claims[1].verdict, Verdict::confirmed);
  EXPECT_THAT(result.claims[1].numbers, HasSubstr("4000 against 1000, 4 times"));
  EXPECT_EQ(result.claims[2].verdict, Verdict::denied);
  EXPECT_EQ(result.claims[3].verdict, Verdict::confirmed);
  EXPECT_EQ(result.claims[3].numbers, "peak steps: conv1 1, conv2 2");
}

/// Which images of 300 a run gets right at each strength, the clean one first.
Json curves(const std::vector<std::string>& right) {
  Json points = Json::array();
  for (const std::string& images : right) {
    const auto share = static_cast<double>(std::ranges::count(images, '1')) / 300.0;
    points.push_back({{"strength", 0.1 * static_cast<double>(points.size())},
                      {"accuracy", 100.0 * share},
                      {"right", images}});
  }
  return {{"images", 300}, {"curves", {{{"kind", "noise"}, {"points", points}}}}};
}

class NoiseClaims : public Results {
 protected:
  NoiseClaims() {
    experiment_ = experiment_from_toml(
        "[[run]]\nname = \"a\"\npreset = \"paper-cifar10\"\n"
        "[[run]]\nname = \"b\"\nlike = \"a\"\nset = [\"model.norm=none\"]\n"
        "[[claim]]\ntext = \"t\"\nsubject = \"noise\"\nhigher = \"a\"\nlower = \"b\"\n"
        "strengths = [0.1, 0.2]\n",
        "mine");
    plan_ = plan_runs({experiment_}, {.scale = Scale::full, .data = data_.path().string()});
  }
  /// Of run a, on which alone `a_only` images are right, and of b.
  ResultClaim judged(std::array<int, 2> a_only, std::array<int, 2> b_only) {
    std::vector<std::string> a = {std::string(300, '1')};
    std::vector<std::string> b = a;
    for (std::size_t i = 0; i < a_only.size(); ++i) {
      const int neither = 300 - a_only.at(i) - b_only.at(i);
      a.push_back(std::string(a_only.at(i), '1') + std::string(300 - a_only.at(i), '0'));
      b.push_back(std::string(a_only.at(i), '0') + std::string(b_only.at(i), '1') +
                  std::string(neither, '0'));
    }
    const auto lookup = [&](std::size_t run, const Measure&) -> std::optional<Json> {
      return curves(plan_.runs[run].name == "a" ? a : b);
    };
    return gather_claims(experiment_, {.plan = plan_, .lookup = lookup}).at(0);
  }
};

TEST_F(NoiseClaims, NeedASignificantDifferenceAtEveryStrength) {
  const ResultClaim sure = judged({30, 20}, {10, 5});
  EXPECT_EQ(sure.verdict, Verdict::confirmed);
  EXPECT_EQ(sure.numbers, "points, McNemar: +6.7 at 0.1 (p = 0.0022), +5.0 at 0.2 (p = 0.0041)");
  // Better at both strengths, but at the second by no more than chance.
  EXPECT_EQ(judged({30, 12}, {10, 10}).verdict, Verdict::undecided);
}

TEST_F(NoiseClaims, AreDeniedByOneStrengthThatIsWorse) {
  EXPECT_EQ(judged({30, 5}, {10, 20}).verdict, Verdict::denied);
  // p = 0.041 at one of two strengths is more than 0.05 / 2.
  EXPECT_EQ(judged({30, 5}, {10, 15}).verdict, Verdict::undecided);
}

TEST_F(Results, WithoutAnswersEverythingIsAskedAndNothingSaid) {
  std::vector<MeasureKind> kinds;
  const ExperimentResult result = gather(
      experiment_,
      {.plan = plan_, .lookup = [&](std::size_t, const Measure& measure) -> std::optional<Json> {
         kinds.push_back(measure.kind);
         return std::nullopt;
       }});
  for (const MeasureKind kind :
       {MeasureKind::answers, MeasureKind::energy, MeasureKind::exit, MeasureKind::activity}) {
    EXPECT_THAT(kinds, ::testing::Contains(kind));
  }
  for (const ResultClaim& claim : result.claims) EXPECT_EQ(claim.verdict, Verdict::unknown);
}

TEST_F(Results, AsMarkdownAndCsv) {
  const ExperimentResult result = gathered();
  const std::string text = markdown(result);
  EXPECT_THAT(text, HasSubstr("| A \\| B | 25 | 25 | 75.00 (68.57-80.49) | 90.5 |"));
  EXPECT_THAT(text, HasSubstr("early: not measured, since no exit step"));
  EXPECT_THAT(text, HasSubstr("| a fires more | denied |"));
  const std::string table = csv(result);
  EXPECT_THAT(table, HasSubstr("A | B,accuracy,75,,1,68.5"));
  EXPECT_THAT(table, HasSubstr("b fires more,claim,confirmed"));
}

TEST_F(Results, SeveralSeedsHaveAMeanAndADeviation) {
  const ResultCell cell{
      .values = {90.0, 91.0}, .interval = ConfidenceInterval{1.0, 2.0}, .paper = {}};
  EXPECT_EQ(cell_text(cell, Column::accuracy), "90.50 ± 0.71");
  EXPECT_EQ(cell_text({}, Column::accuracy), "–");
}

TEST_F(Results, ThePageHoldsNoScriptAndNoMarkupOfOthers) {
  const std::string page = result_page("mine", {gathered()}, {{}});
  EXPECT_THAT(page, HasSubstr("A &lt;table&gt;"));
  EXPECT_THAT(page, HasSubstr("75.00 (68.57-80.49)"));
  EXPECT_THAT(page, ::testing::Not(HasSubstr("<script")));
}

TEST(ResultStores, KeepResultsAsLongAsTheWeightsAreTheSame) {
  const TemporaryDirectory directory;
  const std::filesystem::path run = directory.path() / "run";
  std::filesystem::create_directory(run);
  const auto write_weights = [&](const std::string& text) {
    std::ofstream(run / "best.safetensors") << text;
  };
  write_weights("one");
  const ResultStore store(directory.path() / "analyses");
  const Measure measure{.kind = MeasureKind::noise, .strengths = {0.1}};
  EXPECT_EQ(store.find(run, measure), std::nullopt);
  store.keep(run, measure, {{"x", 1}});
  ASSERT_TRUE(store.find(run, measure));
  EXPECT_EQ(store.find(run, measure)->at("x"), 1);
  EXPECT_EQ(store.find(run, {.kind = MeasureKind::noise, .strengths = {0.2}}), std::nullopt);
  write_weights("two");
  EXPECT_EQ(store.find(run, measure), std::nullopt);
}

}  // namespace
}  // namespace bntt
