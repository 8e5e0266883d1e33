#include "experiment/result_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/fields.h"
#include "experiment/tables.h"
#include "report/base64.h"
#include "report/page.h"

namespace bntt {
namespace {

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string cells(const char* element, const std::vector<std::string>& texts) {
  std::string row = "<tr>";
  for (const std::string& text : texts) {
    row += fmt::format("<{0}>{1}</{0}>", element, escaped(text));
  }
  return row + "</tr>\n";
}

std::string card(const std::string& title, const std::string& body) {
  return fmt::format("<div class=\"card wide\"><h3>{}</h3>\n{}</div>\n", escaped(title), body);
}

std::string number_table(const ExperimentResult& result) {
  std::vector<std::string> heading = {""};
  for (const Column column : result.columns) {
    heading.push_back(column_heading(column));
    heading.emplace_back("paper");
  }
  std::string text = "<table><thead>" + cells("th", heading) + "</thead><tbody>\n";
  for (const ResultRow& row : result.rows) {
    std::vector<std::string> texts = {row.problem.empty() ? row.label
                                                          : row.label + " (" + row.problem + ")"};
    for (std::size_t c = 0; c < result.columns.size(); ++c) {
      texts.push_back(cell_text(row.cells[c], result.columns[c]));
      texts.push_back(paper_text(row.cells[c].paper, result.columns[c]));
    }
    text += cells("td", texts);
  }
  return text + "</tbody></table>\n";
}

std::string claim_table(const ExperimentResult& result) {
  std::string text = "<table class=\"words\"><thead>" + cells("th", {"claim", "here", "numbers"}) +
                     "</thead><tbody>\n";
  for (const ResultClaim& claim : result.claims) {
    text += cells("td", {claim.text, name_of(claim.verdict), claim.numbers});
  }
  return text + "</tbody></table>\n";
}

std::string picture(const ResultDrawing& drawing, const std::string& file) {
  const bool svg = std::holds_alternative<std::string>(drawing.content);
  const auto* bytes = reinterpret_cast<const uint8_t*>(file.data());
  return card(drawing.title, fmt::format("<img alt=\"{}\" src=\"data:image/{};base64,{}\">\n",
                                         escaped(drawing.title), svg ? "svg+xml" : "png",
                                         base64({bytes, file.size()})));
}

std::string section(const ExperimentResult& result, const std::vector<std::string>& pictures) {
  std::string text = fmt::format(
      "<section id=\"{0}\"><h2>{1}</h2>\n<p class=\"note\">Scale {2}, {3} "
      "{4}.",
      escaped(result.name), escaped(result.title), name_of(result.scale), result.seeds,
      result.seeds == 1 ? "seed" : "seeds");
  for (const std::string& note : result.notes) text += " " + escaped(note);
  text += "</p>\n<div class=\"grid\">\n";
  if (!result.rows.empty()) text += card("Our numbers and the paper's", number_table(result));
  if (!result.claims.empty()) text += card("Claims of the paper", claim_table(result));
  for (std::size_t i = 0; i < std::min(pictures.size(), result.drawings.size()); ++i) {
    text += picture(result.drawings[i], pictures[i]);
  }
  return text + "</div></section>\n";
}

}  // namespace

std::string result_page(const std::string& title, const std::vector<ExperimentResult>& results,
                        const std::vector<std::vector<std::string>>& pictures) {
  std::string body = fmt::format("<div class=\"title\"><h1>{}</h1>\n<p>", escaped(title));
  for (const ExperimentResult& result : results) {
    body += fmt::format("<a href=\"#{}\">{}</a> ", escaped(result.name), escaped(result.name));
  }
  body +=
      "</p>\n<p>Accuracies of one seed have Wilson's 95 % interval, numbers of several seeds their "
      "mean and standard deviation.</p></div>\n";
  for (std::size_t i = 0; i < results.size(); ++i) body += section(results[i], pictures[i]);
  return plain_page(escaped(title), body);
}

}  // namespace bntt
