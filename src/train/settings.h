#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "bntt/network_spec.h"

namespace bntt {

/// What there is to know about one key of a settings file.
struct Setting {
  std::string key;              ///< "model.leak"; in tables inside [network] "norm.epsilon"
  std::string type;             ///< "number", "list of numbers", ...
  std::string range;            ///< empty: any
  std::vector<KindInfo> kinds;  ///< what a name may be; their meanings may be empty
  Json usual;                   ///< the value when left out; null: none
  std::string meaning;
  std::string symbol;  ///< in the paper; empty: it has none

  std::string leaf() const { return key.substr(key.find('.') + 1); }
};

/// A section, or a table inside [network].
struct SettingsTable {
  std::string name;     ///< "model", or "norm"
  std::string meaning;  ///< what the table is for
  bool section = true;  ///< false: a table inside [network]
  std::vector<Setting> settings;
};

/// All of them, in the order of the parser's declarations. What can be known from those (type,
/// range, names, usual value) comes from there; the meanings are in settings.cpp.
std::vector<SettingsTable> settings_reference();

/// The part that `key` asks for: a table ("model"; "network" has those inside it too), a setting
/// ("model.leak"), or every setting of that name ("leak"). Throws Error for anything else, with
/// the nearest key.
std::vector<SettingsTable> find_settings(std::string_view key);

/// Keys that have a meaning but that the parser does not know: none, unless a setting went away.
std::vector<std::string> meanings_left_over();

}  // namespace bntt
