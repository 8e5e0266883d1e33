#pragma once

#include <string>

#include "bntt/error.h"

namespace bntt::testing {

/// What the Error says that `action` throws; empty when it throws none.
template <typename Action>
std::string message_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace bntt::testing
