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

/// A checksum in lower-case hexadecimal digits. MD5 detects accidental damage, not forgery; it is
/// supported because most publishers give it.
struct Checksum {
  DigestKind kind = DigestKind::sha256;
  std::string hex;
  bool operator==(const Checksum&) const = default;
};

std::string_view digest_name(DigestKind kind);

/// A checksum of bytes that arrive in pieces.
class Digest {
 public:
  explicit Digest(DigestKind kind);
  Digest(Digest&&) noexcept;
  Digest& operator=(Digest&&) noexcept;
  ~Digest();

  void add(std::span<const uint8_t> bytes);
  /// May be called only once.
  Checksum finish();

 private:
  struct State;
  DigestKind kind_;
  std::unique_ptr<State> state_;
};

Checksum checksum_of(DigestKind kind, std::span<const uint8_t> bytes);

/// Called with the bytes done and the total (0: unknown); the operation stops if it returns true.
using ByteProgress = std::function<bool(uint64_t done, uint64_t all)>;

/// Empty if `progress` stopped it. Throws Error for a file that cannot be read.
std::optional<Checksum> file_checksum(DigestKind kind, const std::filesystem::path& path,
                                      const ByteProgress& progress = {});

}  // namespace bntt
