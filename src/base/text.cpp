#include "base/text.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

namespace bntt {

std::string excerpt(std::string_view text) {
  constexpr std::size_t kLongest = 80;
  std::string shown;
  for (const char c : text.substr(0, kLongest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      shown += fmt::format("\\x{:02x}", byte);
    } else {
      shown += c;
    }
  }
  if (text.size() > kLongest) {
    // Cutting must not leave an incomplete UTF-8 character.
    while (!shown.empty() && (static_cast<unsigned char>(shown.back()) & 0xC0) == 0x80) {
      shown.pop_back();
    }
    if (!shown.empty() && static_cast<unsigned char>(shown.back()) >= 0xC0) shown.pop_back();
    shown += "...";
  }
  return shown;
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string shortest(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::array<char, 64> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  std::string text(digits.data(), end);
  const std::size_t exponent = text.find('e');
  if (exponent == std::string::npos)
    return text.find('.') == std::string::npos ? text + ".0" : text;
  // 1e-04 to 1e-4
  while (text.size() > exponent + 3 && text[exponent + 2] == '0') text.erase(exponent + 2, 1);
  return text;
}

double readable_double(float value) {
  if (!std::isfinite(value)) return value;
  std::array<char, 64> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  double readable = value;
  std::from_chars(digits.data(), end, readable);
  return static_cast<float>(readable) == value ? readable : value;
}

}  // namespace bntt
