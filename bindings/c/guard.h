#pragma once

#include <exception>
#include <new>
#include <string>

#include "bntt/bntt.h"
#include "bntt/error.h"

namespace bntt::c {

/// Keeps the sentence for bntt_last_error of this thread, and answers with the code.
int failed(int code, const char* sentence) noexcept;

/// Runs `body`, which returns a code; no exception leaves.
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

/// Throws Error where the caller handed over a null pointer.
void expect_given(const void* pointer, const char* what);

/// The defaults, over which the caller's struct is laid as far as both know it. Throws Error for a
/// size that no version ever had, and for a field set that this version does not know.
bntt_options known_options(const bntt_options* options);
bntt_results known_results(const bntt_results* results);

/// As many threads as the options say, as long as this lives.
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
