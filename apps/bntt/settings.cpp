#include "train/settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/fail.h"
#include "base/kinds.h"
#include "bntt/encoder.h"
#include "command.h"
#include "kernels/surrogates.h"
#include "toml/toml.h"

namespace bntt::cli {
namespace {

struct SettingsArguments {
  std::string key;
  bool markdown = false;
};

std::string names_text(const Setting& setting) {
  std::vector<std::string> names;
  for (const KindInfo& kind : setting.kinds) names.push_back(kind.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

/// "number, above 0, at most 1", "one of soft, hard", "list of tables, of type conv3x3, dense".
std::string type_text(const Setting& setting) {
  if (setting.kinds.empty()) {
    return setting.range.empty() ? setting.type : setting.type + ", " + setting.range;
  }
  if (setting.type.ends_with("tables")) return setting.type + ", type: " + names_text(setting);
  const std::string names = "one of " + names_text(setting);
  // The other choice, and what its numbers may be.
  constexpr std::string_view kOr = "name or ";
  if (!setting.type.starts_with(kOr)) return names;
  return fmt::format("{}, or {}, {}", names, setting.type.substr(kOr.size()), setting.range);
}

bool kinds_have_meanings(const Setting& setting) {
  return !setting.kinds.empty() && !setting.kinds.front().meaning.empty();
}

std::string usual_text(const Setting& setting) {
  return setting.usual.is_null() ? "" : format_toml_value(setting.usual);
}

std::string heading(const SettingsTable& table) {
  return table.section ? "[" + table.name + "]" : table.name + ", in [network]";
}

void print_tables(const std::vector<SettingsTable>& tables, bool with_kinds) {
  const char* gap = "";
  for (const SettingsTable& table : tables) {
    fmt::print("{}{}\n  {}\n", gap, heading(table), table.meaning);
    for (const Setting& setting : table.settings) {
      const std::string usual = usual_text(setting);
      fmt::print("\n  {}{}{}\n      {}{}\n      {}\n", setting.leaf(), usual.empty() ? "" : " = ",
                 usual, type_text(setting),
                 setting.symbol.empty() ? "" : "; " + setting.symbol + " in the paper",
                 setting.meaning);
      if (!with_kinds || !kinds_have_meanings(setting)) continue;
      std::size_t width = 8;
      for (const KindInfo& kind : setting.kinds) width = std::max(width, kind.name.size());
      for (const KindInfo& kind : setting.kinds) {
        fmt::print("      {:<{}} {}\n", kind.name, width, kind.meaning);
      }
    }
    gap = "\n";
  }
}

/// A cell of a Markdown table.
std::string cell(std::string text) {
  for (std::size_t at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2)) {
    text.insert(at, "\\");
  }
  return text;
}

void print_markdown_table(const SettingsTable& table) {
  fmt::print(
      "\n{} {}\n{}\n\n| key | default | value | paper | meaning |\n| --- | --- | --- | --- | --- "
      "|\n",
      table.section ? "##" : "###", table.section ? "[" + table.name + "]" : table.name,
      table.meaning);
  for (const Setting& setting : table.settings) {
    const std::string usual = usual_text(setting);
    fmt::print("| `{}` | {} | {} | {} | {} |\n", setting.leaf(),
               usual.empty() ? "" : "`" + cell(usual) + "`", cell(type_text(setting)),
               setting.symbol, cell(setting.meaning));
  }
}

void print_markdown_kinds(const char* title, const std::vector<KindInfo>& kinds) {
  fmt::print("\n## {}\n| name | |\n| --- | --- |\n", title);
  for (const KindInfo& kind : kinds) fmt::print("| `{}` | {} |\n", kind.name, cell(kind.meaning));
}

/// docs/settings.md.
void print_markdown() {
  fmt::print(
      "# Settings\n\n"
      "Every key of a settings file (`presets/`, `run.toml`) and of `--set SECTION.KEY=VALUE`. A "
      "key that is left out has its\ndefault. This page is the output of `bntt settings "
      "--markdown`; `bntt settings leak` shows one key and\n`bntt settings train` one section. The "
      "column *paper* gives the symbol in the paper.\n");
  for (const SettingsTable& table : settings_reference()) {
    print_markdown_table(table);
    if (table.name != "network") continue;
    fmt::print(
        "\nThe tables below are part of `[network]`; [networks.md](networks.md) shows whole "
        "networks. A stage is a\n"
        "`[[network.stages]]` with its `type`; its other keys are those of the table of that "
        "name.\n");
  }
  print_markdown_kinds("Norms", norm_kinds());
  fmt::print(
      "\n[networks.md](networks.md#norms-and-neurons) says which values each norm takes its "
      "statistics over, and how\n`bn` and `bn-time` differ.\n");
  print_markdown_kinds("Neurons", neuron_kinds());
  print_markdown_kinds("Surrogate slopes", kinds_of<EnumEntry<SurrogateKind>>(kSurrogates));
  fmt::print(
      "\nd = (v − θ)/width is the distance of the membrane potential from the threshold; α and β "
      "are `surrogate_alpha`\nand `surrogate_decay`.\n");
  print_markdown_kinds("Encoders", kinds_of<EnumEntry<EncoderKind>>(kEncoders));
}

int settings(const SettingsArguments& arguments) {
  if (arguments.markdown) {
    if (!arguments.key.empty()) fail("--markdown prints all settings and takes no key");
    print_markdown();
  } else if (arguments.key.empty()) {
    print_tables(settings_reference(), false);
  } else {
    print_tables(find_settings(arguments.key), true);
  }
  return kDone;
}

}  // namespace

void add_settings(CLI::App& app, Action& action) {
  auto* command =
      app.add_subcommand("settings", "Explain the settings: type, default and meaning of each");
  auto arguments = std::make_shared<SettingsArguments>();
  command->add_option(
      "key", arguments->key,
      "a section (train), a key (model.leak), a name (leak) or a value (bn-time); default: all");
  command->add_flag("--markdown", arguments->markdown,
                    "print all settings as the page docs/settings.md");
  command->footer("Example:\n  bntt settings model.leak");
  command->callback(
      [arguments, &action] { action = [arguments] { return settings(*arguments); }; });
}

}  // namespace bntt::cli
