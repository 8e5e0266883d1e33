#include "data/dataset.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <system_error>

#include "base/fail.h"
#include "base/suggest.h"
#include "base/text.h"
#include "data/cifar10.h"
#include "data/mnist.h"

namespace bntt {
namespace fs = std::filesystem;
namespace {

struct DatasetEntry {
  std::string name;
  DatasetSplits (*open)(const fs::path& directory, const DatasetOptions& options);
  ChannelStatistics normalisation;
  std::string source;           ///< completes "expected one with ..."
  std::string usual_directory;  ///< empty: none
};

const std::vector<DatasetEntry>& datasets() {
  static const std::vector<DatasetEntry> entries = {
      // The deviations in use since the first PyTorch examples: of each image, then averaged; over
      // all pixels it would
      // be about 0.25. The authors' code has them, so results compare.
      {"cifar10",
       open_cifar10,
       {{0.4914F, 0.4822F, 0.4465F}, {0.2023F, 0.1994F, 0.2010F}},
       "the files of cifar-10-binary.tar.gz",
       ""},
      {"fashion-mnist",
       open_fashion_mnist,
       {{0.2860F}, {0.3530F}},
       "the files of the Debian package dataset-fashion-mnist",
       "/usr/share/datasets/fashion-mnist"},
      {"mnist", open_mnist, {{0.1307F}, {0.3081F}}, "the four IDX files of MNIST", ""},
  };
  return entries;
}

const DatasetEntry& find_entry(std::string_view name) {
  const auto entry = std::ranges::find(datasets(), name, &DatasetEntry::name);
  if (entry == datasets().end()) {
    const std::vector<std::string> known = dataset_names();
    fail("unknown data set '{}', expected one of {}{}", excerpt(name), fmt::join(known, ", "),
         did_you_mean(name, known));
  }
  return *entry;
}

void keep_first(ImageSet& set, int64_t limit) {
  if (limit == 0 || limit >= set.size()) return;
  set.labels.resize(static_cast<std::size_t>(limit));
  set.pixels.resize(static_cast<std::size_t>(limit * set.shape.size()));
  set.pixels.shrink_to_fit();
}

}  // namespace

std::vector<std::string> dataset_names() {
  std::vector<std::string> names;
  for (const DatasetEntry& entry : datasets()) names.emplace_back(entry.name);
  return names;
}

ChannelStatistics dataset_normalisation(std::string_view name) {
  return find_entry(name).normalisation;
}

DatasetSplits open_dataset(std::string_view name, const fs::path& directory,
                           const DatasetOptions& options) {
  const DatasetEntry& entry = find_entry(name);
  for (const int64_t limit : {options.limit_train, options.limit_test}) {
    if (limit < 0) fail("{}: the limit of images is {}, expected 0 (all) or more", name, limit);
  }
  const fs::path place = directory.empty() ? fs::path(entry.usual_directory) : directory;
  if (place.empty()) {
    fail("{}: no data directory was given, expected one with {}", name, entry.source);
  }
  std::error_code ignored;
  if (!fs::is_directory(place, ignored)) {
    fail("{}: {} is not a directory, expected one with {}", name, place.string(), entry.source);
  }
  DatasetSplits splits = entry.open(place, options);
  splits.normalisation = entry.normalisation;
  splits.train.first_id = 0;
  splits.test.first_id = kFirstTestId;
  keep_first(splits.train, options.limit_train);
  keep_first(splits.test, options.limit_test);
  return splits;
}

}  // namespace bntt
