#pragma once

#include <fmt/format.h>

#include "bntt/error.h"

namespace bntt {

template <typename... Arguments>
[[noreturn]] void fail(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  throw Error(fmt::format(format, std::forward<Arguments>(arguments)...));
}

}  // namespace bntt
