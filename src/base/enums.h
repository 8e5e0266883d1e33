#pragma once

#include <string_view>

#include "base/fail.h"

namespace bntt {

/// Throws Error unless `value` is one of those that enum_names() lists beside its type. `where`
/// starts the sentence; `type` is the name of the enum.
template <typename Enum>
void expect_enum(std::string_view where, std::string_view what, Enum value, std::string_view type) {
  for (const auto& [known, name] : enum_names(value)) {
    if (known == value) return;
  }
  fail("{}: {} is {}, which is not a value of {}", where, what, static_cast<int>(value), type);
}

}  // namespace bntt
