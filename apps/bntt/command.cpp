#include "command.h"

#include <fmt/format.h>

#include <cstdlib>

#include "base/text.h"

namespace bntt::cli {
namespace {

CLI::Validator number_that(bool (*holds)(double), const char* expected) {
  const auto check = [=](const std::string& text) -> std::string {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    const bool number = end != text.c_str() && *end == '\0';
    return number && holds(value) ? "" : fmt::format("'{}' is not {}", excerpt(text), expected);
  };
  return {check, ""};
}

}  // namespace

CLI::Validator not_negative() {
  return number_that([](double value) { return value >= 0.0; }, "a number of at least 0");
}

CLI::Validator positive() {
  return number_that([](double value) { return value > 0.0; }, "a number above 0");
}

}  // namespace bntt::cli
