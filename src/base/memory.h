#pragma once

namespace bntt {

/// For programs that allocate the same large buffers at every training step: malloc keeps their
/// pages instead of returning them to the kernel, which would zero them again each time (a fifth of
/// the training time).
void keep_freed_memory();

}  // namespace bntt
