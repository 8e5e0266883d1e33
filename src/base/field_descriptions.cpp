#include "base/field_descriptions.h"

#include <cmath>

namespace bntt {
namespace {

std::string plain(double value) {
  return std::abs(value) < 1e15 && value == std::floor(value)
             ? fmt::format("{}", static_cast<int64_t>(value))
             : shortest(value);
}

}  // namespace

std::string range_text(const Limits& limits) {
  const bool has_low = std::isfinite(limits.low);
  const bool has_high = std::isfinite(limits.high);
  if (has_low && has_high && !limits.low_excluded && !limits.high_excluded) {
    return plain(limits.low) + " to " + plain(limits.high);
  }
  std::string text;
  if (has_low) text += (limits.low_excluded ? "above " : "at least ") + plain(limits.low);
  if (has_low && has_high) text += ", ";
  if (has_high) text += (limits.high_excluded ? "below " : "at most ") + plain(limits.high);
  return text;
}

Json difference_from(const Json& value, const Json& usual) {
  Json difference = Json::object();
  for (const auto& [key, item] : value.items()) {
    if (!usual.contains(key) || usual[key] != item) difference[key] = item;
  }
  return difference.empty() ? Json() : difference;
}

}  // namespace bntt
