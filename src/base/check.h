#pragma once

#include <cstdio>
#include <cstdlib>

/// For bugs of ours, never for mistakes of the user: says where, and aborts.
#define BNTT_CHECK(condition)                                                            \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      std::fprintf(stderr, "%s:%d: check failed: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                      \
    }                                                                                    \
  } while (false)
