#pragma once

#include <cstdint>
#include <span>
#include <string_view>

// Shared by the parsers of event files.
namespace bntt {

inline uint32_t big_endian32(const uint8_t* bytes) {
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
}

inline uint32_t little_endian16(const uint8_t* bytes) { return uint32_t{bytes[1]} << 8 | bytes[0]; }

inline uint32_t little_endian32(const uint8_t* bytes) {
  return uint32_t{bytes[3]} << 24 | uint32_t{bytes[2]} << 16 | uint32_t{bytes[1]} << 8 | bytes[0];
}

/// Undoes the wrap-around of a counter with this many bits: each step is taken the shorter way
/// around, so that small backward steps, which cameras do make, stay small.
class UnwrappedCounter {
 public:
  explicit UnwrappedCounter(int bits) : circle_(int64_t{1} << bits) {}

  int64_t operator()(int64_t counter) {
    int64_t step = (counter - last_) % circle_;
    if (step < -circle_ / 2) step += circle_;
    if (step >= circle_ / 2) step -= circle_;
    time_ = started_ ? time_ + step : counter;
    started_ = true;
    last_ = counter;
    return time_;
  }

 private:
  int64_t circle_;
  int64_t last_ = 0;
  int64_t time_ = 0;
  bool started_ = false;
};

inline std::string_view text_of(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The position after the newline that ends the line at `begin`, or the end of the text.
inline std::size_t next_line(std::string_view text, std::size_t begin) {
  const std::size_t end = text.find('\n', begin);
  return end == std::string_view::npos ? text.size() : end + 1;
}

}  // namespace bntt
