#pragma once

#include <fmt/ranges.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fail.h"
#include "base/suggest.h"
#include "base/text.h"

namespace bntt {

/// Name and text of files that cmake/embed.cmake compiled into the library.
using EmbeddedFiles = std::vector<std::pair<std::string_view, std::string_view>>;

inline std::vector<std::string> file_names(const EmbeddedFiles& files) {
  std::vector<std::string> names;
  for (const auto& [name, text] : files) names.emplace_back(name);
  return names;
}

/// Throws Error for an unknown name and suggests the nearest known one. `what` is what the files
/// are, such as "preset".
inline std::string_view file_text(const EmbeddedFiles& files, std::string_view what,
                                  std::string_view name) {
  for (const auto& [known, text] : files) {
    if (name == known) return text;
  }
  const std::vector<std::string> names = file_names(files);
  fail("unknown {} '{}', expected one of {}{}", what, excerpt(name), fmt::join(names, ", "),
       did_you_mean(name, names));
}

}  // namespace bntt
