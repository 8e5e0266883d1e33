#pragma once

#include <string_view>

#include "bntt/api.h"

namespace bntt {

/// Version of the running library, such as "0.1.0".
BNTT_API std::string_view version();

}  // namespace bntt
