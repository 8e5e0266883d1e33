#pragma once

#include <array>
#include <chrono>
#include <map>
#include <string>

namespace bntt {

/// What a stage spends its time on.
enum class StagePhase {
  synapse_forward,
  neuron_forward,
  forward_by_rows,  // synapse and neurons together
  neuron_backward,
  weight_gradient,
  input_gradient
};
inline constexpr std::size_t kStagePhases = 6;

/// During its lifetime, the stages that this thread runs add the seconds of their phases to it.
class StageClock {
 public:
  using Seconds = std::array<double, kStagePhases>;

  StageClock() : previous_(running_) { running_ = this; }
  StageClock(const StageClock&) = delete;
  StageClock& operator=(const StageClock&) = delete;
  ~StageClock() { running_ = previous_; }

  /// By the name of the stage.
  const std::map<std::string, Seconds>& seconds() const { return seconds_; }

  struct Place {
    std::string stage;  // empty: outside the stages
    StagePhase phase = StagePhase::synapse_forward;
    auto operator<=>(const Place&) const = default;
  };
  /// What this thread works on; outside if no clock is running.
  static Place place() { return running_ == nullptr ? Place{} : running_->place_; }

 private:
  friend class PhaseTimer;
  static inline thread_local StageClock* running_ = nullptr;

  StageClock* previous_;
  std::map<std::string, Seconds> seconds_;
  Place place_;
};

/// Times consecutive phases until it goes out of scope; does nothing if no clock is running.
class PhaseTimer {
 public:
  PhaseTimer(const std::string& stage, StagePhase phase)
      : clock_(StageClock::running_), phase_(phase) {
    if (clock_ == nullptr) return;
    seconds_ = &clock_->seconds_[stage];
    clock_->place_ = {stage, phase};
    start_ = std::chrono::steady_clock::now();
  }
  PhaseTimer(const PhaseTimer&) = delete;
  PhaseTimer& operator=(const PhaseTimer&) = delete;
  ~PhaseTimer() {
    next(phase_);
    if (clock_ != nullptr) clock_->place_ = {};
  }

  void next(StagePhase phase) {
    if (clock_ == nullptr) return;
    const auto now = std::chrono::steady_clock::now();
    (*seconds_)[static_cast<std::size_t>(phase_)] +=
        std::chrono::duration<double>(now - start_).count();
    start_ = now;
    phase_ = phase;
    clock_->place_.phase = phase;
  }

 private:
  StageClock* clock_;
  StageClock::Seconds* seconds_ = nullptr;
  StagePhase phase_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace bntt
