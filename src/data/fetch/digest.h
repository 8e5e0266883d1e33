#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace bntt {

enum class DigestKind { md5, sha256 };

/// A checksum in lower-case hexadecimal digits. MD5 finds accidents, not forgers: it is here
/// because it is what most publishers give.
struct Checksum {
  DigestKind kind = DigestKind::sha256;
  std::string hex;
  bool operator==(const Checksum&) const = default;
};

std::string_view digest_name(DigestKind kind);

/// A checksum of bytes that arrive piece by piece.
class Digest {
 public:
  explicit Digest(DigestKind kind);
  Digest(Digest&&) noexcept;
  Digest& operator=(Digest&&) noexcept;
  ~Digest();

  void add(std::span<const uint8_t> bytes);
  /// To be called once.
  Checksum finish();

 private:
  struct State;
  DigestKind kind_;
  std::unique_ptr<State> state_;
};

Checksum checksum_of(DigestKind kind, std::span<const uint8_t> bytes);

/// Called with the bytes done and the bytes in all (0: not known); a true answer asks to stop.
using ByteProgress = std::function<bool(uint64_t done, uint64_t all)>;

/// Nothing when `progress` asked to stop. Throws Error for a file that cannot be read.
std::optional<Checksum> file_checksum(DigestKind kind, const std::filesystem::path& path,
                                      const ByteProgress& progress = {});

}  // namespace bntt
