#include "fetch/get.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <map>
#include <system_error>

#include "base/descriptor.h"
#include "base/fail.h"
#include "base/files.h"
#include "base/json.h"
#include "fetch/unpack.h"

namespace bntt {
namespace fs = std::filesystem;
namespace {

/// The target directory, used by one program at a time.
class Workplace {
 public:
  explicit Workplace(const fs::path& directory) : directory_(directory) {
    std::error_code error;
    created_ = fs::create_directories(directory, error);
    lock_ = Descriptor(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (error || lock_.get() < 0) {
      fail("{}: cannot be created as a directory: {}", directory.string(),
           error ? error.message() : system_message());
    }
    if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) {
      fail("{}: another bntt data get is already using this directory", directory.string());
    }
  }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;
  ~Workplace() {
    std::error_code not_empty;
    if (created_) fs::remove(directory_, not_empty);
  }

 private:
  fs::path directory_;
  bool created_ = false;
  Descriptor lock_;
};

/// Checksums of first downloads, by file name.
class RecordedChecksums {
 public:
  explicit RecordedChecksums(const fs::path& directory) : path_(directory / kRecordedChecksums) {
    std::error_code missing;
    if (!fs::exists(path_, missing)) return;
    const Json json = parse_json(read_text(path_), path_.string());
    if (!json.is_object()) refuse();
    for (const auto& [name, value] : json.items()) {
      if (!value.is_string()) refuse();
      hex_[name] = value.get<std::string>();
    }
  }

  std::optional<Checksum> find(const std::string& name) const {
    const auto found = hex_.find(name);
    if (found == hex_.end()) return std::nullopt;
    return Checksum{DigestKind::sha256, found->second};
  }

  void add(const std::string& name, const Checksum& checksum) {
    hex_[name] = checksum.hex;
    Json json = Json::object();
    for (const auto& [file, hex] : hex_) json[file] = hex;
    write_text_atomically(path_, json.dump(2) + "\n");
  }

 private:
  [[noreturn]] void refuse() const {
    fail("{}: expected a table of file names and SHA-256 checksums", path_.string());
  }

  fs::path path_;
  std::map<std::string, std::string> hex_;
};

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

class Fetch {
 public:
  Fetch(const DataSource& source, const fs::path& directory, const GetOptions& options)
      : source_(source), directory_(directory), options_(options), recorded_(directory) {}

  GetResult run() {
    GetResult result;
    for (const SourceFile& file : source_.files) {
      GotFile got{.name = file.is_archive() ? file.folder : file.name};
      if (!get(file, got)) {
        result.stopped = true;
        break;
      }
      result.files.push_back(got);
    }
    return result;
  }

 private:
  ByteProgress told(const SourceFile& file, GetPhase phase) const {
    return [this, &file, phase](uint64_t done, uint64_t all) {
      return options_.progress && options_.progress({file.name, phase, done, all});
    };
  }

  /// Returns false if it was stopped.
  bool get(const SourceFile& file, GotFile& got) {
    const fs::path path = directory_ / file.name;
    if (file.is_archive() && is_there(directory_ / file.folder)) {
      got.already_there = true;
      return true;
    }
    const bool had_it = is_there(path);
    if (!(had_it ? verify(file, path) : fetch(file, path, got))) return false;
    if (!file.is_archive()) {
      got.already_there = had_it;
      return true;
    }
    const UnpackResult unpacked =
        unpack(path, directory_,
               {.folder = file.folder,
                .limits = {static_cast<uint64_t>(file.max_entries),
                           static_cast<uint64_t>(file.max_unpacked_bytes)},
                .progress = told(file, GetPhase::unpack)});
    if (unpacked.stopped) return false;
    got.unpacked_files = unpacked.files;
    std::error_code ignored;
    // An archive that we did not fetch belongs to the user.
    if (!had_it && !options_.keep_archives) fs::remove(path, ignored);
    return true;
  }

  std::optional<Checksum> expected(const SourceFile& file) const {
    const std::optional<Checksum> published = file.checksum();
    return published ? published : recorded_.find(file.name);
  }

  bool verify(const SourceFile& file, const fs::path& path) {
    const std::optional<Checksum> wanted = expected(file);
    const DigestKind kind = wanted ? wanted->kind : DigestKind::sha256;
    const std::optional<Checksum> found = file_checksum(kind, path, told(file, GetPhase::verify));
    if (!found) return false;
    if (!wanted) recorded_.add(file.name, *found);
    if (wanted && *found != *wanted) {
      fail("{}: has the {} {}, expected {}; remove it to download it again", path.string(),
           digest_name(kind), found->hex, wanted->hex);
    }
    return true;
  }

  bool fetch(const SourceFile& file, const fs::path& path, GotFile& got) {
    if (file.url.empty()) {
      fail("{}: {} is not in {} and cannot be downloaded automatically: {} ({})", source_.dataset,
           file.name, directory_.string(),
           source_.instructions.empty() ? "its source has no URL" : source_.instructions,
           source_.page);
    }
    DownloadOptions options = options_.download;
    options.progress = told(file, GetPhase::download);
    const DownloadResult result = download({.url = file.url,
                                            .path = path,
                                            .bytes = static_cast<uint64_t>(file.bytes),
                                            .max_bytes = static_cast<uint64_t>(file.max_bytes),
                                            .checksum = expected(file)},
                                           options);
    if (result.stopped) return false;
    got.bytes = result.bytes;
    got.resumed_from = result.resumed_from;
    if (!file.checksum()) {
      recorded_.add(file.name, result.checksum);
      got.recorded = result.checksum;
    }
    return true;
  }

  const DataSource& source_;
  const fs::path& directory_;
  const GetOptions& options_;
  RecordedChecksums recorded_;
};

}  // namespace

GetResult get_dataset(const DataSource& source, const fs::path& directory,
                      const GetOptions& options) {
  const Workplace workplace(directory);
  return Fetch(source, directory, options).run();
}

}  // namespace bntt
