#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "base/heartbeat.h"

namespace bntt {
namespace {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""h;

TEST(Heartbeat, BeatsAgainAndAgainWhileNothingIsHeard) {
  std::mutex mutex;
  std::condition_variable changed;
  int beats = 0;
  Heartbeat heartbeat(1ms, [&] {
    const std::lock_guard lock(mutex);
    ++beats;
    changed.notify_one();
  });
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return beats >= 3; });
  EXPECT_GE(beats, 3);
}

TEST(Heartbeat, DoesNotBeatBeforeItsTimeAndEndsAtOnce) {
  bool beaten = false;
  {
    Heartbeat heartbeat(1h, [&] { beaten = true; });
    heartbeat.heard();
  }
  EXPECT_FALSE(beaten);
}

// Whoever prints holds a lock, and tells the heartbeat of it meanwhile.
TEST(Heartbeat, TheBeatMayWaitForSomeoneWhoIsHeard) {
  std::mutex screen;
  std::condition_variable changed;
  int beats = 0;
  Heartbeat heartbeat(1ms, [&] {
    const std::lock_guard lock(screen);
    ++beats;
    changed.notify_one();
  });
  for (int round = 1; round <= 3; ++round) {
    std::unique_lock lock(screen);
    heartbeat.heard();
    const int before = beats;
    changed.wait(lock, [&] { return beats > before; });
  }
  EXPECT_GE(beats, 3);
}

}  // namespace
}  // namespace bntt
