#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "fixtures.h"

namespace bntt {
namespace {

using testing::refusal;
using testing::TemporaryDirectory;

TEST(Dataset, RefusesAnUnknownNameWithTheNearest) {
  const std::vector<std::string> names = dataset_names();
  EXPECT_THAT(names, ::testing::IsSupersetOf({"cifar10", "fashion-mnist", "nmnist"}));
  EXPECT_TRUE(std::ranges::is_sorted(names));
  EXPECT_EQ(refusal([] { open_dataset("fashon-mnist", "."); }),
            fmt::format("unknown data set 'fashon-mnist', expected one of {}, did you mean "
                        "'fashion-mnist'?",
                        fmt::join(names, ", ")));
  EXPECT_THAT(refusal([] { open_dataset("imagenet-21k", "."); }),
              ::testing::EndsWith(fmt::format("{}", fmt::join(names, ", "))));
}

TEST(Dataset, RefusesOptionsThatItDoesNotHave) {
  EXPECT_EQ(refusal([] { open_dataset("cifar10", ".", {.labels = Labels::coarse}); }),
            "cifar10: has no coarse labels, only one set of labels");
  EXPECT_EQ(refusal([] { open_dataset("cifar10", ".", {.size = 48}); }),
            "cifar10: a size of 48 was given, but its images are 32x32");
  EXPECT_EQ(refusal([] { open_dataset("mnist", ".", {.events = {.clip = true}}); }),
            "mnist: settings of event frames were given, but it holds images");
  EXPECT_EQ(refusal([] { open_dataset("tiny-imagenet", ".", {.fit = Fit::squeeze}); }),
            "tiny-imagenet: data.fit was given, but all its images have the same size");
  EXPECT_EQ(refusal([] { open_dataset("nmnist", ".", {.events = {.frames = 0}}); }),
            "nmnist: 0 frames were given, expected 1 to 65536");
  EXPECT_EQ(refusal([] { dataset_normalisation("nmnist"); }),
            "the data set nmnist has no mean and deviation of its own");
}

TEST(Dataset, StatisticsAreKnownWithoutTheFiles) {
  EXPECT_EQ(dataset_normalisation("cifar10"),
            (ChannelStatistics{{0.4914F, 0.4822F, 0.4465F}, {0.2023F, 0.1994F, 0.2010F}}));
  EXPECT_EQ(dataset_normalisation("mnist"), (ChannelStatistics{{0.1307F}, {0.3081F}}));
  EXPECT_THROW(dataset_normalisation("cifar11"), Error);
}

TEST(Dataset, RefusesAMissingDirectory) {
  EXPECT_EQ(refusal([] { open_dataset("cifar10", {}); }),
            "cifar10: no data directory was given, expected one with the files of "
            "cifar-10-binary.tar.gz");
  const TemporaryDirectory directory;
  const std::string missing = (directory.path() / "missing").string();
  EXPECT_EQ(refusal([&] { open_dataset("fashion-mnist", missing); }),
            "fashion-mnist: " + missing +
                " is not a directory, expected one with the files of the Debian package "
                "dataset-fashion-mnist");
}

}  // namespace
}  // namespace bntt
