#pragma once

#include <cstdio>
#include <cstdlib>

/// A mistake of ours, never of the user's: say where and abort.
#define BNTT_CHECK(condition)                                                            \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      std::fprintf(stderr, "%s:%d: check failed: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                      \
    }                                                                                    \
  } while (false)
