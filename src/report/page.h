#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace bntt {

/// The complete document of the page.
Json report_document(const std::vector<Json>& runs);

/// One self-contained HTML file: style, script and Chart.js inside, the document as JSON text that
/// cannot end its element. Its policy lets the browser run only this script, show its own pictures
/// and, with `live`, request data from its own server.
std::string report_page(const Json& document, bool live = false);

/// A page in the same style without any script, for existing HTML.
std::string plain_page(const std::string& title, const std::string& body);

/// The document as text, with bytes that are not UTF-8 replaced.
std::string document_text(const Json& document);

}  // namespace bntt
