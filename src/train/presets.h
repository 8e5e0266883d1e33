#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bntt {

/// The files of presets/, which are compiled into the library.
std::vector<std::string> preset_names();

/// The TOML text of a preset. Throws Error for an unknown name and suggests the nearest known one.
std::string_view preset_text(std::string_view name);

}  // namespace bntt
