#include "fetch/part_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <system_error>

#include "base/fail.h"
#include "base/fields.h"
#include "base/files.h"
#include "base/json.h"

namespace bntt {
namespace fs = std::filesystem;

template <class Visitor>
void visit_fields(Visitor& visit, PartOrigin& origin) {
  visit("url", origin.url);
  visit("validator", origin.validator);
}

namespace {

constexpr uint64_t kLargestNote = 1U << 16;

// If a note cannot be read, only the bytes it describes have to be fetched again.
PartOrigin read_note(const fs::path& path) {
  std::error_code missing;
  if (!fs::is_regular_file(path, missing)) return {};
  try {
    PartOrigin origin;
    read_fields(parse_json(read_text(path, kLargestNote), path.string()), origin, path.string());
    return origin;
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

PartFile::PartFile(const fs::path& path)
    : final_(path),
      part_(path.string() + ".part"),
      note_(path.string() + ".part.json"),
      file_(::open(part_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0644)),
      origin_(read_note(note_)) {
  if (file_.get() < 0) fail("{}: cannot be opened: {}", part_.string(), system_message());
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    fail("{}: is not a regular file", part_.string());
  }
  size_ = static_cast<uint64_t>(status.st_size);
}

void PartFile::restart(const PartOrigin& origin) {
  if (::ftruncate(file_.get(), 0) != 0) {
    fail("{}: cannot be cut: {}", part_.string(), system_message());
  }
  size_ = 0;
  origin_ = origin;
  write_text_atomically(note_, write_fields(origin).dump() + "\n");
}

void PartFile::append(std::span<const uint8_t> bytes) {
  if (!write_all(file_.get(), bytes.data(), bytes.size())) {
    fail("{}: cannot be written: {}", part_.string(), system_message());
  }
  size_ += bytes.size();
}

void PartFile::complete() {
  if (::fsync(file_.get()) != 0 || ::rename(part_.c_str(), final_.c_str()) != 0) {
    fail("{}: cannot be put in place: {}", final_.string(), system_message());
  }
  std::error_code ignored;
  fs::remove(note_, ignored);
  sync_directory(final_.parent_path());
}

void PartFile::remove() {
  std::error_code ignored;
  fs::remove(part_, ignored);
  fs::remove(note_, ignored);
  size_ = 0;
}

}  // namespace bntt
