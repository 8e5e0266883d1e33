#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <system_error>

#include "base/memory.h"
#include "base/suggest.h"
#include "base/text.h"
#include "bntt/error.h"
#include "command.h"
#include "kernels/kernel_set.h"
#include "train/foreign_names.h"
#include "train/memory_need.h"

namespace {

int complain(const std::string& sentence) {
  // Not fmt::print, which throws when the error output itself is on the disk that is full.
  std::fputs(fmt::format("bntt: {}\n", sentence).c_str(), stderr);
  return bntt::cli::kBadInput;
}

// Threads that wait should sleep, not spin: on a machine that does other work too, spinning makes
// training several times slower, and on an idle one it gains nothing. OpenMP reads this before
// main, hence once more from the start.
void wait_passively(char** argv) {
  if (std::getenv("OMP_WAIT_POLICY") != nullptr) return;
  setenv("OMP_WAIT_POLICY", "passive", 1);
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  execv(program.c_str(), argv);  // returns only where that is impossible: then we spin
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

/// The subcommand (bntt data get) that the arguments reached.
CLI::App* innermost(CLI::App& app) {
  CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  return command;
}

std::string full_name(const CLI::App* command) {
  return command->get_parent() == nullptr
             ? command->get_name()
             : full_name(command->get_parent()) + " " + command->get_name();
}

/// The option that a mistyped one most likely meant; where a setting is meant, how to set it.
std::string meant_option(const CLI::App& command, std::string_view wrong) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  const std::string suggestion = bntt::did_you_mean(wrong, names);
  const auto setting = bntt::foreign_name(wrong.substr(wrong.find_first_not_of('-')));
  const bool takes_settings = std::ranges::count(names, "--set") > 0;
  if (!suggestion.empty() || !setting || !takes_settings) return suggestion;
  return fmt::format(", did you mean '--set {}=...'?", setting->key);
}

std::string parse_complaint(CLI::App& app, const CLI::ParseError& error) {
  CLI::App* command = innermost(app);
  for (const std::string& argument : command->remaining()) {
    const std::string option = argument.substr(0, argument.find('='));
    if (option.find_first_not_of('-') == 0 || option.find_first_not_of('-') == std::string::npos) {
      continue;
    }
    const std::string name = full_name(command);
    return fmt::format("{} has no option '{}' (see {} --help){}", name, bntt::excerpt(option), name,
                       meant_option(*command, option));
  }
  std::string message = error.what();
  std::replace(message.begin(), message.end(), '\n', ' ');
  return fmt::format("{}; see {} --help", message, full_name(command));
}

}  // namespace

int main(int argc, char** argv) {
  wait_passively(argv);
  // At a file size limit a write then fails, as on a full disk, instead of ending the program.
  std::signal(SIGXFSZ, SIG_IGN);
  bntt::keep_freed_memory();
  CLI::App app(
      "Train, explain and deploy deep spiking networks with Batch Normalization Through Time",
      "bntt");
  app.set_version_flag("--version", "bntt " BNTT_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Example:\n  bntt train --preset demo-fashion-mnist --out runs/demo\n  bntt eval runs/demo\n"
      "Run bntt COMMAND --help for the options of a command and an example.");
  bntt::cli::Action action;
  bntt::cli::add_train(app, action);
  bntt::cli::add_sweep(app, action);
  bntt::cli::add_experiment(app, action);
  bntt::cli::add_eval(app, action);
  bntt::cli::add_convert(app, action);
  bntt::cli::add_quantize(app, action);
  bntt::cli::add_steps(app, action);
  bntt::cli::add_predict(app, action);
  bntt::cli::add_exit(app, action);
  bntt::cli::add_activity(app, action);
  bntt::cli::add_energy(app, action);
  bntt::cli::add_attack(app, action);
  bntt::cli::add_classical(app, action);
  bntt::cli::add_inspect(app, action);
  bntt::cli::add_export(app, action);
  bntt::cli::add_import(app, action);
  bntt::cli::add_bench(app, action);
  bntt::cli::add_plot(app, action);
  bntt::cli::add_report(app, action);
  bntt::cli::add_data(app, action);
  bntt::cli::add_settings(app, action);
  bntt::cli::add_help_pages(app, action);

  const std::string first = argc > 1 ? argv[1] : "";
  const std::vector<std::string> commands = command_names(app);
  if (!first.empty() && first.front() != '-' && std::ranges::count(commands, first) == 0) {
    const std::string suggestion = bntt::did_you_mean(first, commands);
    return complain(fmt::format("unknown command '{}'{}", bntt::excerpt(first),
                                suggestion.empty() ? "; see bntt --help" : suggestion));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help_or_version) {
    return app.exit(help_or_version);
  } catch (const CLI::ParseError& error) {
    return complain(parse_complaint(app, error));
  }
  try {
    bntt::kernels::kernels();  // refuses a wrong BNTT_KERNELS before any work
    const int code = action();
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      return complain("the output cannot be written");
    }
    return code;
  } catch (const bntt::Error& error) {
    return complain(error.what());
  } catch (const std::filesystem::filesystem_error& error) {
    return complain(fmt::format("{}: {}", error.path1().string(), error.code().message()));
  } catch (const std::system_error& error) {
    return complain(error.what());
  } catch (const std::bad_alloc&) {
    return complain(fmt::format("there is not enough memory for this: {} are in use",
                                bntt::bytes_text(bntt::held_memory_bytes())));
  }
}
