#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fail.h"
#include "base/suggest.h"
#include "base/text.h"
#include "bntt/kind_info.h"

namespace bntt {

template <typename Entry>
std::vector<std::string> kind_names(std::span<const Entry> table) {
  std::vector<std::string> names;
  for (const Entry& entry : table) names.emplace_back(entry.name);
  return names;
}

template <typename Entry>
std::vector<KindInfo> kinds_of(std::span<const Entry> table) {
  std::vector<KindInfo> kinds;
  for (const Entry& entry : table) kinds.push_back({entry.name, entry.meaning});
  return kinds;
}

/// The entry with this name. Throws an Error that lists the known names if there is none.
template <typename Entry>
const Entry& find_kind(std::string_view what, std::string_view name, std::span<const Entry> table) {
  for (const Entry& entry : table) {
    if (name == entry.name) return entry;
  }
  const std::vector<std::string> names = kind_names(table);
  fail("unknown {} '{}', expected one of {}{}", what, excerpt(name), fmt::join(names, ", "),
       did_you_mean(name, names));
}

}  // namespace bntt
