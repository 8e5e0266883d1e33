#pragma once

#include <exception>
#include <new>
#include <string>

#include "bntt/bntt.h"
#include "bntt/error.h"

namespace bntt::c {

/// Stores the sentence for bntt_last_error of this thread, and returns the code.
int failed(int code, const char* sentence) noexcept;

/// Runs `body`, which returns a code; lets no exception escape.
template <typename Body>
int guarded(const Body& body) noexcept {
  try {
    return body();
  } catch (const Error& error) {
    return failed(BNTT_ERROR, error.what());
  } catch (const std::bad_alloc&) {
    return failed(BNTT_NO_MEMORY, "there is not enough memory for this");
  } catch (const std::exception& error) {
    return failed(BNTT_INTERNAL, error.what());
  } catch (...) {
    return failed(BNTT_INTERNAL, "an unknown exception");
  }
}

/// Throws Error if the caller passed a null pointer.
void expect_given(const void* pointer, const char* what);

/// `body(*object)`, or 0 with the error set if the object is null. For functions without a code.
template <typename Object, typename Body>
auto value_or_zero(const Object* object, const char* what, const Body& body) noexcept {
  decltype(body(*object)) value = 0;
  guarded([&] {
    expect_given(object, what);
    value = body(*object);
    return BNTT_OK;
  });
  return value;
}

/// The defaults, overwritten with the fields of the caller's struct that both versions have. Throws
/// Error for a size that no version ever had, and if a field unknown to this version is set.
bntt_options known_options(const bntt_options* options);
bntt_results known_results(const bntt_results* results);

/// Sets the number of threads from the options during its lifetime.
class ThreadsOfCall {
 public:
  explicit ThreadsOfCall(int count);
  ~ThreadsOfCall();
  ThreadsOfCall(const ThreadsOfCall&) = delete;
  ThreadsOfCall& operator=(const ThreadsOfCall&) = delete;

 private:
  int before_;
};

}  // namespace bntt::c
