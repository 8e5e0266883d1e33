#include "fetch/unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/descriptor.h"
#include "base/fail.h"
#include "base/text.h"

namespace bntt {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kDeepest = 16;
constexpr std::size_t kBlock = 1U << 16;

using Reader = std::unique_ptr<archive, decltype(&archive_read_free)>;

/// A directory that is removed with its contents unless it has been renamed by then.
class StagingFolder {
 public:
  explicit StagingFolder(fs::path path) : path_(std::move(path)) {
    std::error_code error;
    fs::remove_all(path_, error);  // left by a program that was killed
    if (!fs::create_directory(path_, error)) {
      fail("{}: cannot be created: {}", path_.string(), error.message());
    }
  }
  StagingFolder(const StagingFolder&) = delete;
  StagingFolder& operator=(const StagingFolder&) = delete;
  ~StagingFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

class Unpacker {
 public:
  Unpacker(const fs::path& archive, const fs::path& staging, const UnpackOptions& options)
      : archive_(archive),
        staging_(staging),
        options_(options),
        reader_(archive_read_new(), archive_read_free) {
    if (reader_ == nullptr) fail("{}: libarchive cannot be started", archive.string());
    // No other formats: each is a parser that an untrusted file could reach. Both formats read
    // their archive to the last byte (the directory of a zip, the checksum of a gzip), so that a
    // truncated one is detected.
    archive_read_support_filter_gzip(reader_.get());
    archive_read_support_format_tar(reader_.get());
    archive_read_support_format_zip_seekable(reader_.get());
    archive_read_set_options(reader_.get(), "tar:read_concatenated_archives");
    std::error_code unknown;
    archive_bytes_ = fs::file_size(archive, unknown);
    if (archive_read_open_filename(reader_.get(), archive.c_str(), kBlock) != ARCHIVE_OK) {
      damaged();
    }
  }

  UnpackResult run() {
    archive_entry* entry = nullptr;
    uint64_t entries = 0;
    while (!result_.stopped) {
      const int status = archive_read_next_header(reader_.get(), &entry);
      if (status == ARCHIVE_EOF) return result_;
      if (status != ARCHIVE_OK && status != ARCHIVE_WARN) damaged();
      if (++entries > options_.limits.entries) {
        fail("{}: holds more than the {} entries that are accepted", archive_.string(),
             options_.limits.entries);
      }
      take(entry);
      report();
    }
    return result_;
  }

 private:
  [[noreturn]] void damaged() const {
    const char* reason = archive_error_string(reader_.get());
    fail("{}: cannot be unpacked: {}", archive_.string(),
         reason != nullptr ? excerpt(reason) : "the archive is damaged");
  }

  void report() {
    const auto done = static_cast<uint64_t>(archive_filter_bytes(reader_.get(), -1));
    if (options_.progress && options_.progress(done, archive_bytes_)) result_.stopped = true;
  }

  /// The names from the top folder on; throws for a path that could lead outside it.
  std::vector<std::string> names_of(archive_entry* entry) const {
    const char* path = archive_entry_pathname(entry);
    if (path == nullptr || *path == '\0') {
      fail("{}: holds an entry without a name", archive_.string());
    }
    std::string_view rest = path;
    if (rest.starts_with('/')) refuse(rest, "an absolute path");
    std::vector<std::string> names;
    while (!rest.empty()) {
      const std::string_view name = rest.substr(0, rest.find('/'));
      if (name == "..") refuse(path, "a path that leaves its folder");
      if (!name.empty() && name != ".") names.emplace_back(name);
      rest.remove_prefix(std::min(rest.size(), name.size() + 1));
    }
    if (names.size() > kDeepest) refuse(path, "a path with too many folders");
    return names;
  }

  [[noreturn]] void refuse(std::string_view path, std::string_view what) const {
    fail("{}: holds '{}', {}, expected only files and folders inside '{}'", archive_.string(),
         excerpt(path), what, options_.folder);
  }

  void take(archive_entry* entry) {
    const std::vector<std::string> names = names_of(entry);
    const char* path = archive_entry_pathname(entry);
    if (archive_entry_hardlink(entry) != nullptr || archive_entry_symlink(entry) != nullptr) {
      refuse(path, "a link");
    }
    const auto type = archive_entry_filetype(entry);
    if (type != AE_IFREG && type != AE_IFDIR) refuse(path, "neither file nor folder");
    if (names.empty() || names.front() != options_.folder) {
      if (type == AE_IFREG) pour(nullptr, {});
      return;
    }
    fs::path target = staging_;
    for (const std::string& name : names) target /= name;
    std::error_code error;
    fs::create_directories(type == AE_IFDIR ? target : target.parent_path(), error);
    if (error) cannot_write(target, error.message());
    if (type == AE_IFREG) take_file(target, path);
  }

  [[noreturn]] void cannot_write(const fs::path& target, const std::string& reason) const {
    fail("{}: '{}' cannot be written: {}", archive_.string(),
         excerpt(target.lexically_relative(staging_).string()), reason);
  }

  // The staging directory contains no links, and no name is opened twice.
  void take_file(const fs::path& target, const char* path) {
    Descriptor file(
        ::open(target.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
    if (file.get() < 0 && errno == EEXIST) refuse(path, "a path that occurs twice");
    if (file.get() < 0) cannot_write(target, system_message());
    pour(&file, target);
    if (!file.close()) cannot_write(target, system_message());
    ++result_.files;
  }

  // The size that an entry announces is not trusted: bytes are counted as they arrive, including
  // those that are skipped (no `file`).
  void pour(const Descriptor* file, const fs::path& target) {
    std::array<char, kBlock> block{};
    while (!result_.stopped) {
      const la_ssize_t got = archive_read_data(reader_.get(), block.data(), block.size());
      if (got < 0) damaged();
      if (got == 0) return;
      result_.bytes += static_cast<uint64_t>(got);
      if (result_.bytes > options_.limits.bytes) {
        fail("{}: unpacks to more than the {} bytes that are accepted", archive_.string(),
             options_.limits.bytes);
      }
      if (file != nullptr && !write_all(file->get(), block.data(), static_cast<std::size_t>(got))) {
        cannot_write(target, system_message());
      }
      report();
    }
  }

  const fs::path& archive_;
  const fs::path& staging_;
  const UnpackOptions& options_;
  Reader reader_;
  uint64_t archive_bytes_ = 0;
  UnpackResult result_;
};

// One call for all files: a hundred thousand of them would take minutes one by one.
void sync_file_system(const fs::path& directory) {
  const Descriptor handle(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (handle.get() < 0 || ::syncfs(handle.get()) != 0) {
    fail("{}: cannot be flushed to disk: {}", directory.string(), system_message());
  }
}

}  // namespace

UnpackResult unpack(const fs::path& archive, const fs::path& directory,
                    const UnpackOptions& options) {
  const fs::path target = directory / options.folder;
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(target, ignored))) {
    fail("{}: already exists, but {} unpacks to that name", target.string(),
         archive.filename().string());
  }
  const StagingFolder staging(directory / ".unpacking");
  const UnpackResult result = Unpacker(archive, staging.path(), options).run();
  if (result.stopped) return result;
  const fs::path whole = staging.path() / options.folder;
  if (!fs::is_directory(whole, ignored)) {
    fail("{}: holds no folder '{}'", archive.string(), options.folder);
  }
  sync_file_system(staging.path());
  if (::rename(whole.c_str(), target.c_str()) != 0) {
    fail("{}: cannot be put in place: {}", target.string(), system_message());
  }
  sync_directory(directory);
  return result;
}

}  // namespace bntt
