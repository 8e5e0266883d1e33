#pragma once

namespace bntt::cli {

/// From now on Ctrl-C (and SIGTERM) only asks to stop; a second one ends the program at once.
void catch_interrupts();
bool interrupted();

}  // namespace bntt::cli
