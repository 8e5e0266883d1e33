#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace bntt {

/// Parses untrusted TOML text; keys are in the order of the text. Dates are rejected, since no
/// setting is one. `origin` names the source in messages.
Json parse_toml(std::string_view text, const std::string& origin);

/// An object as readable TOML: scalars before tables, [[name]] for lists of tables, whose own
/// tables are inline, so that one entry stays one paragraph. Null values, which TOML cannot
/// express, are omitted.
std::string format_toml(const Json& object);

/// One value as written after a key: "vgg9", [0.5, 0.7], { kind = "bntt" }. Not for null.
std::string format_toml_value(const Json& value);

}  // namespace bntt
