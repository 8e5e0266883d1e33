#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bntt/error.h"
#include "experiment/experiment_file.h"
#include "message.h"

namespace bntt {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::message_of;

std::string refusal(const std::string& text) {
  return message_of([&] { experiment_from_toml(text, "mine.toml"); });
}

constexpr const char* kRow = "columns = [\"accuracy\"]\n[[row]]\nlabel = \"a\"\nrun = \"bntt\"\n";

TEST(ExperimentFile, EveryTableAndFigureOfThePaperIsThere) {
  EXPECT_THAT(experiment_names(),
              ::testing::UnorderedElementsAre("table1", "table2", "table3", "fig1", "fig3", "fig4",
                                              "fig5", "fig6", "appendix-b", "appendix-e",
                                              "appendix-f", "appendix-g"));
  for (const std::string& name : experiment_names()) {
    const Experiment experiment = built_in_experiment(name);
    EXPECT_EQ(experiment.name, name);
    EXPECT_NE(experiment.title, "");
    EXPECT_FALSE(experiment.used_runs().empty()) << name;
  }
}

// Steps and accuracy as in the paper, data set by data set; 0 where it has "n/a" or nothing.
TEST(ExperimentFile, Table1HasEveryRowOfThePaper) {
  const std::vector<std::pair<std::string, std::vector<std::pair<double, double>>>> paper = {
      {"CIFAR-10,",
       {{400, 77.4},
        {2500, 91.5},
        {100, 90.4},
        {200, 92.0},
        {2048, 93.6},
        {100, 88.7},
        {0, 0},  // no norm at BNTT's steps, and standard BN: ours
        {0, 0},
        {25, 90.5},
        {20, 90.3}}},
      {"CIFAR-100,", {{2500, 70.9}, {125, 67.8}, {2048, 70.9}, {0, 0}, {50, 66.6}, {30, 65.8}}},
      {"Tiny-ImageNet,", {{2500, 54.2}, {0, 0}, {30, 57.8}, {25, 56.8}}}};
  const Experiment table = built_in_experiment("table1");
  std::size_t next = 0;
  for (const auto& [dataset, numbers] : paper) {
    for (const auto& [steps, accuracy] : numbers) {
      ASSERT_LT(next, table.rows.size());
      const RowEntry& row = table.rows[next++];
      EXPECT_THAT(row.label, ::testing::StartsWith(dataset));
      EXPECT_EQ(row.paper.steps.value_or(0), steps) << row.label;
      EXPECT_EQ(row.paper.accuracy.value_or(0), accuracy) << row.label;
    }
  }
  EXPECT_EQ(next, table.rows.size());
}

TEST(ExperimentFile, ItsOwnRunsComeBeforeTheSharedOnes) {
  const Experiment experiment = experiment_from_toml(
      "[scale.tiny]\nimages = 7\n"
      "[[run]]\nname = \"bntt\"\npreset = \"nmnist\"\n"
      "[[claim]]\ntext = \"x\"\nhigher = \"bntt\"\nlower = \"layer-norm\"\n",
      "mine.toml");
  EXPECT_EQ(experiment.run("bntt").preset, "nmnist");
  EXPECT_EQ(experiment.run("layer-norm").like, "bntt");
  EXPECT_THAT(experiment.used_runs(), ElementsAre("bntt", "layer-norm"));
  EXPECT_EQ(experiment.scale.tiny.images, 7);
  EXPECT_EQ(experiment.scale.small.images, built_in_experiment("table1").scale.small.images);
}

TEST(ExperimentFile, ARunWhoseInputAloneIsShownNeedsNoWeights) {
  const Experiment pictures = built_in_experiment("appendix-b");
  EXPECT_FALSE(pictures.needs_weights("bntt"));
  EXPECT_TRUE(built_in_experiment("fig3").needs_weights("bntt"));
}

TEST(ExperimentFile, WhatCannotBeMeantIsRefusedInOneSentence) {
  EXPECT_THAT(refusal("title = \"nothing\"\n"),
              HasSubstr("mine.toml: describes nothing to measure"));
  EXPECT_THAT(refusal("titel = \"a\"\n"), HasSubstr("did you mean 'title'"));
  EXPECT_THAT(refusal("columns = [\"accuracy\"]\n[[row]]\nlabel = \"a\"\nrun = \"bnt\"\n"),
              HasSubstr("names the run 'bnt', which is not described, did you mean 'bntt'"));
  EXPECT_THAT(refusal("columns = [\"speed\"]\n"), HasSubstr("columns[0]"));
  EXPECT_THAT(refusal("[[row]]\nlabel = \"a\"\nrun = \"bntt\"\n"),
              HasSubstr("rows but no columns"));
  EXPECT_THAT(refusal(std::string(kRow) + "[[run]]\nname = \"x\"\n"),
              HasSubstr("names 0 of like, preset and config"));
  EXPECT_THAT(refusal(std::string(kRow) + "[[run]]\nname = \"x\"\nlike = \"bntt\"\npreset = "
                                          "\"nmnist\"\n"),
              HasSubstr("names 2 of like, preset and config"));
  EXPECT_THAT(refusal(std::string(kRow) + "[[run]]\nname = \"x\"\nkind = \"convert\"\nmethod = "
                                          "\"rmp\"\n"),
              HasSubstr("is converted, expected `from`"));
  EXPECT_THAT(refusal(std::string(kRow) + "[[run]]\nname = \"x\"\nkind = \"classical\"\nlike = "
                                          "\"bntt\"\n"),
              HasSubstr("names no method"));
  EXPECT_THAT(refusal("[[figure]]\nkind = \"noise\"\nruns = [\"bntt\"]\n"),
              HasSubstr("has 0 strengths, expected at least one"));
  EXPECT_THAT(refusal("[[claim]]\ntext = \"t\"\nhigher = \"bntt\"\n"),
              HasSubstr("needs a run `lower`"));
  EXPECT_THAT(message_of([] { built_in_experiment("tabel1"); }),
              HasSubstr("did you mean 'table1'"));
}

}  // namespace
}  // namespace bntt
