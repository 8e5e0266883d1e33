#include "base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "base/descriptor.h"
#include "base/fail.h"

namespace bntt {
namespace fs = std::filesystem;

namespace {

// Unique to this call: if two processes write one file, the later one wins, and neither sees the
// other's incomplete file.
fs::path temporary_name(const fs::path& path) {
  static std::atomic<uint64_t> calls = 0;
  return fmt::format("{}.{}-{}{}", path.string(), ::getpid(), ++calls, kTemporaryEnding);
}

}  // namespace

std::string system_message() { return std::system_category().message(errno); }

bool write_all(int descriptor, const void* data, std::size_t size) {
  const auto* bytes = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t written = ::write(descriptor, bytes, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

void sync_directory(const fs::path& directory) {
  const Descriptor handle(
      ::open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_CLOEXEC));
  if (handle.get() >= 0) ::fsync(handle.get());
}

std::vector<uint8_t> read_file(const fs::path& path, uint64_t limit) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) fail("{}: cannot be opened: {}", path.string(), system_message());
  struct stat status {};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    fail("{}: is not a regular file", path.string());
  }
  const auto size = static_cast<uint64_t>(status.st_size);
  if (size > limit) {
    fail("{}: holds {} bytes, expected at most {}", path.string(), size, limit);
  }
  std::vector<uint8_t> bytes(size);
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = ::read(file.get(), bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("{}: cannot be read: {}", path.string(), system_message());
    if (got == 0) fail("{}: ended after {} of {} bytes", path.string(), done, size);
    done += static_cast<std::size_t>(got);
  }
  return bytes;
}

std::string read_text(const fs::path& path, uint64_t limit) {
  const std::vector<uint8_t> bytes = read_file(path, limit);
  return {bytes.begin(), bytes.end()};
}

void write_file_atomically(const fs::path& path, const std::vector<std::span<const uint8_t>>& parts,
                           const std::function<void()>& before_rename) {
  const fs::path temporary = temporary_name(path);
  const auto give_up = [&](const char* what) {
    const std::string reason = system_message();
    ::unlink(temporary.c_str());
    fail("{}: cannot be {}: {}", path.string(), what, reason);
  };
  Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (file.get() < 0) fail("{}: cannot be created: {}", path.string(), system_message());
  for (const auto part : parts) {
    if (!write_all(file.get(), part.data(), part.size())) give_up("written");
  }
  if (::fsync(file.get()) != 0) give_up("flushed to disk");
  if (!file.close()) give_up("closed");
  if (before_rename) before_rename();
  if (::rename(temporary.c_str(), path.c_str()) != 0) give_up("put in place");
  sync_directory(path.parent_path());
}

void write_text_atomically(const fs::path& path, std::string_view text) {
  write_file_atomically(path, {{reinterpret_cast<const uint8_t*>(text.data()), text.size()}});
}

void replace_with_link(const fs::path& existing, const fs::path& name) {
  const fs::path temporary = temporary_name(name);
  ::unlink(temporary.c_str());
  if (::link(existing.c_str(), temporary.c_str()) != 0 ||
      ::rename(temporary.c_str(), name.c_str()) != 0) {
    const std::string reason = system_message();
    ::unlink(temporary.c_str());
    fail("{}: cannot be linked to {}: {}", name.string(), existing.string(), reason);
  }
  // If both names already refer to the same file, rename does nothing and leaves the temporary.
  ::unlink(temporary.c_str());
}

LineLog::LineLog(fs::path path, uint64_t keep_bytes)
    : path_(std::move(path)),
      descriptor_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644)),
      bytes_(keep_bytes) {
  if (descriptor_ < 0) fail("{}: cannot be opened: {}", path_.string(), system_message());
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0 || static_cast<uint64_t>(status.st_size) < keep_bytes) {
    ::close(descriptor_);
    fail("{}: holds {} bytes, expected at least {}", path_.string(),
         static_cast<int64_t>(status.st_size), keep_bytes);
  }
  if (::ftruncate(descriptor_, static_cast<off_t>(keep_bytes)) != 0 ||
      ::lseek(descriptor_, 0, SEEK_END) < 0) {
    const std::string reason = system_message();
    ::close(descriptor_);
    fail("{}: cannot be cut to {} bytes: {}", path_.string(), keep_bytes, reason);
  }
}

LineLog::~LineLog() { ::close(descriptor_); }

void LineLog::append(std::string_view line) {
  std::string text(line);
  text += '\n';
  if (!write_all(descriptor_, text.data(), text.size())) {
    fail("{}: cannot be written: {}", path_.string(), system_message());
  }
  bytes_ += text.size();
}

void LineLog::sync() {
  if (::fdatasync(descriptor_) != 0) {
    fail("{}: cannot be flushed to disk: {}", path_.string(), system_message());
  }
}

}  // namespace bntt
