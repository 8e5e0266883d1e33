#pragma once

#include <string>

#include "base/json.h"

namespace bntt::testing {

/// A run with data for every panel, made by hand: five layers, twelve steps.
Json sample_run(const std::string& name);

/// The same document with every string replaced, hostile or not, and every key of its tables.
Json with_all_strings(const Json& document, const std::string& text);

/// Tries to become markup in every place that a careless page might put it.
extern const char* const kHostile;

}  // namespace bntt::testing
