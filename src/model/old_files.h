#pragma once

#include <filesystem>

#include "bntt/model.h"

namespace bntt {

/// Files of version 0.1 hold a network alone. How to find the rest beside them takes a reader of
/// settings, which stands above this module and makes itself known here; without it such files are
/// refused. Safe to call before main().
using OldCardReader = ModelCard (*)(const std::filesystem::path& file, const Network& network);
bool set_old_card_reader(OldCardReader reader);

/// Throws Error where nothing is found.
ModelCard old_card(const std::filesystem::path& file, const Network& network);

}  // namespace bntt
