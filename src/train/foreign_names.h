#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bntt {

/// A setting under the name that it has in other tools.
struct ForeignName {
  std::string_view name;
  std::string_view key;   ///< ours, as model.leak
  std::string_view note;  ///< how our value follows from theirs; empty: it is the same
};

/// What someone who comes from PyTorch, snnTorch or SpikingJelly means by a name such as tau, beta,
/// lr or batch_size. Case is ignored, and - is read as _.
std::optional<ForeignName> foreign_name(std::string_view name);

/// ", did you mean 'model.leak' (1 - 1/tau)?" for the end of a message; empty for an unknown name.
std::string meant_by_foreign_name(std::string_view name);

}  // namespace bntt
