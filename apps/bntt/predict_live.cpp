#include "predict_live.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/fail.h"
#include "bntt/session.h"
#include "command.h"
#include "interrupt.h"
#include "model/stopping.h"
#include "predict_inputs.h"
#include "report/explanation.h"
#include "report/live_server.h"

namespace bntt::cli {
namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;
using std::chrono::microseconds;

constexpr microseconds kLookAgain{20'000};
constexpr Milliseconds kBetweenPages{200.0};

/// When the last event of each frame has happened, in microseconds from the first event on.
std::vector<int64_t> frame_ends(const Recording& recording, const FrameOptions& options) {
  std::vector<int64_t> times;
  for (const Event& event : recording.events) times.push_back(event.time_us);
  const auto [first, last] = std::ranges::minmax(times);
  const int64_t span_us = last - first + 1;
  const auto count = std::ssize(times);
  std::vector<int64_t> ends;
  for (int64_t frame = 1; frame <= options.frames; ++frame) {
    if (options.bin_us > 0) {
      ends.push_back(options.bin_us * frame);
    } else if (options.interval == Interval::time) {
      ends.push_back(span_us * frame / options.frames);
    } else {
      const int64_t events = std::max<int64_t>(1, frame * count / options.frames);
      ends.push_back(times[events - 1] - first + 1);
    }
  }
  // Some cameras write events a little out of order.
  for (std::size_t i = 1; i < ends.size(); ++i) ends[i] = std::max(ends[i], ends[i - 1]);
  return ends;
}

/// False when the user wants to stop.
bool wait_until(Clock::time_point time) {
  while (!interrupted() && Clock::now() < time) {
    std::this_thread::sleep_until(std::min<Clock::time_point>(time, Clock::now() + kLookAgain));
  }
  return !interrupted();
}

// At once, even into a pipe: it is live.
void say(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

std::string bar(double share) {
  constexpr int64_t kWidth = 20;
  return fmt::format("{:.<{}}", std::string(static_cast<std::size_t>(share * kWidth + 0.5), '#'),
                     kWidth);
}

/// How long steps took, and how late they were done.
struct Pace {
  double slowest_ms = 0.0;
  double sum_ms = 0.0;
  double latest_ms = 0.0;  ///< from the last event of a frame to the answer
  bool keeps_up = true;    ///< every step was done before the next one was due
};

class Replay {
 public:
  Replay(const Model& model, const std::filesystem::path& file, const LiveOptions& options)
      : model_(model),
        options_(options),
        name_(file.filename().string()),
        recording_(read_model_recording(model, file, options.sensor)),
        frames_(frames_of(recording_, model.network().spec().input, model.card().input.events)),
        ends_us_(frame_ends(recording_, model.card().input.events)),
        steps_(active_steps_until(model.network().spec(), options.steps)),
        session_(model, 1),
        explanation_(model_, frames_) {
    if (options.port) server_.emplace(*options.port);
  }

  int run() {
    catch_interrupts();
    if (server_) {
      publish("waiting for the first step");
      say(fmt::format("http://127.0.0.1:{}/ shows {}", server_->port(), name_));
    }
    // A camera that has been running finds threads and memory ready.
    Session(model_, 1).advance(model_.encode(frames_, 0, 1));
    const Clock::time_point start = Clock::now();
    while (session_.steps_done() < steps_ && !certain()) {
      const Clock::time_point due = start + microseconds(ends_us_[session_.steps_done()]);
      if (!wait_until(due)) return kInterrupted;
      take_step(due);
    }
    say(summary());
    if (server_) {
      publish(summary());
      say("Ctrl-C stops the server");
      while (wait_until(Clock::now() + kLookAgain)) {
      }
    }
    return kDone;
  }

 private:
  bool certain() const {
    if (!options_.exit_confidence || session_.steps_done() == 0) return false;
    const NetworkSpec& spec = model_.network().spec();
    const int64_t taken = spec.steps - active_steps(spec) + session_.steps_done();
    return exit_confidence(session_.logits().span(), spec, taken) >= *options_.exit_confidence;
  }

  void take_step(Clock::time_point due) {
    const Clock::time_point start = Clock::now();
    const int64_t step = session_.steps_done();
    session_.advance(model_.encode(frames_, step, 1), explanation_.watch());
    const std::vector<float> probabilities = session_.probabilities();
    const Clock::time_point end = Clock::now();
    explanation_.add_answer(session_);

    const double took_ms = Milliseconds(end - start).count();
    const double late_ms = Milliseconds(end - due).count();
    pace_.slowest_ms = std::max(pace_.slowest_ms, took_ms);
    pace_.latest_ms = std::max(pace_.latest_ms, late_ms);
    pace_.sum_ms += took_ms;
    const auto next = static_cast<std::size_t>(step + 1);
    const bool last = next == ends_us_.size();
    if (!last && late_ms > 1e-3 * static_cast<double>(ends_us_[next] - ends_us_[next - 1])) {
      pace_.keeps_up = false;
    }
    const auto best = std::ranges::max_element(probabilities);
    say(fmt::format("{:8.1f} ms  step {:>3}/{}  {} {:5.1f} % {}  {} spikes, {:.2f} ms",
                    1e-3 * static_cast<double>(ends_us_[next - 1]), step + 1, ends_us_.size(),
                    bar(*best), 100.0 * static_cast<double>(*best),
                    model_.class_name(best - probabilities.begin()),
                    explanation_.spikes_of_last_step(), took_ms));
    if (server_ && end - published_ > kBetweenPages) {
      publish(fmt::format("step {} of {}", step + 1, ends_us_.size()));
    }
  }

  std::string summary() const {
    const std::vector<float> probabilities = session_.probabilities();
    const auto best = std::ranges::max_element(probabilities);
    return fmt::format(
        "{}: {} {:.1f} % after {} of {} steps; a step takes {:.2f} ms, the slowest {:.2f} ms; an "
        "answer comes at most {:.2f} ms after the events: {}",
        name_, model_.class_name(best - probabilities.begin()), 100.0 * static_cast<double>(*best),
        session_.steps_done(), ends_us_.size(),
        pace_.sum_ms / static_cast<double>(session_.steps_done()), pace_.slowest_ms,
        pace_.latest_ms, pace_.keeps_up ? "keeps up" : "does not keep up");
  }

  void publish(const std::string& status) {
    published_ = Clock::now();
    server_->publish(explanation_.document({.name = name_, .status = status, .facts = {}}));
  }

  const Model& model_;
  LiveOptions options_;
  std::string name_;
  Recording recording_;
  Batch frames_;
  std::vector<int64_t> ends_us_;  // [frame]
  int64_t steps_;                 // of each stage
  Session session_;
  Explanation explanation_;
  std::optional<LiveServer> server_;
  Clock::time_point published_;
  Pace pace_;
};

}  // namespace

int predict_live(const Model& model, const std::filesystem::path& file,
                 const LiveOptions& options) {
  if (model.card().input.encoder.kind != EncoderKind::events) {
    fail("--live: replays event recordings, but the model reads images");
  }
  return Replay(model, file, options).run();
}

}  // namespace bntt::cli
