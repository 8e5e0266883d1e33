#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace bntt {

/// Immutable bytes, in memory or in a mapped file; copies share them.
class SharedBytes {
 public:
  using value_type = uint8_t;
  using const_iterator = const uint8_t*;

  SharedBytes() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a finished vector converts naturally.
  SharedBytes(std::vector<uint8_t> bytes) {
    auto owner = std::make_shared<const std::vector<uint8_t>>(std::move(bytes));
    bytes_ = *owner;
    owner_ = std::move(owner);
  }
  /// `owner` keeps `bytes` alive.
  SharedBytes(std::shared_ptr<const void> owner, std::span<const uint8_t> bytes)
      : owner_(std::move(owner)), bytes_(bytes) {}

  const uint8_t* data() const { return bytes_.data(); }
  std::size_t size() const { return bytes_.size(); }
  bool empty() const { return bytes_.empty(); }
  uint8_t operator[](std::size_t i) const { return bytes_[i]; }
  const uint8_t* begin() const { return bytes_.data(); }
  const uint8_t* end() const { return bytes_.data() + bytes_.size(); }
  SharedBytes first(std::size_t count) const { return {owner_, bytes_.first(count)}; }

 private:
  std::shared_ptr<const void> owner_;
  std::span<const uint8_t> bytes_;
};

}  // namespace bntt
