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

/// Memory that this process holds: its address space if that is limited (`ulimit -v`), otherwise
/// what is resident; 0 if the kernel does not say.
int64_t held_memory_bytes();

}  // namespace bntt
