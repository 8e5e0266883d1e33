#include "run_jobs.h"

#include <fmt/format.h>
#include <poll.h>

namespace bntt::cli {

void RunJobs::start(RunJob job, const std::vector<std::string>& arguments) {
  jobs_.push_back({std::move(job), std::make_unique<RunProcess>(arguments)});
}

void RunJobs::ask_to_stop() const {
  for (const Running& running : jobs_) running.process->ask_to_stop();
}

std::vector<RunJobs::Ended> RunJobs::wait() {
  constexpr int kMilliseconds = 200;
  std::vector<pollfd> waiting;
  for (const Running& running : jobs_) {
    waiting.push_back({.fd = running.process->descriptor(), .events = POLLIN});
  }
  ::poll(waiting.data(), waiting.size(), kMilliseconds);
  std::vector<Ended> ended;
  std::vector<Running> going_on;
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    if (waiting[i].revents == 0 || jobs_[i].process->read()) {
      going_on.push_back(std::move(jobs_[i]));
    } else {
      ended.push_back({std::move(jobs_[i].job), jobs_[i].process->end()});
    }
  }
  jobs_ = std::move(going_on);
  return ended;
}

std::string RunJobs::status() const {
  std::string all;
  for (const Running& running : jobs_) {
    all += fmt::format("{}{}  {}", all.empty() ? "" : " | ", running.job.label,
                       running.process->status());
  }
  return all;
}

}  // namespace bntt::cli
