#include "experiment/tables.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/fields.h"
#include "base/text.h"

namespace bntt {
namespace {

constexpr const char* kDash = "–";

std::string number_text(double value, Column column) {
  switch (column) {
    case Column::steps:
      return fmt::format("{:.3g}", value);
    case Column::accuracy:
      return fmt::format("{:.2f}", value);
    case Column::spikes:
      return fmt::format("{:.0f}", value);
    case Column::energy_ratio:
    case Column::measured_ratio:
      return fmt::format("{:.3g}", value);
    case Column::truenorth:
      break;
  }
  return fmt::format("{:.4g}", value);
}

/// Prepares our text for a cell of a Markdown table.
std::string plain(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '|') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result;
}

bool has_paper(const ExperimentResult& result, std::size_t column) {
  return std::ranges::any_of(
      result.rows, [&](const ResultRow& row) { return row.cells[column].paper.has_value(); });
}

std::string line(const std::vector<std::string>& cells) {
  std::string text = "|";
  for (const std::string& cell : cells) text += " " + cell + " |";
  return text + "\n";
}

std::string number_field(const std::optional<double>& value) {
  return value ? fmt::format("{}", *value) : "";
}

std::string table(const ExperimentResult& result) {
  std::vector<std::string> heading = {""};
  std::vector<std::string> rule = {"---"};
  for (std::size_t c = 0; c < result.columns.size(); ++c) {
    heading.push_back(column_heading(result.columns[c]));
    rule.emplace_back("---:");
    if (!has_paper(result, c)) continue;
    heading.emplace_back("paper");
    rule.emplace_back("---:");
  }
  std::string text = line(heading) + line(rule);
  for (const ResultRow& row : result.rows) {
    std::vector<std::string> cells = {plain(row.label)};
    for (std::size_t c = 0; c < result.columns.size(); ++c) {
      cells.push_back(cell_text(row.cells[c], result.columns[c]));
      if (has_paper(result, c)) {
        cells.push_back(paper_text(row.cells[c].paper, result.columns[c]));
      }
    }
    text += line(cells);
  }
  for (const ResultRow& row : result.rows) {
    if (!row.problem.empty()) {
      text += fmt::format("\n{}: not measured, since {}.\n", plain(row.label), plain(row.problem));
    }
  }
  return text;
}

}  // namespace

std::string column_heading(Column column) {
  switch (column) {
    case Column::steps:
      return "steps";
    case Column::accuracy:
      return "accuracy (%)";
    case Column::spikes:
      return "spikes per image";
    case Column::energy_ratio:
      return "E_ANN/E, the paper's form";
    case Column::measured_ratio:
      return "E_ANN/E, counted work";
    case Column::truenorth:
      break;
  }
  return "TrueNorth energy";
}

std::string cell_text(const ResultCell& cell, Column column) {
  if (cell.values.empty()) return kDash;
  const Spread spread = spread_of(cell.values);
  std::string text = number_text(spread.mean, column);
  if (spread.count > 1) return text + " ± " + number_text(spread.deviation, column);
  if (cell.interval)
    text += fmt::format(" ({:.2f}-{:.2f})", cell.interval->low, cell.interval->high);
  return text;
}

std::string paper_text(const std::optional<double>& value, Column column) {
  if (!value) return kDash;
  return column == Column::accuracy ? fmt::format("{:.1f}", *value) : number_text(*value, column);
}

std::string markdown(const ExperimentResult& result) {
  std::string text = fmt::format("## {}\n\nScale {}, {} {}.", result.title, name_of(result.scale),
                                 result.seeds, result.seeds == 1 ? "seed" : "seeds");
  for (const std::string& note : result.notes) text += " " + note;
  text += "\n";
  if (!result.rows.empty()) text += "\n" + table(result);
  if (!result.claims.empty()) {
    text += "\n" + line({"what the paper says", "here", "numbers"}) + line({"---", "---", "---"});
    for (const ResultClaim& claim : result.claims) {
      text += line({plain(claim.text), name_of(claim.verdict),
                    claim.numbers.empty() ? kDash : plain(claim.numbers)});
    }
  }
  for (const ResultDrawing& drawing : result.drawings) {
    const bool svg = std::holds_alternative<std::string>(drawing.content);
    text +=
        fmt::format("\n![{}]({}.{})\n", plain(drawing.title), drawing.file, svg ? "svg" : "png");
  }
  return text;
}

std::string csv(const ExperimentResult& result) {
  std::string text = "row,column,ours,deviation,seeds,low,high,paper,note\n";
  for (const ResultRow& row : result.rows) {
    for (std::size_t c = 0; c < result.columns.size(); ++c) {
      const ResultCell& cell = row.cells[c];
      const Spread spread = spread_of(cell.values);
      const bool measured = spread.count > 0;
      const auto end = [&](double ConfidenceInterval::*which) {
        return cell.interval ? fmt::format("{}", (*cell.interval).*which) : "";
      };
      text +=
          fmt::format("{},{},{},{},{},{},{},{},{}\n", csv_field(row.label),
                      name_of(result.columns[c]), measured ? fmt::format("{}", spread.mean) : "",
                      spread.count > 1 ? fmt::format("{}", spread.deviation) : "", spread.count,
                      end(&ConfidenceInterval::low), end(&ConfidenceInterval::high),
                      number_field(cell.paper), csv_field(row.problem));
    }
  }
  for (const ResultClaim& claim : result.claims) {
    text += fmt::format("{},claim,{},,,,,,{}\n", csv_field(claim.text), name_of(claim.verdict),
                        csv_field(claim.numbers));
  }
  return text;
}

}  // namespace bntt
