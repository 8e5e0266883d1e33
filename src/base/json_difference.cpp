#include "base/json_difference.h"

#include <fmt/format.h>

#include "base/text.h"

namespace bntt {
namespace {

std::string difference_at(const std::string& path, const Json& found, const Json& expected) {
  if (found == expected) return "";
  const auto below = [&](const std::string& key) { return path.empty() ? key : path + "." + key; };
  if (found.is_object() && expected.is_object()) {
    for (const auto& [key, value] : expected.items()) {
      if (!found.contains(key)) return below(key) + " is missing";
      std::string inner = difference_at(below(key), found.at(key), value);
      if (!inner.empty()) return inner;
    }
    for (const auto& [key, value] : found.items()) {
      if (!expected.contains(key)) return below(key) + " is there, expected none";
    }
  }
  if (found.is_array() && expected.is_array()) {
    if (found.size() != expected.size()) {
      return fmt::format("{} has {} entries, expected {}", path, found.size(), expected.size());
    }
    for (std::size_t i = 0; i < found.size(); ++i) {
      std::string inner = difference_at(fmt::format("{}[{}]", path, i), found[i], expected[i]);
      if (!inner.empty()) return inner;
    }
  }
  return fmt::format("{} is {}, expected {}", path, excerpt(found.dump()),
                     excerpt(expected.dump()));
}

}  // namespace

std::string first_difference(const Json& found, const Json& expected) {
  return difference_at("", found, expected);
}

}  // namespace bntt
