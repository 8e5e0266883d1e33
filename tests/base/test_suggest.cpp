#include <gtest/gtest.h>

#include "base/suggest.h"

namespace bntt {
namespace {

const std::vector<std::string> kKeys = {"learning_rate", "batch", "momentum", "epochs"};

TEST(Suggest, FindsTheMistypedWord) {
  EXPECT_EQ(nearest("lerning_rate", kKeys), "learning_rate");
  EXPECT_EQ(nearest("learning-rate", kKeys), "learning_rate");
  EXPECT_EQ(nearest("bacth", kKeys), "batch");
  EXPECT_EQ(nearest("Epoch", kKeys), "epochs");
  EXPECT_EQ(nearest("batch", kKeys), "batch");
}

TEST(Suggest, FindsTheBeginning) {
  EXPECT_EQ(nearest("batch_size_of_all", kKeys), "batch");
  EXPECT_EQ(nearest("learn", kKeys), "learning_rate");
}

TEST(Suggest, PrefersTheNearest) {
  EXPECT_EQ(nearest("vgg1", {"vgg5", "vgg9", "vgg11", "vgg16"}), "vgg5");
  EXPECT_EQ(nearest("vgg15", {"vgg5", "vgg9", "vgg11", "vgg16"}), "vgg5");
  EXPECT_EQ(nearest("vgg116", {"vgg9", "vgg16", "vgg111x"}), "vgg16");
}

TEST(Suggest, StaysSilentWhenNothingIsNear) {
  EXPECT_EQ(nearest("temperature", kKeys), "");
  EXPECT_EQ(nearest("", kKeys), "");
  EXPECT_EQ(nearest("x", {"y"}), "");
  EXPECT_EQ(nearest("batch", {}), "");
  EXPECT_EQ(nearest(std::string(1 << 20, 'a'), kKeys), "");
}

TEST(Suggest, RendersTheQuestion) {
  EXPECT_EQ(did_you_mean("bacth", kKeys), ", did you mean 'batch'?");
  EXPECT_EQ(did_you_mean("temperature", kKeys), "");
}

}  // namespace
}  // namespace bntt
