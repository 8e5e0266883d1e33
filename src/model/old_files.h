#pragma once

#include <filesystem>

#include "bntt/model.h"

namespace bntt {

/// Files of version 0.1 hold only a network. Finding the rest beside them requires a reader of
/// settings, which belongs to a higher module and registers itself here; without it such files are
/// rejected. Safe to call before main().
using OldCardReader = ModelCard (*)(const std::filesystem::path& file, const Network& network);
bool set_old_card_reader(OldCardReader reader);

/// Throws Error if nothing is found.
ModelCard old_card(const std::filesystem::path& file, const Network& network);

}  // namespace bntt
