#include "run_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>

#include "base/fail.h"
#include "base/fields.h"
#include "base/json.h"

namespace bntt::cli {
namespace {

constexpr const char* kEnd = "end ";

/// Throws Error for a line that end_line() did not make.
RunEnd end_of(const std::string& line) {
  const Json json = parse_json(line.substr(std::string(kEnd).size()), "the process of a run");
  for (const auto& [kind, name] : enum_names(RunEndKind{})) {
    if (json.at("kind") == name) return {kind, json.at("message").get<std::string>()};
  }
  fail("the process of a run ended with '{}'", line);
}

}  // namespace

std::string end_line(const RunEnd& end) {
  return kEnd + Json{{"kind", name_of(end.kind)}, {"message", end.message}}.dump();
}

void end_with_parent() { ::prctl(PR_SET_PDEATHSIG, SIGKILL); }

RunProcess::RunProcess(const std::vector<std::string>& arguments) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    fail("pipe: {}", std::system_category().message(errno));
  }
  std::vector<std::string> words = arguments;
  words.insert(words.begin(), program);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  const int error =
      posix_spawn(&child_, program.c_str(), &actions, &attributes, pointers.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  pipe_ = ends[0];
  if (error != 0) {
    ::close(pipe_);
    fail("{}: cannot be started: {}", program, std::system_category().message(error));
  }
}

RunProcess::~RunProcess() {
  ::close(pipe_);
  if (child_ < 0) return;
  ::kill(child_, SIGKILL);
  ::waitpid(child_, nullptr, 0);
}

bool RunProcess::read() {
  std::array<char, 4096> part{};
  const ssize_t count = ::read(pipe_, part.data(), part.size());
  if (count < 0) return errno == EINTR;
  received_.append(part.data(), static_cast<std::size_t>(count));
  for (std::size_t end = 0; (end = received_.find('\n')) != std::string::npos;) {
    status_ = received_.substr(0, end);
    received_.erase(0, end + 1);
  }
  return count > 0;
}

void RunProcess::ask_to_stop() const { ::kill(child_, SIGINT); }

RunEnd RunProcess::end() {
  int state = 0;
  while (::waitpid(child_, &state, 0) < 0 && errno == EINTR) {
  }
  child_ = -1;
  if (status_.starts_with(kEnd)) return end_of(status_);
  return {RunEndKind::failed, WIFSIGNALED(state)
                                  ? fmt::format("its process was killed by signal {} (out of "
                                                "memory?)",
                                                WTERMSIG(state))
                                  : "its process ended without a word"};
}

}  // namespace bntt::cli
