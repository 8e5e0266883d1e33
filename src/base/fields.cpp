#include "base/fields.h"

namespace bntt {
namespace {

// 25 instead of 25.0: limits are written the way people write them.
std::string plain(double value) {
  const std::string text = shortest(value);
  return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
}

}  // namespace

std::string describe(const Limits& limits) {
  const bool has_low = std::isfinite(limits.low);
  const bool has_high = std::isfinite(limits.high);
  std::string text;
  if (has_low) text += (limits.low_excluded ? " above " : " of at least ") + plain(limits.low);
  if (has_low && has_high) text += " and";
  const char* at_most = has_low ? " at most " : " of at most ";
  if (has_high) text += (limits.high_excluded ? " below " : at_most) + plain(limits.high);
  return text;
}

std::string describe(const Json& value) {
  switch (value.type()) {
    case Json::value_t::string:
      return "the string \"" + excerpt(value.get_ref<const std::string&>()) + "\"";
    case Json::value_t::number_float:
      return shortest(value.get<double>());
    case Json::value_t::array:
      return "a list";
    case Json::value_t::object:
      return "a table";
    default:
      return value.dump();
  }
}

namespace fields {

void refuse(const Place& place, const Json& value, const std::string& expected) {
  if (place.path.empty()) {
    fail("{}: holds {}, expected {}", place.origin, describe(value), expected);
  }
  fail("{}: {} is {}, expected {}", place.origin, place.path, describe(value), expected);
}

void refuse_key(const Place& table, const std::string& key, const std::vector<std::string>& known) {
  const std::string best = nearest(key, known);
  const std::string prefix = table.path + table.separator();
  fail("{}: unknown key '{}{}'{}", table.origin, prefix, excerpt(key),
       best.empty() ? "" : fmt::format(", did you mean '{}{}'?", prefix, best));
}

std::size_t index_of_name(const Json& value, const std::vector<std::string>& names,
                          const Place& place, const std::string& otherwise) {
  const std::string expected = fmt::format("one of {}{}", fmt::join(names, ", "), otherwise);
  if (!value.is_string()) refuse(place, value, expected);
  const auto& name = value.get_ref<const std::string&>();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) refuse(place, value, expected + did_you_mean(name, names));
  return static_cast<std::size_t>(found - names.begin());
}

int64_t whole_number(const Json& value, const Limits& limits, const Place& place) {
  const std::string expected = "a whole number" + describe(limits);
  if (!value.is_number_integer()) refuse(place, value, expected);
  const bool too_large = value.is_number_unsigned() &&
                         value.get<uint64_t>() > uint64_t{std::numeric_limits<int64_t>::max()};
  if (too_large) refuse(place, value, expected + " and below 2^63");
  const auto number = value.get<int64_t>();
  if (!limits.hold(static_cast<double>(number))) refuse(place, value, expected);
  return number;
}

double real_number(const Json& value, const Place& place) {
  if (!value.is_number()) refuse(place, value, "a number");
  return value.get<double>();
}

}  // namespace fields
}  // namespace bntt
