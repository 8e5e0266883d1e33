#include "train/run_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <string>
#include <system_error>

#include "base/fail.h"
#include "base/files.h"
#include "train/checkpoint.h"

namespace bntt {
namespace fs = std::filesystem;
namespace {

std::string owner_of(int file) {
  std::array<char, 32> digits{};
  const ssize_t size = ::pread(file, digits.data(), digits.size(), 0);
  std::string text;
  for (ssize_t i = 0; i < size && digits.at(i) >= '0' && digits.at(i) <= '9'; ++i) {
    text += digits.at(i);
  }
  return text.empty() ? "another process" : "process " + text;
}

// The owner deletes the file before it releases the lock, so a lock on a file that no longer has
// this name protects nothing.
bool has_the_name(int file, const fs::path& path) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(file, &opened) == 0 && ::stat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

void remove_temporaries(const fs::path& directory) {
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    std::error_code ignored;
    if (is_run_file(name) && name.ends_with(kTemporaryEnding)) fs::remove(entry->path(), ignored);
  }
}

}  // namespace

RunLock::RunLock(const fs::path& directory) : path_(RunPaths{directory}.lock()) {
  while (true) {
    Descriptor file(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    if (file.get() < 0) fail("{}: cannot be created: {}", path_.string(), system_message());
    // A file system without locks offers no protection, but that is no reason to fail.
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      fail("{}: {} is working on this run; wait for it to end, or choose another directory",
           directory.string(), owner_of(file.get()));
    }
    if (!has_the_name(file.get(), path_)) continue;
    const std::string owner = fmt::format("{}\n", ::getpid());
    // If the owner cannot be written, other processes only get a less specific message.
    if (::ftruncate(file.get(), 0) == 0) write_all(file.get(), owner.data(), owner.size());
    file_ = std::move(file);
    remove_temporaries(directory);
    return;
  }
}

RunLock::~RunLock() {
  if (held()) ::unlink(path_.c_str());
}

}  // namespace bntt
