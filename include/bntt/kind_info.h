#pragma once

#include <string>

namespace bntt {

/// A name that an option may have (NormSpec::kind, LossOptions::kind, ...), and its meaning.
struct KindInfo {
  std::string name;
  std::string meaning;
};

}  // namespace bntt
