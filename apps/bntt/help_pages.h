#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace bntt::cli {

// What a distribution wants beside a program, from the texts of its --help.

/// A command with the words that call it, as "bntt data get", and those below it.
struct NamedCommand {
  std::string name;
  const CLI::App* app = nullptr;
};
/// The program and all its commands, outermost first.
std::vector<NamedCommand> all_commands(const CLI::App& program);

/// The manual page of a command, in the language of man(7).
std::string man_page(const NamedCommand& command);

/// A script that completes commands, options and file names in bash.
std::string bash_completion(const CLI::App& program);

}  // namespace bntt::cli
