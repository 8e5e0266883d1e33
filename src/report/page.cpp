#include "report/page.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/fail.h"
#include "report/base64.h"

namespace bntt {

std::vector<std::pair<std::string_view, std::string_view>> embedded_page();

namespace {

std::string_view part(std::string_view name) {
  const auto parts = embedded_page();
  const auto found = std::ranges::find(parts, name, [](const auto& p) { return p.first; });
  BNTT_CHECK(found != parts.end());
  return found->second;
}

// 'sha256-…' as required by a Content-Security-Policy.
std::string policy_hash(std::string_view hex) {
  std::vector<uint8_t> bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    uint8_t byte = 0;
    std::from_chars(hex.data() + i, hex.data() + i + 2, byte, 16);
    bytes.push_back(byte);
  }
  return fmt::format("'sha256-{}'", base64(bytes));
}

std::string policy(bool live) {
  return fmt::format(
      "default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; "
      "form-action 'none'{}",
      policy_hash(BNTT_SCRIPT_SHA256), policy_hash(BNTT_STYLE_SHA256),
      live ? "; connect-src 'self'" : "");
}

// Inside a script element only "<" can begin anything other than text.
std::string safe_in_script(const std::string& json) {
  std::string text;
  text.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace

Json report_document(const std::vector<Json>& runs) {
  return {{"generator", "bntt " BNTT_VERSION}, {"runs", runs}};
}

std::string document_text(const Json& document) {
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string report_page(const Json& document, bool live) {
  const std::vector<std::pair<std::string_view, std::string>> values = {
      {"@POLICY@", policy(live)},
      {"@STYLE@", std::string(part("style"))},
      {"@DOCUMENT@", safe_in_script(document_text(document))},
      {"@SCRIPT@", std::string(part("script"))}};
  // One pass over the template, so that a marker inside a value is not replaced.
  std::string page;
  std::string_view rest = part("page");
  for (const auto& [marker, value] : values) {
    const std::size_t at = rest.find(marker);
    BNTT_CHECK(at != std::string_view::npos);
    page += rest.substr(0, at);
    page += value;
    rest.remove_prefix(at + marker.size());
  }
  page += rest;
  return page;
}

std::string plain_page(const std::string& title, const std::string& body) {
  const std::string rules = fmt::format(
      "default-src 'none'; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
      policy_hash(BNTT_STYLE_SHA256));
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n<main>\n{}</main>\n"
      "<footer>bntt " BNTT_VERSION "</footer>\n</body>\n</html>\n",
      rules, title, part("style"), body);
}

}  // namespace bntt
