#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "experiment/plan.h"
#include "experiment/work.h"
#include "fixtures.h"
#include "message.h"

namespace bntt {
namespace {

using ::testing::HasSubstr;
using testing::message_of;
using testing::TemporaryDirectory;

Experiment made(const std::string& runs) {
  return experiment_from_toml(runs + "[[claim]]\ntext = \"t\"\nhigher = \"a\"\nlower = \"b\"\n",
                              "mine.toml");
}

class Plans : public ::testing::Test {
 protected:
  Plans() {
    for (const char* name :
         {"cifar10", "cifar100", "tiny-imagenet", "dvs-cifar10", "nmnist", "fashion-mnist"}) {
      std::filesystem::create_directory(data_.path() / name);
    }
  }
  PlanOptions options(Scale scale = Scale::full, int64_t seeds = 1) const {
    return {.scale = scale, .seeds = seeds, .data = data_.path().string()};
  }

  TemporaryDirectory data_;
};

TEST_F(Plans, EveryBuiltInRunHasValidSettingsAtEveryScale) {
  std::vector<Experiment> all;
  for (const std::string& name : experiment_names()) all.push_back(built_in_experiment(name));
  for (const Scale scale : {Scale::full, Scale::small, Scale::tiny}) {
    const Plan plan = plan_runs(all, options(scale));
    std::set<std::string> places;
    for (const PlannedRun& run : plan.runs) {
      EXPECT_EQ(run.problem, "") << run.name;
      EXPECT_TRUE(places.insert(run.place).second) << run.place;
      EXPECT_GT(making_work(run), 0.0) << run.name;  // its network can be planned
    }
  }
}

TEST_F(Plans, SharesRunsBetweenExperiments) {
  const std::vector<Experiment> both = {built_in_experiment("fig3"), built_in_experiment("fig5")};
  const Plan plan = plan_runs(both, options());
  EXPECT_EQ(plan.runs.size(), 1U);
  EXPECT_EQ(plan.runs_of(both[0], "bntt"), plan.runs_of(both[1], "bntt"));
  // Nobody needs weights for a picture of its input.
  EXPECT_TRUE(plan.runs.front().trained);
  EXPECT_FALSE(plan_runs({built_in_experiment("appendix-b")}, options()).runs.front().trained);
}

TEST_F(Plans, EqualSettingsAreOneRunWhateverItsName) {
  const Plan plan = plan_runs({made("[[run]]\nname = \"a\"\npreset = \"paper-cifar10\"\n"
                                    "set = [\"model.steps=9\"]\n"
                                    "[[run]]\nname = \"b\"\nlike = \"a\"\n"
                                    "small = [\"model.steps=10\"]\n")},
                              options());
  ASSERT_EQ(plan.runs.size(), 1U);
  EXPECT_EQ(plan.runs.front().config.model.steps, 9);
  EXPECT_THAT(plan.runs.front().place, ::testing::MatchesRegex("a-1-[0-9a-f]{8}"));
}

TEST_F(Plans, ChangesOfAScaleComeAfterThoseOfAllScales) {
  const Experiment experiment = made(
      "[[run]]\nname = \"a\"\npreset = \"paper-cifar10\"\n"
      "set = [\"model.steps=9\"]\nsmall = [\"model.steps=8\"]\n"
      "[[run]]\nname = \"b\"\nlike = \"a\"\n"
      "set = [\"model.norm=layer\"]\n");
  EXPECT_EQ(settings_of_run(experiment, "b", Scale::full).model.steps, 9);
  EXPECT_EQ(settings_of_run(experiment, "b", Scale::small).model.steps, 8);
  EXPECT_EQ(settings_of_run(experiment, "b", Scale::small).model.norm, "layer");
}

TEST_F(Plans, SeedsMakeRunsOfTheirOwn) {
  const Experiment experiment = built_in_experiment("fig3");
  const Plan plan = plan_runs({experiment}, options(Scale::full, 3));
  ASSERT_EQ(plan.runs.size(), 3U);
  EXPECT_EQ(plan.runs[2].config.train.seed, plan.runs[0].config.train.seed + 2);
  EXPECT_EQ(plan.runs_of(experiment, "bntt").size(), 3U);
}

TEST_F(Plans, ARunThatStartsFromAnotherComesAfterIt) {
  const Plan plan = plan_runs({made("[[run]]\nname = \"a\"\npreset = \"paper-cifar10\"\n"
                                    "from = \"b\"\n"
                                    "[[run]]\nname = \"b\"\npreset = \"authors-cifar10\"\n")},
                              options());
  ASSERT_EQ(plan.runs.size(), 2U);
  EXPECT_EQ(plan.runs[0].name, "b");
  EXPECT_EQ(plan.runs[1].from, 0U);
  EXPECT_TRUE(plan.runs[0].trained);
}

TEST_F(Plans, AConversionHasItsOwnSettingsAndTheData) {
  const std::string ann = "[[run]]\nname = \"b\"\npreset = \"ann-cifar10\"\n";
  const auto converted = [&](const std::string& changes) {
    return plan_runs({made(ann +
                           "[[run]]\nname = \"a\"\nkind = \"convert\"\nfrom = \"b\"\n"
                           "method = \"rmp\"\n" +
                           changes)},
                     options());
  };
  const Plan plan = converted("set = [\"steps=30\", \"sweep=[1.0, 0.5]\"]\n");
  ASSERT_EQ(plan.runs.size(), 2U);
  EXPECT_EQ(plan.runs[0].name, "b");
  ASSERT_TRUE(plan.runs[1].conversion);
  EXPECT_EQ(plan.runs[1].conversion->method, "rmp");
  EXPECT_EQ(plan.runs[1].conversion->steps, 30);
  EXPECT_EQ(plan.runs[1].conversion->sweep, (std::vector<double>{1.0, 0.5}));
  EXPECT_EQ(plan.runs[1].config.data.dir, plan.runs[0].config.data.dir);
  EXPECT_NE(plan.runs[1].key, converted("set = [\"steps=31\"]\n").runs[1].key);
  EXPECT_THAT(message_of([&] { converted("set = [\"stepz=3\"]\n"); }),
              HasSubstr("run 'a': unknown key 'stepz'"));
}

TEST_F(Plans, AClassicalRunSeesTheRecordingsOfTheRunItIsLike) {
  const Plan plan = plan_runs({made("[[run]]\nname = \"a\"\npreset = \"nmnist\"\n"
                                    "set = [\"data.limit_train=50\"]\n"
                                    "[[run]]\nname = \"b\"\nkind = \"classical\"\nlike = \"a\"\n"
                                    "method = \"hats\"\n")},
                              options());
  ASSERT_EQ(plan.runs.size(), 2U);
  ASSERT_TRUE(plan.runs[1].classical);
  EXPECT_EQ(plan.runs[1].classical->method, "hats");
  EXPECT_EQ(plan.runs[1].classical->data.name, "nmnist");
  EXPECT_EQ(plan.runs[1].classical->data.limit_train, 50);
}

TEST_F(Plans, TheCitedMethodsOnOtherDataSetsAreOtherRunsExceptAtScaleTiny) {
  const Experiment table = built_in_experiment("table1");
  const auto run = [&](const Plan& plan, const std::string& name) {
    return plan.runs_of(table, name).front();
  };
  const Plan full = plan_runs({table}, options());
  EXPECT_NE(run(full, "hybrid"), run(full, "hybrid-cifar100"));
  EXPECT_EQ(full.runs[run(full, "hybrid-cifar100")].config.model.steps, 125);
  EXPECT_EQ(full.runs[run(full, "sengupta-cifar100")].config.data.name, "cifar100");
  EXPECT_EQ(full.runs[run(full, "surrogate-tiny-imagenet")].config.data.name, "tiny-imagenet");
  const Plan tiny = plan_runs({table}, options(Scale::tiny));
  for (const std::string method : {"sengupta", "hybrid", "han", "surrogate"}) {
    EXPECT_EQ(run(tiny, method), run(tiny, method + "-cifar100")) << method;
  }
}

TEST_F(Plans, KnowWhichKindOfWorkARunIs) {
  const auto table = built_in_experiment("table1");
  const Plan plan = plan_runs({table, built_in_experiment("table2")}, options(Scale::tiny));
  const auto kind = [&](const std::string& name) {
    return work_kind(*std::ranges::find(plan.runs, name, &PlannedRun::name));
  };
  EXPECT_EQ(kind("bntt"), WorkKind::spiking);
  EXPECT_EQ(kind("ann-sengupta"), WorkKind::ann);
  EXPECT_EQ(kind("sengupta"), WorkKind::conversion);
  EXPECT_EQ(kind("hats"), WorkKind::classical);
}

TEST_F(Plans, CirclesAndWrongSettingsAreRefused) {
  const auto refusal = [&](const std::string& runs) {
    return message_of([&] { plan_runs({made(runs)}, options()); });
  };
  EXPECT_THAT(refusal("[[run]]\nname = \"a\"\nlike = \"b\"\n[[run]]\nname = \"b\"\nlike = \"a\"\n"),
              HasSubstr("refers to itself through `like`"));
  EXPECT_THAT(refusal("[[run]]\nname = \"a\"\npreset = \"nmnist\"\nfrom = \"a\"\n"
                      "[[run]]\nname = \"b\"\npreset = \"nmnist\"\n"),
              HasSubstr("refers to itself through `from`"));
  EXPECT_THAT(refusal("[[run]]\nname = \"a\"\npreset = \"nmnist\"\nset = [\"model.stepz=3\"]\n"
                      "[[run]]\nname = \"b\"\npreset = \"nmnist\"\n"),
              HasSubstr("run 'a': unknown key 'model.stepz'"));
}

TEST_F(Plans, DataAreFoundByNameOrAsTheOnlyOnes) {
  EXPECT_EQ(data_directory("nmnist", data_.path().string()), data_.path() / "nmnist");
  std::filesystem::remove(data_.path() / "nmnist");
  EXPECT_EQ(data_directory("nmnist", data_.path().string()), std::nullopt);
  EXPECT_EQ(data_directory("nmnist", ""), std::nullopt);
  const TemporaryDirectory alone;
  EXPECT_EQ(data_directory("nmnist", alone.path().string()), alone.path());
  const Plan plan = plan_runs({built_in_experiment("table2")}, options(Scale::tiny));
  EXPECT_EQ(plan.runs.front().problem, "the data set nmnist was not found");
}

}  // namespace
}  // namespace bntt
