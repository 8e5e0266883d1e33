#pragma once

namespace bntt {

/// For programs that ask for the same large buffers again at every training step: malloc keeps
/// their pages instead of giving them back to the kernel, which would zero them anew each time (a
/// fifth of the training time otherwise).
void keep_freed_memory();

}  // namespace bntt
