#include "guard.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "bntt/threads.h"
#include "bntt/version.h"

namespace bntt::c {
namespace {

/// The sentence is copied into preallocated memory: reporting that memory is short must not need
/// any.
constexpr std::size_t kLongestSentence = 2048;
thread_local char last_error[kLongestSentence] = "";

/// Sizes of the structs in the first version: up to their last field.
constexpr std::size_t kFirstOptions = offsetof(bntt_options, user_data) + sizeof(void*);
constexpr std::size_t kFirstResults = offsetof(bntt_results, spikes) + sizeof(int64_t*);

/// No version will be larger: a size above it comes from a struct that was never initialised.
constexpr std::size_t kLargestStruct = 4096;

void expect_size(std::size_t size, std::size_t first, const char* name) {
  if (size >= first && size <= kLargestStruct) return;
  throw Error(std::string(name) + ": its size is " + std::to_string(size) + ", expected " +
              std::to_string(first) + " to " + std::to_string(kLargestStruct) + ": begin with " +
              name + "_init");
}

template <typename Struct>
int initialise(Struct* given, std::size_t size, std::size_t first, const Struct& defaults,
               const char* name) {
  return guarded([&] {
    expect_given(given, name);
    expect_size(size, first, name);
    std::memset(given, 0, size);
    std::memcpy(given, &defaults, std::min(size, sizeof(Struct)));
    given->size = size;
    return BNTT_OK;
  });
}

template <typename Struct>
Struct known(const Struct* given, std::size_t first, const Struct& defaults, const char* name) {
  Struct result = defaults;
  if (given == nullptr) return result;
  expect_size(given->size, first, name);
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  const bool unknown =
      given->size > sizeof(Struct) && std::any_of(bytes + sizeof(Struct), bytes + given->size,
                                                  [](unsigned char byte) { return byte != 0; });
  if (unknown) {
    throw Error(std::string(name) + ": sets a field that version " + std::string(version()) +
                " does not know");
  }
  std::memcpy(&result, given, std::min(given->size, sizeof(Struct)));
  return result;
}

bntt_options default_options() {
  bntt_options options{};
  options.exit_confidence = -1.0;
  return options;
}

}  // namespace

int failed(int code, const char* sentence) noexcept {
  std::strncpy(last_error, sentence, kLongestSentence - 1);
  return code;
}

void expect_given(const void* pointer, const char* what) {
  if (pointer == nullptr) throw Error(std::string(what) + ": is NULL");
}

bntt_options known_options(const bntt_options* options) {
  return known(options, kFirstOptions, default_options(), "bntt_options");
}

bntt_results known_results(const bntt_results* results) {
  expect_given(results, "bntt_results");
  return known(results, kFirstResults, bntt_results{}, "bntt_results");
}

ThreadsOfCall::ThreadsOfCall(int count) : before_(threads()) { set_threads(count); }
ThreadsOfCall::~ThreadsOfCall() { set_threads(before_); }

}  // namespace bntt::c

extern "C" {

const char* bntt_last_error(void) { return bntt::c::last_error; }

// A string literal, so it is null-terminated.
const char* bntt_version(void) { return bntt::version().data(); }

int bntt_options_init(bntt_options* options, size_t size) {
  return bntt::c::initialise(options, size, bntt::c::kFirstOptions, bntt::c::default_options(),
                             "bntt_options");
}

int bntt_results_init(bntt_results* results, size_t size) {
  return bntt::c::initialise(results, size, bntt::c::kFirstResults, bntt_results{}, "bntt_results");
}
}
