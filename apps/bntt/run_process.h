#pragma once

#include <sys/types.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace bntt::cli {

/// How the making of a run ended.
enum class RunEndKind { finished, stopped, diverged, failed };
constexpr auto enum_names(RunEndKind) {
  return std::array{
      std::pair{RunEndKind::finished, "finished"}, std::pair{RunEndKind::stopped, "stopped"},
      std::pair{RunEndKind::diverged, "diverged"}, std::pair{RunEndKind::failed, "failed"}};
}
struct RunEnd {
  RunEndKind kind = RunEndKind::finished;
  std::string message;  ///< of one that failed
};

/// The last line that a process prints for its parent, which reads it as RunProcess::end().
std::string end_line(const RunEnd& end);
/// Makes the kernel kill this process when its parent ends; a killed run can be resumed.
void end_with_parent();

/// Another process of this program that makes a run. It has a process group of its own: Ctrl-C
/// reaches only the parent, which asks it to stop. The destructor kills it if it is still running.
class RunProcess {
 public:
  explicit RunProcess(const std::vector<std::string>& arguments);
  RunProcess(const RunProcess&) = delete;
  RunProcess& operator=(const RunProcess&) = delete;
  ~RunProcess();

  /// Readable when the process has printed something or ended.
  int descriptor() const { return pipe_; }
  /// Reads what there is; false if the process has ended.
  bool read();
  /// The last line that it printed.
  const std::string& status() const { return status_; }
  void ask_to_stop() const;
  /// After read() has returned false.
  RunEnd end();

 private:
  int pipe_ = -1;
  pid_t child_ = -1;
  std::string received_;
  std::string status_;
};

}  // namespace bntt::cli
