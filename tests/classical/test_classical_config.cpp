#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "classical/config.h"
#include "classical/methods.h"
#include "fixtures.h"

namespace bntt {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::refusal;

TEST(ClassicalConfig, EveryMethodRoundTrips) {
  for (const std::string& method : classical_method_names()) {
    ClassicalConfig config = classical_defaults(method, "dvs-cifar10");
    config.data.dir = "somewhere";
    const std::string text = to_toml(config);
    EXPECT_EQ(to_toml(classical_config_from_toml(text, "file")), text);
    EXPECT_THAT(text, HasSubstr("[" + method + "]"));
  }
}

TEST(ClassicalConfig, DefaultsAreThoseOfTheTables) {
  const HatsOptions nmnist = classical_defaults("hats", "nmnist").hats;
  EXPECT_EQ(nmnist.cell, 5);
  EXPECT_EQ(nmnist.radius, 2);
  EXPECT_EQ(nmnist.window_us, 100'000);
  EXPECT_EQ(nmnist.tau_us, 1e11);
  const HatsOptions dvs = classical_defaults("hats", "dvs-cifar10").hats;
  EXPECT_EQ(dvs.cell, 12);
  EXPECT_EQ(dvs.radius, 4);
  EXPECT_EQ(dvs.window_us, 10'000);
  EXPECT_EQ(dvs.tau_us, 2e5);
  const HatsOptions cars = classical_defaults("hats", "event-folder").hats;
  EXPECT_EQ(cars.cell, 10);
  EXPECT_EQ(cars.radius, 3);
  EXPECT_EQ(cars.tau_us, 1e9);
}

TEST(ClassicalConfig, SettingsAreThoseOfTheMethod) {
  ClassicalConfig config = classical_defaults("hats", "nmnist");
  apply_classical_setting(config, "hats.self=counted");
  apply_classical_setting(config, "hats.tau_us = 5e4");
  apply_classical_setting(config, "svm.costs=[1, 2]");
  apply_classical_setting(config, "seed=9");
  EXPECT_EQ(config.hats.self, HatsSelf::counted);
  EXPECT_EQ(config.hats.tau_us, 5e4);
  EXPECT_EQ(config.svm.costs.size(), 2U);
  EXPECT_EQ(config.seed, 9);
  const auto refused = [&](const char* setting) {
    return refusal([&] { apply_classical_setting(config, setting); });
  };
  EXPECT_THAT(refused("hots.filter=true"), HasSubstr("hots"));
  EXPECT_THAT(refused("hats.cel=3"), HasSubstr("did you mean 'hats.cell'"));
  EXPECT_THAT(refused("hats.divisor=cells"), HasSubstr("did you mean 'cell'"));
  EXPECT_THAT(refused("hats.cell=0"), HasSubstr("hats.cell"));
  EXPECT_THAT(refused("hats.cell"), HasSubstr("expected key=value"));
  EXPECT_THAT(refused("method=hots"), HasSubstr("method"));
  ClassicalConfig hfirst = classical_defaults("hfirst", "nmnist");
  EXPECT_THAT(refusal([&] { apply_classical_setting(hfirst, "svm.bias=false"); }),
              HasSubstr("svm"));
}

TEST(ClassicalConfig, NotesNameTheNumbersInDoubt) {
  EXPECT_EQ(published_score("hats", "nmnist")->accuracy, 99.1);
  EXPECT_EQ(published_score("hfirst", "dvs-cifar10")->accuracy, 7.7);
  EXPECT_FALSE(published_score("hats", "event-folder"));
  EXPECT_THAT(published_notes("hfirst").front(), HasSubstr("31.0"));
  EXPECT_THAT(refusal([] { classical_method("hat"); }), HasSubstr("did you mean 'hats'"));
}

}  // namespace
}  // namespace bntt
