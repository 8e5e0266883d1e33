#include "process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <stdexcept>
#include <thread>

namespace bntt::testing {
namespace {

int nameless_file() {
  std::string name = (std::filesystem::temp_directory_path() / "bntt-output-XXXXXX").string();
  const int descriptor = mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0) throw std::runtime_error("mkostemp failed");
  unlink(name.c_str());
  return descriptor;
}

std::string contents(int descriptor) {
  std::string text(static_cast<std::size_t>(lseek(descriptor, 0, SEEK_END)), '\0');
  if (pread(descriptor, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    throw std::runtime_error("pread failed");
  }
  return text;
}

// Between fork and exec only what is safe after a fork of a program with threads.
[[noreturn]] void become(const char* program, char* const* arguments, char* const* environment,
                         int out, int error, const ProcessOptions& options) {
  if (!options.input.empty()) {
    const int input = open(options.input.c_str(), O_RDONLY);
    if (input < 0 || dup2(input, STDIN_FILENO) < 0) _exit(126);
  }
  dup2(out, STDOUT_FILENO);
  dup2(error, STDERR_FILENO);
  if (options.largest_file) {
    const rlimit limit{*options.largest_file, *options.largest_file};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  if (options.most_memory) {
    const rlimit limit{*options.most_memory, *options.most_memory};
    setrlimit(RLIMIT_AS, &limit);
  }
  execve(program, arguments, environment);
  _exit(127);
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

}  // namespace

Process::Process(const std::vector<std::string>& arguments, const ProcessOptions& options)
    : out_(options.output.empty() ? nameless_file()
                                  : open(options.output.c_str(), O_RDWR | O_CLOEXEC)),
      error_(nameless_file()) {
  std::vector<std::string> all = {"bntt"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::vector<std::string> environment = options.environment;
  // Threads that spin while they wait for one another crawl when other tests use the cores.
  environment.emplace_back("OMP_WAIT_POLICY=passive");
  // What a run learns about the machine stays out of the user's home.
  environment.push_back("XDG_CACHE_HOME=" +
                        (std::filesystem::temp_directory_path() / "bntt-test-cache").string());
  for (char** variable = environ; *variable != nullptr; ++variable) {
    environment.emplace_back(*variable);
  }
  const std::vector<char*> argument_list = pointers(all);
  const std::vector<char*> environment_list = pointers(environment);
  child_ = fork();
  if (child_ < 0) throw std::runtime_error("fork failed");
  if (child_ == 0) {
    become(options.program.c_str(), argument_list.data(), environment_list.data(), out_, error_,
           options);
  }
}

Process::~Process() {
  if (running()) {
    send(SIGKILL);
    wait();
  }
  close(out_);
  close(error_);
}

void Process::send(int signal) const { kill(child_, signal); }

bool Process::running() {
  int status = 0;
  if (!status_ && wait4(child_, &status, WNOHANG, &usage_) == child_) status_ = status;
  return !status_;
}

ProcessEnd Process::wait() {
  int status = 0;
  if (!status_ && wait4(child_, &status, 0, &usage_) == child_) status_ = status;
  const int ended = status_.value();
  return {.exit_code = WIFEXITED(ended) ? WEXITSTATUS(ended) : -1,
          .signal = WIFSIGNALED(ended) ? WTERMSIG(ended) : 0,
          .peak_memory = 1024 * static_cast<int64_t>(usage_.ru_maxrss),
          .out = contents(out_),
          .error = contents(error_)};
}

ProcessEnd run_bntt(const std::vector<std::string>& arguments, const ProcessOptions& options) {
  return Process(arguments, options).wait();
}

bool wait_until(Process& process, const std::function<bool()>& condition) {
  while (!condition()) {
    if (!process.running()) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace bntt::testing
