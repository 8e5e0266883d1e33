#pragma once

#include <array>
#include <cstddef>
#include <utility>

namespace bntt {

/// A value of an enum, its name and its meaning.
template <typename Enum>
struct EnumEntry {
  Enum value;           ///< the value itself
  const char* name;     ///< in files and options
  const char* meaning;  ///< in help texts and docs/settings.md
};

/// The values and names of a table, as enum_names() returns them.
template <typename Enum, std::size_t size>
constexpr auto value_names(const std::array<EnumEntry<Enum>, size>& table) {
  std::array<std::pair<Enum, const char*>, size> names{};
  for (std::size_t i = 0; i < size; ++i) names[i] = {table[i].value, table[i].name};
  return names;
}

}  // namespace bntt
