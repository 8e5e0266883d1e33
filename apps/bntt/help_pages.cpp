#include "help_pages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "analysis.h"
#include "base/files.h"
#include "command.h"

namespace bntt::cli {
namespace {

/// Text that man takes as it is: hyphens that can be copied, no line that begins a request.
std::string plain(const std::string& text) {
  std::string result;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) result += "\\&";
    line_begins = c == '\n';
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
  }
  return result;
}

std::vector<const CLI::App*> commands_below(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) {
    const bool hidden = command->get_group().empty();
    return !command->get_name().empty() && !hidden;
  });
}

std::string page_name(const std::string& command) {
  std::string name = command;
  std::ranges::replace(name, ' ', '-');
  return name;
}

/// "--limit N", or of an argument its name.
std::string option_usage(const CLI::Option& option) {
  std::string text = option.get_positional() ? option.get_name(true) : option.get_name(false, true);
  if (!option.get_positional() && option.get_items_expected_max() > 0) {
    text += " " + option.get_type_name();
  }
  return text;
}

std::vector<std::string> long_options(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

void append(const CLI::App& app, const std::string& name, std::vector<NamedCommand>& all) {
  all.push_back({name, &app});
  for (const CLI::App* command : commands_below(app)) {
    append(*command, name + " " + command->get_name(), all);
  }
}

struct PagesArguments {
  std::string out;
};

int write_pages(const CLI::App& program, const PagesArguments& arguments) {
  const std::filesystem::path out = arguments.out;
  prepare_output(out / "man1" / "bntt.1");
  for (const NamedCommand& command : all_commands(program)) {
    write_text_atomically(out / "man1" / (page_name(command.name) + ".1"), man_page(command));
  }
  prepare_output(out / "completions" / "bntt");
  write_text_atomically(out / "completions" / "bntt", bash_completion(program));
  return kDone;
}

}  // namespace

std::vector<NamedCommand> all_commands(const CLI::App& program) {
  std::vector<NamedCommand> all;
  append(program, program.get_name(), all);
  return all;
}

std::string man_page(const NamedCommand& command) {
  const CLI::App& app = *command.app;
  std::string page = fmt::format(".TH \"{}\" 1 \"\" \"bntt {}\" \"User Commands\"\n",
                                 page_name(command.name), BNTT_VERSION);
  page += fmt::format(".SH NAME\n{} \\- {}\n", plain(page_name(command.name)),
                      plain(app.get_description()));
  page += fmt::format(".SH SYNOPSIS\n.B {}\n", plain(command.name));
  const std::vector<const CLI::App*> below = commands_below(app);
  if (!below.empty()) page += "COMMAND\n";
  page += "[options]\n";
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) page += plain(option->get_name(true)) + "\n";
  }
  if (!below.empty()) {
    page += ".SH COMMANDS\n";
    for (const CLI::App* one : below) {
      page += fmt::format(".TP\n.B {}\n{}; see {}(1)\n", plain(one->get_name()),
                          plain(one->get_description()),
                          plain(page_name(command.name + " " + one->get_name())));
    }
  }
  page += ".SH OPTIONS\n";
  for (const CLI::Option* option : app.get_options()) {
    page += fmt::format(".TP\n.B {}\n{}\n", plain(option_usage(*option)),
                        plain(option->get_description()));
  }
  if (!app.get_footer().empty()) {
    page += fmt::format(".SH NOTES\n.nf\n{}\n.fi\n", plain(app.get_footer()));
  }
  return page +
         ".SH EXIT STATUS\n0: done. 2: invalid input; one sentence on standard error says what is "
         "wrong. 130: stopped by Ctrl\\-C.\n";
}

std::string bash_completion(const CLI::App& program) {
  std::string cases;
  for (const NamedCommand& command : all_commands(program)) {
    std::vector<std::string> words = long_options(*command.app);
    for (const CLI::App* below : commands_below(*command.app)) words.push_back(below->get_name());
    cases += fmt::format("    \"{}\") words=\"{}\" ;;\n", command.name, fmt::join(words, " "));
  }
  return fmt::format(
      "# Completion of bntt for bash.\n"
      "_bntt() {{\n"
      "  local current=${{COMP_WORDS[COMP_CWORD]}} command=bntt words= word\n"
      "  for word in \"${{COMP_WORDS[@]:1:COMP_CWORD-1}}\"; do\n"
      "    case \"$command $word\" in\n"
      "      {}) command=\"$command $word\" ;;\n"
      "    esac\n"
      "  done\n"
      "  case \"$command\" in\n{}  esac\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
      "  [ ${{#COMPREPLY[@]}} -gt 0 ] || COMPREPLY=($(compgen -f -- \"$current\"))\n"
      "}}\n"
      "complete -o filenames -F _bntt bntt\n",
      [&] {
        std::string names;
        for (const NamedCommand& command : all_commands(program)) {
          if (command.app == &program) continue;
          names += fmt::format("{}\"{}\"", names.empty() ? "" : "|", command.name);
        }
        return names;
      }(),
      cases);
}

void add_help_pages(CLI::App& app, Action& action) {
  auto* command =
      app.add_subcommand("help-pages", "Write manual pages and bash completion, for packages");
  auto arguments = std::make_shared<PagesArguments>();
  command->add_option("--out", arguments->out, "directory to write man1/ and completions/ into")
      ->required();
  command->footer("Example:\n  bntt help-pages --out pages && man -l pages/man1/bntt-train.1");
  command->callback([arguments, &app, &action] {
    action = [arguments, &app] { return write_pages(app, *arguments); };
  });
}

}  // namespace bntt::cli
