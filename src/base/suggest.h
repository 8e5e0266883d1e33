#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bntt {

/// The candidate that a mistyped `word` most likely meant; empty if none is close enough.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

/// ", did you mean 'x'?" for the end of a message; empty if nothing is close.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace bntt
