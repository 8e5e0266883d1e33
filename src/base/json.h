#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace bntt {

/// Keeps the order of its keys.
using Json = nlohmann::ordered_json;

/// No legitimate file is nested deeper; one that is was made to overflow the stack.
inline constexpr int kMaxNesting = 32;

/// Parses untrusted text. Rejects broken JSON, deep nesting and repeated keys, with one sentence
/// that begins with `origin`.
Json parse_json(std::string_view text, const std::string& origin);

/// The same with sorted keys, for large objects: the ordered kind searches linearly and holds at
/// most 4096 keys.
nlohmann::json parse_sorted_json(std::string_view text, const std::string& origin);

}  // namespace bntt
