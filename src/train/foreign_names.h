#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bntt {

/// A setting under the name that other tools use.
struct ForeignName {
  std::string_view name;
  std::string_view key;   ///< ours, e.g. model.leak
  std::string_view note;  ///< how to derive our value from theirs; empty: it is the same
};

/// What users of PyTorch, snnTorch or SpikingJelly mean by a name such as tau, beta, lr or
/// batch_size. Case is ignored, and - is read as _.
std::optional<ForeignName> foreign_name(std::string_view name);

/// ", did you mean 'model.leak' (1 - 1/tau)?" for the end of a message; empty for an unknown name.
std::string meant_by_foreign_name(std::string_view name);

}  // namespace bntt
