#include "report/gnuplot.h"

#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "base/fail.h"
#include "base/text.h"

namespace bntt {
namespace {

/// A file that exists only in memory: unlike a pipe it cannot block when nobody reads it.
class MemoryFile {
 public:
  explicit MemoryFile(const char* name) : descriptor_(memfd_create(name, MFD_CLOEXEC)) {
    if (descriptor_ < 0) fail("gnuplot: there is not enough memory for its {}", name);
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { close(descriptor_); }

  int descriptor() const { return descriptor_; }

  void fill(const std::string& text) const {
    if (pwrite(descriptor_, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
      fail("gnuplot: there is not enough memory for its script");
    }
  }
  std::string contents() const {
    std::string text(static_cast<std::size_t>(lseek(descriptor_, 0, SEEK_END)), '\0');
    const ssize_t got = pread(descriptor_, text.data(), text.size(), 0);
    text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    return text;
  }

 private:
  int descriptor_;
};

class FileActions {
 public:
  FileActions() { posix_spawn_file_actions_init(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }

  void connect(const MemoryFile& file, int stream) {
    posix_spawn_file_actions_adddup2(&actions_, file.descriptor(), stream);
  }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

}  // namespace

std::string run_gnuplot(const std::string& script) {
  const MemoryFile input("script");
  const MemoryFile output("picture");
  const MemoryFile errors("messages");
  input.fill(script);
  FileActions actions;
  actions.connect(input, STDIN_FILENO);
  actions.connect(output, STDOUT_FILENO);
  actions.connect(errors, STDERR_FILENO);

  std::vector<std::string> words = {"gnuplot", "--default-settings", "-"};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int refused =
      posix_spawnp(&child, "gnuplot", actions.get(), nullptr, arguments.data(), environ);
  if (refused == ENOENT) {
    fail("gnuplot, which draws the figures, is not installed (Debian package gnuplot-nox)");
  }
  if (refused != 0) fail("gnuplot could not be started: error {}", refused);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  std::string picture = output.contents();
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || picture.empty()) {
    fail("gnuplot drew nothing: {}", excerpt(errors.contents()));
  }
  return picture;
}

}  // namespace bntt
