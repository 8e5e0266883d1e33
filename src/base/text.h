#pragma once

#include <string>
#include <string_view>

namespace bntt {

/// Untrusted text prepared for one line of a message: control characters escaped, long text cut.
std::string excerpt(std::string_view text);

/// A field of CSV, quoted if necessary (RFC 4180).
std::string csv_field(std::string_view text);

/// The shortest decimal number that reads back as the same value: 0.95, 1e-4, 25.0; never a bare
/// integer.
std::string shortest(double value);

/// The double whose shortest form is also the shortest form of `value`: 0.95, where a cast gives
/// 0.949999988079071. Casting it back gives `value`.
double readable_double(float value);

}  // namespace bntt
