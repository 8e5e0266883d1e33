#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/fail.h"
#include "base/json.h"
#include "base/suggest.h"
#include "base/text.h"

/// Converts structs to and from JSON (and through it TOML), with one description per struct:
///
///   template <class Visitor>
///   void visit_fields(Visitor& visit, SgdSpec& sgd) {
///     visit("batch", sgd.batch, at_least(1));
///     visit("surrogate", sgd.surrogate);
///     visit.optional("width", sgd.width, 0.0F);  // written only if it is not 0
///   }
///
/// A field is a bool, a number, a string, an enum with names, a described struct, a vector or an
/// optional of these, a name or a list (a variant of an enum and a vector), or a variant of
/// described structs, which are distinguished by the key "type". Names come from functions beside
/// the type:
///
///   constexpr auto enum_names(Reset) { return std::array{std::pair{Reset::soft, "soft"}, ...}; }
///   constexpr auto variant_names(const StageSpec&) { return std::array{"conv3x3", ...}; }
namespace bntt {

/// The numbers that a field may hold.
struct Limits {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_excluded = false;
  bool high_excluded = false;

  bool hold(double value) const {
    return (low_excluded ? value > low : value >= low) &&
           (high_excluded ? value < high : value <= high);
  }
};

inline Limits at_least(double low) { return {.low = low}; }
inline Limits up_to(double high) { return {.high = high}; }
inline Limits above(double low) { return {.low = low, .low_excluded = true}; }
inline Limits between(double low, double high) { return {.low = low, .high = high}; }
inline Limits above_up_to(double low, double high) {
  return {.low = low, .high = high, .low_excluded = true};
}
inline Limits from_below(double low, double high) {
  return {.low = low, .high = high, .high_excluded = true};
}
inline Limits inside(double low, double high) {
  return {.low = low, .high = high, .low_excluded = true, .high_excluded = true};
}

/// " of at least 1", " above 0 and at most 1"; empty without limits.
std::string describe(const Limits& limits);
/// How messages describe a value: the string "many", 2.5, a table.
std::string describe(const Json& value);

template <typename T>
concept NamedEnum = std::is_enum_v<T> && requires(T value) {
  enum_names(value);
};

template <NamedEnum Enum>
std::vector<std::string> names_of() {
  std::vector<std::string> names;
  for (const auto& [value, name] : enum_names(Enum{})) names.emplace_back(name);
  return names;
}

/// Throws Error for a number that is not a value of the enum.
template <NamedEnum Enum>
std::string name_of(Enum wanted) {
  for (const auto& [value, name] : enum_names(wanted)) {
    if (value == wanted) return name;
  }
  fail("the number {} is not a value of its enum, expected one of {}", static_cast<int>(wanted),
       fmt::join(names_of<Enum>(), ", "));
}

namespace fields {

template <typename T>
inline constexpr bool is_vector = false;
template <typename T>
inline constexpr bool is_vector<std::vector<T>> = true;
template <typename T>
inline constexpr bool is_optional = false;
template <typename T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <typename T>
inline constexpr bool is_variant = false;
template <typename... T>
inline constexpr bool is_variant<std::variant<T...>> = true;

template <typename T>
inline constexpr bool is_name_or_list = false;
template <NamedEnum Name, typename Item>
inline constexpr bool is_name_or_list<std::variant<Name, std::vector<Item>>> = true;

/// The place of a value: the file, and the dotted path in it.
struct Place {
  const std::string& origin;
  std::string path;

  Place below(std::string_view key) const {
    return {origin, path.empty() ? std::string(key) : path + "." + std::string(key)};
  }
  Place element(std::size_t index) const { return {origin, fmt::format("{}[{}]", path, index)}; }
  const char* separator() const { return path.empty() ? "" : "."; }
};

[[noreturn]] void refuse(const Place& place, const Json& value, const std::string& expected);
[[noreturn]] void refuse_key(const Place& table, const std::string& key,
                             const std::vector<std::string>& known);
/// The index of a name in a list; otherwise throws with the list and the nearest name. `otherwise`
/// adds what else is allowed there.
std::size_t index_of_name(const Json& value, const std::vector<std::string>& names,
                          const Place& place, const std::string& otherwise = "");
int64_t whole_number(const Json& value, const Limits& limits, const Place& place);
double real_number(const Json& value, const Place& place);

template <typename T>
void read(const Json& json, T& value, const Limits& limits, const Place& place);
template <typename T>
Json write(const T& value);

class Reader {
 public:
  Reader(const Json& object, Place place) : object_(object), place_(std::move(place)) {
    if (!object.is_object()) refuse(place_, object, "a table");
  }

  template <typename T>
  void operator()(std::string_view key, T& value, const Limits& limits = {}) {
    known_.emplace_back(key);
    const auto found = object_.find(std::string(key));
    if (found != object_.end()) read(*found, value, limits, place_.below(key));
  }

  /// A field that files omit if it has its default value.
  template <typename T>
  void optional(std::string_view key, T& value, const std::type_identity_t<T>& /*usual*/,
                const Limits& limits = {}) {
    (*this)(key, value, limits);
  }

  /// A string that must be one of `names`.
  void name(std::string_view key, std::string& value, const std::vector<std::string>& names) {
    known_.emplace_back(key);
    const auto found = object_.find(std::string(key));
    if (found != object_.end()) value = names[index_of_name(*found, names, place_.below(key))];
  }

  void allow(std::string_view key) { known_.emplace_back(key); }

