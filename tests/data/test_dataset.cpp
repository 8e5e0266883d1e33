#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures.h"

namespace bntt {
namespace {

using ::testing::ElementsAre;
using testing::refusal;
using testing::TemporaryDirectory;

TEST(Dataset, RefusesAnUnknownNameWithTheNearest) {
  EXPECT_THAT(dataset_names(), ElementsAre("cifar10", "cifar100", "fashion-mnist", "mnist"));
  EXPECT_EQ(refusal([] { open_dataset("cifar100", "."); }),
            "unknown data set 'cifar100', expected one of cifar10, fashion-mnist, mnist, did you "
            "mean 'cifar10'?");
  EXPECT_EQ(refusal([] { open_dataset("fashon-mnist", "."); }),
            "unknown data set 'fashon-mnist', expected one of cifar10, fashion-mnist, mnist, did "
            "you mean 'fashion-mnist'?");
  EXPECT_EQ(refusal([] { open_dataset("tiny-imagenet", "."); }),
            "unknown data set 'tiny-imagenet', expected one of cifar10, fashion-mnist, mnist");
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
