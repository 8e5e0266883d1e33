#include "interrupt.h"

#include <atomic>
#include <csignal>

namespace bntt::cli {
namespace {

std::atomic<bool> asked_to_stop{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void on_signal(int number) {
  asked_to_stop = true;
  std::signal(number, SIG_DFL);
}

}  // namespace

void catch_interrupts() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

bool interrupted() { return asked_to_stop; }

}  // namespace bntt::cli
