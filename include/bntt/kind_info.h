#pragma once

#include <string>

namespace bntt {

/// A name that an option may have (NormSpec::kind, LossOptions::kind, ...), and its meaning.
struct KindInfo {
  std::string name;     ///< as an option names it
  std::string meaning;  ///< one line for users
};

}  // namespace bntt
