#include "bench/worker_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <system_error>

#include "base/fail.h"

namespace bntt::bench {
namespace {

[[noreturn]] void fail_by_system(const char* what) {
  throw std::system_error(errno, std::system_category(), what);
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> environment_for(const WorkerCommand& command) {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    if (command.default_waiting && text.starts_with("OMP_WAIT_POLICY=")) continue;
    variables.push_back(text);
  }
  return variables;
}

}  // namespace

SharedFile::SharedFile(std::span<const uint8_t> bytes)
    : descriptor_(memfd_create("bntt-bench", MFD_CLOEXEC)) {
  if (descriptor_ < 0) fail_by_system("memfd_create");
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor_, bytes.data(), bytes.size());
    if (written < 0) fail_by_system("memfd");
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

SharedFile::~SharedFile() { close(descriptor_); }

WorkerProcess::WorkerProcess(const WorkerCommand& command)
    : name_(command.program.filename().string()) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    fail_by_system("socketpair");
  }
  socket_ = ends[0];
  // The numbers that dup2 gives must not be taken by what is still to be copied.
  constexpr int kFirstFree = 10;
  const int end = fcntl(ends[1], F_DUPFD_CLOEXEC, kFirstFree);
  const int network = fcntl(command.network->descriptor(), F_DUPFD_CLOEXEC, kFirstFree);
  const int images = fcntl(command.images->descriptor(), F_DUPFD_CLOEXEC, kFirstFree);
  close(ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, end, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, end, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, network, 3);
  posix_spawn_file_actions_adddup2(&actions, images, 4);

  std::vector<std::string> arguments = command.arguments;
  arguments.insert(arguments.begin(), name_);
  std::vector<std::string> environment = environment_for(command);
  const int error = posix_spawn(&child_, command.program.c_str(), &actions, nullptr,
                                pointers(arguments).data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  for (const int descriptor : {end, network, images}) close(descriptor);
  if (error != 0) {
    close(socket_);
    fail("{}: cannot be started: {}", command.program.string(),
         std::system_category().message(error));
  }
}

WorkerProcess::~WorkerProcess() {
  close(socket_);
  kill(child_, SIGKILL);
  waitpid(child_, nullptr, 0);
}

bool WorkerProcess::ready(double limit) { return answer(limit).has_value(); }

std::optional<UnitTime> WorkerProcess::time_unit(double limit) {
  if (send(socket_, "time\n", 5, MSG_NOSIGNAL) != 5) fail("{}: ended before its work", name_);
  const std::optional<Json> json = answer(limit);
  if (!json) return std::nullopt;
  return UnitTime{json->at("seconds").get<double>(), json->at("processor_seconds").get<double>()};
}

std::optional<Json> WorkerProcess::report(double limit) {
  shutdown(socket_, SHUT_WR);
  return answer(limit);
}

std::optional<Json> WorkerProcess::answer(double limit) {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + std::chrono::duration<double>(limit);
  while (received_.find('\n') == std::string::npos) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
    if (left.count() <= 0) return std::nullopt;
    pollfd waiting{.fd = socket_, .events = POLLIN};
    if (poll(&waiting, 1, static_cast<int>(left.count())) < 0 && errno != EINTR) {
      fail_by_system("poll");
    }
    if (waiting.revents == 0) continue;
    std::array<char, 4096> part{};
    const ssize_t count = recv(socket_, part.data(), part.size(), 0);
    if (count <= 0) {
      fail("{}: ended before its work was done (out of memory?)", name_);
    }
    received_.append(part.data(), static_cast<std::size_t>(count));
  }
  const std::size_t end = received_.find('\n');
  const Json json = parse_json(received_.substr(0, end), name_);
  received_.erase(0, end + 1);
  if (json.contains("error")) fail("{}", json.at("error").get<std::string>());
  return json;
}

}  // namespace bntt::bench
