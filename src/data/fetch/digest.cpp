#include "fetch/digest.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <fstream>
#include <system_error>
#include <vector>

#include "base/check.h"
#include "base/fail.h"

namespace bntt {
namespace fs = std::filesystem;

struct Digest::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { EVP_MD_CTX_free(context); }
};

std::string_view digest_name(DigestKind kind) { return kind == DigestKind::md5 ? "md5" : "sha256"; }

Digest::Digest(DigestKind kind) : kind_(kind), state_(std::make_unique<State>()) {
  const EVP_MD* method = kind == DigestKind::md5 ? EVP_md5() : EVP_sha256();
  if (state_->context == nullptr || EVP_DigestInit_ex(state_->context, method, nullptr) != 1) {
    fail("this machine's OpenSSL refuses to compute {} checksums", digest_name(kind));
  }
}
Digest::Digest(Digest&&) noexcept = default;
Digest& Digest::operator=(Digest&&) noexcept = default;
Digest::~Digest() = default;

void Digest::add(std::span<const uint8_t> bytes) {
  BNTT_CHECK(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1);
}

Checksum Digest::finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned int size = 0;
  BNTT_CHECK(EVP_DigestFinal_ex(state_->context, bytes.data(), &size) == 1);
  Checksum checksum{.kind = kind_, .hex = {}};
  for (unsigned int i = 0; i < size; ++i) checksum.hex += fmt::format("{:02x}", bytes.at(i));
  return checksum;
}

Checksum checksum_of(DigestKind kind, std::span<const uint8_t> bytes) {
  Digest digest(kind);
  digest.add(bytes);
  return digest.finish();
}

std::optional<Checksum> file_checksum(DigestKind kind, const fs::path& path,
                                      const ByteProgress& progress) {
  std::error_code unknown;
  const uint64_t all = fs::file_size(path, unknown);
  std::ifstream file(path, std::ios::binary);
  if (unknown || !file) fail("{}: cannot be opened", path.string());
  Digest digest(kind);
  std::vector<uint8_t> piece(1U << 20);
  for (uint64_t done = 0; file;) {
    file.read(reinterpret_cast<char*>(piece.data()), static_cast<std::streamsize>(piece.size()));
    const auto got = static_cast<std::size_t>(file.gcount());
    digest.add({piece.data(), got});
    done += got;
    if (progress && progress(done, all)) return std::nullopt;
  }
  if (file.bad()) fail("{}: cannot be read", path.string());
  return digest.finish();
}

}  // namespace bntt
