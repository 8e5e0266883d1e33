#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "bntt/api.h"

namespace bntt {

/// The alignment of every buffer in bytes: a cache line.
inline constexpr std::size_t kBufferAlignment = 64;

/// Allocates memory with that alignment, contents undefined; large buffers get blocks of their own,
/// which are reused. Throws std::bad_alloc. Thread-safe, as are the next two.
BNTT_API void* allocate_buffer(std::size_t bytes);
/// The size in bytes of `count` numbers. Throws Error for a negative count, std::bad_alloc for one
/// that no memory can hold.
BNTT_API std::size_t buffer_bytes(int64_t count, std::size_t bytes_each);
/// Frees what allocate_buffer returned for the same number of bytes, which is not checked. Null is
/// allowed.
BNTT_API void free_buffer(void* memory, std::size_t bytes) noexcept;

/// Plain numbers on a cache-line boundary. Initially undefined; `zeros` and `fill` define them.
/// Indices are not checked, and iterators are plain pointers. Threads may share a buffer as they
/// may a std::vector.
template <typename T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Buffer() = default;
  /// Throws Error for a negative size.
  explicit Buffer(int64_t size) : size_(size), data_(allocate(size)) {}
  /// A copy with memory of its own.
  Buffer(const Buffer& other) : Buffer(other.size_) {
    std::copy_n(other.data_, other.size_, data_);
  }
  /// Leaves the other one empty.
  Buffer(Buffer&& other) noexcept { swap(other); }
  /// Copies or moves.
  Buffer& operator=(Buffer other) noexcept {
    swap(other);
    return *this;
  }
  ~Buffer() {
    if (data_ != nullptr) free_buffer(data_, bytes(size_));
  }

  /// Throws Error for a negative size.
  static Buffer zeros(int64_t size) {
    Buffer buffer(size);
    buffer.fill(T{});
    return buffer;
  }

  /// Sets all numbers.
  void fill(T value) { std::fill_n(data_, size_, value); }

  int64_t size() const { return size_; }     ///< how many numbers there are
  bool empty() const { return size_ == 0; }  ///< whether there are none

  /// The first number, or null if there is none.
  /// @{
  T* data() { return data_; }
  const T* data() const { return data_; }
  /// @}
  /// Not checked: `i` must be 0 to size() − 1.
  /// @{
  T& operator[](int64_t i) { return data_[i]; }
  const T& operator[](int64_t i) const { return data_[i]; }
  /// @}
  /// For loops and algorithms.
  /// @{
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  /// @}
  /// All numbers; valid as long as the buffer.
  /// @{
  std::span<T> span() { return {data_, static_cast<std::size_t>(size_)}; }
  std::span<const T> span() const { return {data_, static_cast<std::size_t>(size_)}; }
  /// @}

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
