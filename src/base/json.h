#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace bntt {

/// Keeps the order of its keys.
using Json = nlohmann::ordered_json;

/// No file that we read is nested deeper; one that is was made to overflow the stack.
inline constexpr int kMaxNesting = 32;

/// The value in untrusted text. Refuses, in one sentence that begins with `origin`, broken JSON,
/// deep nesting and keys that occur twice.
Json parse_json(std::string_view text, const std::string& origin);

/// The same with sorted keys, for large objects: the ordered kind searches linearly and holds at
/// most 4096 keys.
nlohmann::json parse_sorted_json(std::string_view text, const std::string& origin);

}  // namespace bntt
