#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace bntt {

/// The tables of untrusted TOML text, keys in the order of the text. Dates are refused: no setting
/// is one. `origin` names the source in messages.
Json parse_toml(std::string_view text, const std::string& origin);

/// Readable TOML of an object: scalars before tables, [[name]] for lists of tables, whose own
/// tables are inline, so that one entry stays one paragraph. Null values, which TOML cannot say,
/// are left out.
std::string format_toml(const Json& object);

/// One value as it stands behind a key: "vgg9", [0.5, 0.7], { kind = "bntt" }. Not for null.
std::string format_toml_value(const Json& value);

}  // namespace bntt
