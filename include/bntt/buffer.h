#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace bntt {

/// Plain numbers on a cache-line boundary, so that SIMD loads never split a line.
/// Contents start undefined; `zeros` and `fill` define them.
template <typename T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  static constexpr std::size_t kAlignment = 64;

  Buffer() = default;
  explicit Buffer(int64_t size) : size_(size), data_(allocate(size)) {}
  Buffer(const Buffer& other) : Buffer(other.size_) {
    std::copy_n(other.data_, other.size_, data_);
  }
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer other) noexcept {
    swap(other);
    return *this;
  }
  ~Buffer() { std::free(data_); }

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
    const std::size_t bytes = static_cast<std::size_t>(size) * sizeof(T);
    const std::size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    void* memory = std::aligned_alloc(kAlignment, rounded);
    if (memory == nullptr) throw std::bad_alloc();
    return static_cast<T*>(memory);
  }
  void swap(Buffer& other) noexcept {
    std::swap(size_, other.size_);
    std::swap(data_, other.data_);
  }

  int64_t size_ = 0;
  T* data_ = nullptr;
};

}  // namespace bntt
