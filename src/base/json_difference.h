#pragma once

#include <string>

#include "base/json.h"

namespace bntt {

/// The first difference between two values, as a clause for a message: "model.width is 0.5,
/// expected 0.25". Empty if they are equal.
std::string first_difference(const Json& found, const Json& expected);

}  // namespace bntt
