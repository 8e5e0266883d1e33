#include "data/class_names.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "base/fail.h"
#include "base/text.h"

namespace bntt {
namespace {

using ClassLabels = std::map<std::string_view, int64_t>;

ClassLabels labels_of(std::span<const std::string> names, const std::string& owner) {
  ClassLabels labels;
  for (const std::string& name : names) {
    const auto label = static_cast<int64_t>(labels.size());
    if (!labels.emplace(name, label).second) {
      fail("{} has the class '{}' twice", owner, excerpt(name));
    }
  }
  return labels;
}

/// "; WHERE: 'a', 'b' and 3 more" for the names that `others` lacks.
std::string only_in(std::span<const std::string> names, std::span<const std::string> others,
                    const char* where) {
  constexpr int kNamed = 5;
  const std::set<std::string_view> known(others.begin(), others.end());
  std::string text;
  int only = 0;
  for (const std::string& name : names) {
    if (known.contains(name) || ++only > kNamed) continue;
    text += fmt::format("{} '{}'", only == 1 ? "" : ",", excerpt(name));
  }
  if (only == 0) return "";
  if (only > kNamed) text += fmt::format(" and {} more", only - kNamed);
  return fmt::format("; {}:{}", where, text);
}

}  // namespace

void match_classes(ImageSet& set, std::span<const std::string> names, const std::string& origin) {
  if (names.empty()) return;
  const auto classes = static_cast<int64_t>(names.size());
  if (set.class_names.empty()) {
    if (set.classes == classes) return;
    fail("{}: the data have {} classes, but the run has {}", origin, set.classes, classes);
  }
  const ClassLabels run = labels_of(names, origin + ": the run");
  const ClassLabels data = labels_of(set.class_names, origin + ": the data set");
  for (const std::string& name : names) {
    if (!data.contains(name)) {
      fail("{}: the class '{}' of the run is missing from the data", origin, excerpt(name));
    }
  }
  std::vector<int64_t> label_in_run;
  for (const std::string& name : set.class_names) {
    const auto found = run.find(name);
    if (found == run.end()) {
      fail("{}: the data have the class '{}', which the run does not know", origin, excerpt(name));
    }
    label_in_run.push_back(found->second);
  }
  for (int64_t& label : set.labels) label = label_in_run[static_cast<std::size_t>(label)];
  set.class_names.assign(names.begin(), names.end());
}

std::string class_difference(std::span<const std::string> of_run,
                             std::span<const std::string> of_data) {
  if (of_run.empty() || of_data.empty()) return "";
  return only_in(of_data, of_run, "not in the run") + only_in(of_run, of_data, "not in the data");
}

void match_classes(DatasetSplits& splits, std::span<const std::string> names,
                   const std::string& origin) {
  match_classes(splits.train, names, origin);
  match_classes(splits.test, names, origin);
}

}  // namespace bntt
