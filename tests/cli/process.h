#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace bntt::testing {

struct ProcessOptions {
  std::vector<std::string> environment;  ///< "NAME=value", beside those of the test
  std::string input;                     ///< a file for the standard input; empty: the test's
  std::string output;                    ///< a file for the output; empty: it is kept
  std::optional<uint64_t> largest_file;  ///< files cannot grow beyond: a disk that fills up
  std::optional<uint64_t> most_memory;   ///< of addresses: a machine with so many bytes
  std::string program = BNTT_PROGRAM;
};

struct ProcessEnd {
  int exit_code = -1;  ///< -1: ended by `signal`
  int signal = 0;
  int64_t peak_memory = 0;  ///< bytes
  std::string out;
  std::string error;
};

/// The built program (or another one), running. It is killed if the test forgets it.
class Process {
 public:
  Process(const std::vector<std::string>& arguments, const ProcessOptions& options = {});
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  pid_t id() const { return child_; }
  void send(int signal) const;
  bool running();
  ProcessEnd wait();

 private:
  int out_ = -1;  // files without a name, so that no pipe can fill up
  int error_ = -1;
  pid_t child_ = -1;
  std::optional<int> status_;
  rusage usage_ = {};
};

ProcessEnd run_bntt(const std::vector<std::string>& arguments, const ProcessOptions& options = {});

/// Looks every millisecond until `condition` holds; false when the process ended first.
bool wait_until(Process& process, const std::function<bool()>& condition);

}  // namespace bntt::testing
