#pragma once

#include "command.h"

namespace bntt::cli {

// The subcommands of bntt data, one file each; data.cpp lists them.
void add_data_get(CLI::App& app, Action& action);
void add_data_check(CLI::App& app, Action& action);
void add_data_show(CLI::App& data, Action& action);

}  // namespace bntt::cli
