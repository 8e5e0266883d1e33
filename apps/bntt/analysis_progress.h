#pragma once

#include <string>

#include "interrupt.h"
#include "progress.h"

namespace bntt::cli {

/// Shows the analyses of a run on the screen, one bar after the other, and passes the wish to stop
/// on.
class AnalysisProgress {
 public:
  AnalysisProgress(Progress& progress, std::string label)
      : progress_(progress), label_(std::move(label)) {}

  bool operator()(const std::string& what, int64_t done, int64_t of) {
    if (what != what_) {
      what_ = what;
      rate_ = Rate();
      done_ = 0;
    }
    rate_.add(done - done_);
    done_ = done;
    progress_.bar(label_, done, of, what, rate_.seconds_for(of - done));
    return interrupted();
  }

 private:
  Progress& progress_;
  std::string label_;
  std::string what_;
  Rate rate_;
  int64_t done_ = 0;
};

}  // namespace bntt::cli
