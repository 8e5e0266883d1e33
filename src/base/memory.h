#pragma once

#include <cstdint>

namespace bntt {

/// For programs that allocate the same large buffers at every training step: malloc keeps their
/// pages instead of returning them to the kernel, which would zero them again each time (a fifth of
/// the training time).
void keep_freed_memory();

/// Memory that the kernel could give to this process now, page cache that it would drop included;
/// the largest number if it does not say.
int64_t available_memory_bytes();

}  // namespace bntt
