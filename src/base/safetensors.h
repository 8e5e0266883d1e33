#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "bntt/buffer.h"

namespace bntt {

enum class TensorType { f64, f32, f16, bf16, i64, i32, i16, i8, u64, u32, u16, u8, boolean };

struct Tensor {
  std::string name;
  TensorType type = TensorType::f32;
  std::vector<int64_t> shape;
  Buffer<uint8_t> bytes;  ///< little-endian, row-major

  /// The values; throws Error if the type is different.
  std::span<const float> floats() const;
  std::span<const int64_t> integers() const;
  std::span<const int8_t> small_integers() const;
};

Tensor float_tensor(std::string name, std::vector<int64_t> shape, std::span<const float> values);
Tensor integer_tensor(std::string name, std::vector<int64_t> shape,
                      std::span<const int64_t> values);

Tensor small_integer_tensor(std::string name, std::vector<int64_t> shape,
                            std::span<const int8_t> values);

/// The contents of a safetensors file: named tensors in order, and strings as metadata.
struct TensorFile {
  std::map<std::string, std::string> metadata;
  std::vector<Tensor> tensors;

  /// Null if there is none with this name.
  const Tensor* find(std::string_view name) const;
};

inline constexpr const char* kChecksumKey = "bntt.crc32";

struct TensorWriteOptions {
  std::function<void()> before_rename;  ///< see write_file_atomically
  bool checksum = true;                 ///< put a CRC-32 of everything else into the metadata
};

struct TensorReadOptions {
  bool require_checksum =
      false;  ///< files of ours have one; a checksum that exists is always verified
  uint64_t max_bytes = uint64_t{1} << 36;
};

/// The same contents give the same bytes. The checksum of an earlier read is removed from the
/// metadata.
void write_tensors(const std::filesystem::path& path, const TensorFile& file,
                   const TensorWriteOptions& options = {});
std::vector<uint8_t> format_tensors(const TensorFile& file, const TensorWriteOptions& options = {});

/// Files are untrusted: memory stays within a small multiple of the file's size. Throws an Error
/// that begins with the name of the file or `origin`. The metadata does not include the checksum.
TensorFile read_tensors(const std::filesystem::path& path, const TensorReadOptions& options = {});
TensorFile parse_tensors(std::span<const uint8_t> bytes, const std::string& origin,
                         const TensorReadOptions& options = {});

}  // namespace bntt
