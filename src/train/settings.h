#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "bntt/network_spec.h"

namespace bntt {

/// The documentation of one key of a settings file.
struct Setting {
  std::string key;              ///< "model.leak"; in tables inside [network] "norm.epsilon"
  std::string type;             ///< "number", "list of numbers", ...
  std::string range;            ///< empty: any
  std::vector<KindInfo> kinds;  ///< the names allowed; their meanings may be empty
  Json usual;                   ///< the default; null: none
  std::string meaning;
  std::string symbol;  ///< in the paper; empty: none

  std::string leaf() const { return key.substr(key.find('.') + 1); }
};

/// A section, or a table inside [network].
struct SettingsTable {
  std::string name;     ///< "model", or "norm"
  std::string meaning;  ///< what the table is for
  bool section = true;  ///< false: a table inside [network]
  std::vector<Setting> settings;
};

/// All of them, in the order of the parser's declarations. Type, range, names and default come from
/// these declarations; the meanings are in settings.cpp.
std::vector<SettingsTable> settings_reference();

/// The part selected by `key`: a table ("model"; "network" includes the tables inside it), a
/// setting ("model.leak"), every setting of that name ("leak") or with such a value ("bn-time").
/// Throws Error for anything else and suggests the nearest key.
std::vector<SettingsTable> find_settings(std::string_view key);

/// Keys that have a meaning but are unknown to the parser: none, unless a setting was removed.
std::vector<std::string> meanings_left_over();

}  // namespace bntt
