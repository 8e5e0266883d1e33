#pragma once

#include <stdexcept>

#include "bntt/api.h"

namespace bntt {

/// Something the user can fix: a wrong file, an impossible setting, a full disk.
/// The message is one sentence that says where, what was expected and what was found.
/// Bugs in the library are not Errors: they abort. Thread-safe, as standard exceptions are.
class BNTT_API Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace bntt
