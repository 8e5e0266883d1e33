#pragma once

#include <cstdio>
#include <cstdlib>

/// For our own bugs, never for mistakes of the user: prints the location and aborts.
#define BNTT_CHECK(condition)                                                            \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      std::fprintf(stderr, "%s:%d: check failed: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                      \
    }                                                                                    \
  } while (false)
