#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "bntt/api.h"

namespace bntt {

inline constexpr std::size_t kBufferAlignment = 64;

/// Allocates memory with that alignment, contents undefined; large buffers get blocks of their own,
/// which are reused. Throws std::bad_alloc.
BNTT_API void* allocate_buffer(std::size_t bytes);
/// The size in bytes of `count` numbers. Throws Error for a negative count, std::bad_alloc for one
/// that no memory can hold.
BNTT_API std::size_t buffer_bytes(int64_t count, std::size_t bytes_each);
BNTT_API void free_buffer(void* memory, std::size_t bytes) noexcept;

/// Plain numbers on a cache-line boundary. Initially undefined; `zeros` and `fill` define them.
/// Indices are not checked. Threads may share a buffer as they may a std::vector.
template <typename T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Buffer() = default;
  /// Throws Error for a negative size.
  explicit Buffer(int64_t size) : size_(size), data_(allocate(size)) {}
  Buffer(const Buffer& other) : Buffer(other.size_) {
    std::copy_n(other.data_, other.size_, data_);
  }
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer other) noexcept {
    swap(other);
    return *this;
  }
  ~Buffer() {
    if (data_ != nullptr) free_buffer(data_, bytes(size_));
  }

  static Buffer zeros(int64_t size) {
    Buffer buffer(size);
    buffer.fill(T{});
    return buffer;
  }

  void fill(T value) { std::fill_n(data_, size_, value); }

  int64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](int64_t i) { return data_[i]; }
  const T& operator[](int64_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  std::span<T> span() { return {data_, static_cast<std::size_t>(size_)}; }
  std::span<const T> span() const { return {data_, static_cast<std::size_t>(size_)}; }

 private:
  static T* allocate(int64_t size) {
    if (size == 0) return nullptr;
    return static_cast<T*>(allocate_buffer(buffer_bytes(size, sizeof(T))));
  }
  static std::size_t bytes(int64_t size) { return static_cast<std::size_t>(size) * sizeof(T); }
  void swap(Buffer& other) noexcept {
    std::swap(size_, other.size_);
    std::swap(data_, other.data_);
  }

  int64_t size_ = 0;
  T* data_ = nullptr;
};

}  // namespace bntt
