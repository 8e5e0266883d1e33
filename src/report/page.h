#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace bntt {

/// The page's whole document.
Json report_document(const std::vector<Json>& runs);

/// One self-contained HTML file: style, script and Chart.js inside, the document as JSON text that
/// cannot end its element. Its policy lets the browser run that one script, show its own pictures,
/// and with `live` ask the server it came from; nothing else.
std::string report_page(const Json& document, bool live = false);

/// A page in the same style without any script, for HTML that is already there.
std::string plain_page(const std::string& title, const std::string& body);

/// The document's text, bytes that are not UTF-8 replaced.
std::string document_text(const Json& document);

}  // namespace bntt
