#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "convert/convert.h"

namespace bntt {

/// Sets the options that `settings` contains, such as {"steps": 200}, and leaves the others. Throws
/// an Error that begins with `origin` for unknown keys and values out of range.
void read_conversion_settings(const Json& settings, ConversionOptions& options,
                              const std::string& origin);
/// Every option but the seed.
Json conversion_settings(const ConversionOptions& options);

/// The files of presets/convert, which are compiled into the library: published conversions.
std::vector<std::string> conversion_preset_names();
/// Throws Error for an unknown name and suggests the nearest known one.
ConversionOptions conversion_preset(std::string_view name);

}  // namespace bntt
