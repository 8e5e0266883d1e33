#pragma once

#include <string_view>

#include "bntt/api.h"

namespace bntt {

/// Of the library that runs, such as "0.1.0".
BNTT_API std::string_view version();

}  // namespace bntt
