#include "fetch/check.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <system_error>

#include "base/fail.h"
#include "base/suggest.h"
#include "base/text.h"
#include "data/dataset.h"
#include "fetch/check_formats.h"

namespace bntt {
namespace fs = std::filesystem;
namespace {

struct CheckEntry {
  std::string_view dataset;
  void (*check)(const fs::path& directory, Checker& checker);
};

constexpr std::array kChecks = {
    CheckEntry{"cifar10", check_cifar10},
    CheckEntry{"cifar100", check_cifar100},
    CheckEntry{"dvs-cifar10", check_dvs_cifar10},
    CheckEntry{"dvs-gesture", check_dvs_gesture},
    CheckEntry{"event-folder", check_event_folder},
    CheckEntry{"fashion-mnist", check_fashion_mnist},
    CheckEntry{"folder", check_folder},
    CheckEntry{"mnist", check_mnist},
    CheckEntry{"nmnist", check_nmnist},
    CheckEntry{"tiny-imagenet", check_tiny_imagenet},
};

}  // namespace

CheckReport check_dataset(std::string_view dataset, const fs::path& directory,
                          const CheckOptions& options) {
  const auto* entry = std::ranges::find(kChecks, dataset, &CheckEntry::dataset);
  if (entry == kChecks.end()) {
    std::vector<std::string> known;
    for (const CheckEntry& check : kChecks) known.emplace_back(check.dataset);
    fail("unknown data set '{}', expected one of {}{}", excerpt(dataset), fmt::join(known, ", "),
         did_you_mean(dataset, known));
  }
  std::error_code ignored;
  if (!fs::is_directory(directory, ignored)) {
    fail("{}: {} is not a directory", dataset, directory.string());
  }
  check_sensor(dataset_info(dataset), options.sensor);
  CheckReport report{.dataset = std::string(dataset)};
  Checker checker(report, options);
  entry->check(directory, checker);
  std::ranges::stable_sort(report.findings, {}, &Finding::file);
  return report;
}

}  // namespace bntt