  /// To be called after the visit: every key must have been read.
  void refuse_unknown_keys() const {
    for (const auto& [key, value] : object_.items()) {
      if (std::find(known_.begin(), known_.end(), key) == known_.end()) {
        refuse_key(place_, key, known_);
      }
    }
  }

 private:
  const Json& object_;
  Place place_;
  std::vector<std::string> known_;
};

class Writer {
 public:
  template <typename T>
  void operator()(std::string_view key, const T& value, const Limits& = {}) {
    Json written = write(value);
    if (!written.is_null()) object_[std::string(key)] = std::move(written);
  }
  template <typename T>
  void optional(std::string_view key, const T& value, const std::type_identity_t<T>& usual,
                const Limits& = {}) {
    if (!(value == usual)) (*this)(key, value);
  }

  void name(std::string_view key, const std::string& value, const std::vector<std::string>&) {
    object_[std::string(key)] = value;
  }

  Json take() { return std::move(object_); }

 private:
  Json object_ = Json::object();
};

template <typename T>
void read_struct(const Json& json, T& value, const Place& place, bool tagged) {
  Reader reader(json, place);
  if (tagged) reader.allow("type");
  visit_fields(reader, value);
  reader.refuse_unknown_keys();
}

template <typename... Alternatives>
void read_variant(const Json& json, std::variant<Alternatives...>& value, const Place& place) {
  if (!json.is_object()) refuse(place, json, "a table");
  std::vector<std::string> names;
  for (const auto& name : variant_names(value)) names.emplace_back(name);
  const auto type = json.find("type");
  if (type == json.end()) {
    fail("{}: {}.type is missing, expected one of {}", place.origin, place.path,
         fmt::join(names, ", "));
  }
  const std::size_t index = index_of_name(*type, names, place.below("type"));
  const auto read_if = [&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
    if (I == index) read_struct(json, value.template emplace<I>(), place, true);
  };
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (read_if(std::integral_constant<std::size_t, I>{}), ...);
  }
  (std::index_sequence_for<Alternatives...>{});
}

template <typename T>
void read(const Json& json, T& value, const Limits& limits, const Place& place) {
  if constexpr (std::same_as<T, bool>) {
    if (!json.is_boolean()) refuse(place, json, "true or false");
    value = json.get<bool>();
  } else if constexpr (std::integral<T>) {
    // Files hold integers up to 2^63 - 1.
    value = static_cast<T>(whole_number(json, limits, place));
    static_assert(sizeof(T) == sizeof(int64_t));
  } else if constexpr (std::floating_point<T>) {
    // Limits apply to the number as stored: 1e-60 is above 0, but not as a float.
    const auto number = static_cast<T>(real_number(json, place));
    if (!std::isfinite(number) || !limits.hold(number)) {
      refuse(place, json, "a number" + describe(limits));
    }
    value = number;
  } else if constexpr (std::same_as<T, std::string>) {
    if (!json.is_string()) refuse(place, json, "a string");
    value = json.get<std::string>();
  } else if constexpr (NamedEnum<T>) {
    const auto names = enum_names(T{});
    value = names[index_of_name(json, names_of<T>(), place)].first;
  } else if constexpr (is_vector<T>) {
    if (!json.is_array()) refuse(place, json, "a list");
    T list(json.size());
    for (std::size_t i = 0; i < list.size(); ++i) {
      read(json[i], list[i], limits, place.element(i));
    }
    value = std::move(list);
  } else if constexpr (is_optional<T>) {
    if (!value) value.emplace();
    read(json, *value, limits, place);
  } else if constexpr (is_name_or_list<T>) {
    using Name = std::variant_alternative_t<0, T>;
    if (json.is_array()) {
      read(json, value.template emplace<1>(), limits, place);
    } else {
      const std::size_t index = index_of_name(json, names_of<Name>(), place, " or a list");
      value = enum_names(Name{})[index].first;
    }
  } else if constexpr (is_variant<T>) {
    read_variant(json, value, place);
  } else {
    read_struct(json, value, place, false);
  }
}

template <typename T>
Json write(const T& value) {
  if constexpr (std::same_as<T, float>) {
    return readable_double(value);
  } else if constexpr (std::same_as<T, bool> || std::integral<T> || std::floating_point<T> ||
                       std::same_as<T, std::string>) {
    return value;
  } else if constexpr (NamedEnum<T>) {
    return name_of(value);
  } else if constexpr (is_vector<T>) {
    Json list = Json::array();
    for (const auto& item : value) list.push_back(write(item));
    return list;
  } else if constexpr (is_optional<T>) {
    return value ? write(*value) : Json();
  } else if constexpr (is_name_or_list<T>) {
    return value.index() == 0 ? write(std::get<0>(value)) : write(std::get<1>(value));
  } else if constexpr (is_variant<T>) {
    Writer writer;
    const std::string type = variant_names(value)[value.index()];
    writer("type", type);
    std::visit([&](auto alternative) { visit_fields(writer, alternative); }, value);
    return writer.take();
  } else {
    // Descriptions are used for reading and writing alike, so they take a mutable reference.
    T copy = value;
    Writer writer;
    visit_fields(writer, copy);
    return writer.take();
  }
}

}  // namespace fields

/// Sets the fields of `value` that `json` contains and leaves the others. Throws Error, with
/// `origin` and the dotted path, for unknown keys, wrong types and numbers outside their limits.
template <typename T>
void read_fields(const Json& json, T& value, const std::string& origin,
                 const std::string& path = "") {
  fields::read(json, value, Limits{}, fields::Place{origin, path});
}

template <typename T>
Json write_fields(const T& value) {
  return fields::write(value);
}

}  // namespace bntt
