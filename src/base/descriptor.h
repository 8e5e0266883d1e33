#pragma once

#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>

namespace bntt {

/// An open file descriptor, closed by the destructor.
class Descriptor {
 public:
  explicit Descriptor(int value = -1) : value_(value) {}
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  int get() const { return value_; }
  bool close() {
    const int value = std::exchange(value_, -1);
    return ::close(value) == 0;
  }

 private:
  int value_;
};

/// The message for errno.
std::string system_message();

/// Returns false, with errno set, if not everything could be written.
bool write_all(int descriptor, const void* data, std::size_t size);

/// A rename is on disk only after its directory is.
void sync_directory(const std::filesystem::path& directory);

}  // namespace bntt
