#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace bntt {
namespace fs = std::filesystem;
namespace {

// The mapping outlives its descriptor.
std::span<uint8_t> map_and_close(int descriptor, uint64_t size, int protection) {
  void* memory = ::mmap(nullptr, size, protection, MAP_SHARED, descriptor, 0);
  ::close(descriptor);
  if (memory == MAP_FAILED) return {};
  return {static_cast<uint8_t*>(memory), size};
}

}  // namespace

std::unique_ptr<MappedFile> MappedFile::open(const fs::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return nullptr;
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0) {
    ::close(descriptor);
    return nullptr;
  }
  const std::span<uint8_t> bytes =
      map_and_close(descriptor, static_cast<uint64_t>(status.st_size), PROT_READ);
  if (bytes.empty()) return nullptr;
  return std::unique_ptr<MappedFile>(new MappedFile(bytes));
}

std::unique_ptr<MappedFile> MappedFile::create(const fs::path& path, uint64_t size) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (descriptor < 0) return nullptr;
  std::span<uint8_t> bytes;
  if (size > 0 && ::posix_fallocate(descriptor, 0, static_cast<off_t>(size)) == 0) {
    bytes = map_and_close(descriptor, size, PROT_READ | PROT_WRITE);
  } else {
    ::close(descriptor);
  }
  if (bytes.empty()) {
    ::unlink(path.c_str());
    return nullptr;
  }
  return std::unique_ptr<MappedFile>(new MappedFile(bytes));
}

MappedFile::~MappedFile() { ::munmap(bytes_.data(), bytes_.size()); }

bool MappedFile::sync() const { return ::msync(bytes_.data(), bytes_.size(), MS_SYNC) == 0; }

}  // namespace bntt
