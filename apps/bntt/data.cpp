#include "data_commands.h"

namespace bntt::cli {

void add_data(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("data", "Download, check and show data sets");
  command->require_subcommand(1);
  add_data_get(*command, action);
  add_data_check(*command, action);
  add_data_show(*command, action);
  command->footer(
      "Example:\n  bntt data get cifar10 data/cifar10\n"
      "  bntt data check cifar10 data/cifar10\n"
      "  bntt data show cifar10 data/cifar10 --out cifar10.png\n"
      "Run bntt data get --help, check --help or show --help for their options.");
}

}  // namespace bntt::cli
