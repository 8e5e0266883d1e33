#pragma once

#include <span>

#include "bntt/loss.h"

namespace bntt {

struct LossEntry {
  const char* name;
  const char* meaning;
  Loss (*compute)(const LossOptions& options, const Outputs& outputs,
                  std::span<const int64_t> labels);
};
/// All kinds of loss.
std::span<const LossEntry> loss_table();

/// The entry of a kind. Throws Error if the kind is unknown or an option is out of range.
const LossEntry& checked_loss(const LossOptions& options);

}  // namespace bntt
