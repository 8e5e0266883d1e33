#pragma once

#include <string>

#include "classical/run_files.h"

namespace bntt::cli {

/// A classical run for people: method, data, features, answers, published number, times.
std::string classical_text(const ClassicalRun& run);

/// The same for programs.
Json classical_json(const ClassicalRun& run);

}  // namespace bntt::cli
