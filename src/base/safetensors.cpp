#include "base/safetensors.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <limits>
#include <set>
#include <string_view>

#include "base/check.h"
#include "base/crc32.h"
#include "base/descriptor.h"
#include "base/fail.h"
#include "base/fields.h"
#include "base/files.h"

namespace bntt {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr const char* kMetadata = "__metadata__";
constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kMaxHeaderBytes = std::size_t{1} << 26;
constexpr std::size_t kHeaderAlignment = 8;

struct TypeInfo {
  TensorType type;
  const char* name;
  int64_t bytes;
};
constexpr std::array kTypes = {
    TypeInfo{TensorType::f64, "F64", 8},      TypeInfo{TensorType::f32, "F32", 4},
    TypeInfo{TensorType::f16, "F16", 2},      TypeInfo{TensorType::bf16, "BF16", 2},
    TypeInfo{TensorType::i64, "I64", 8},      TypeInfo{TensorType::i32, "I32", 4},
    TypeInfo{TensorType::i16, "I16", 2},      TypeInfo{TensorType::i8, "I8", 1},
    TypeInfo{TensorType::u64, "U64", 8},      TypeInfo{TensorType::u32, "U32", 4},
    TypeInfo{TensorType::u16, "U16", 2},      TypeInfo{TensorType::u8, "U8", 1},
    TypeInfo{TensorType::boolean, "BOOL", 1},
};

const TypeInfo& info(TensorType type) {
  return *std::find_if(kTypes.begin(), kTypes.end(),
                       [&](const TypeInfo& known) { return known.type == type; });
}

template <typename T>
std::span<const T> typed(const Tensor& tensor, TensorType wanted) {
  if (tensor.type != wanted) {
    fail("tensor '{}' holds {} values, expected {}", excerpt(tensor.name), info(tensor.type).name,
         info(wanted).name);
  }
  return {reinterpret_cast<const T*>(tensor.bytes.data()),
          static_cast<std::size_t>(tensor.bytes.size()) / sizeof(T)};
}

template <typename T>
Tensor tensor_of(std::string name, TensorType type, std::vector<int64_t> shape,
                 std::span<const T> values) {
  int64_t size = 1;
  for (const int64_t extent : shape) size *= extent;
  BNTT_CHECK(size == static_cast<int64_t>(values.size()));
  Tensor tensor{std::move(name), type, std::move(shape),
                Buffer<uint8_t>(static_cast<int64_t>(values.size_bytes()))};
  if (!values.empty()) std::memcpy(tensor.bytes.data(), values.data(), values.size_bytes());
  return tensor;
}

std::span<const uint8_t> as_bytes(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

// Covers the header without the checksum, in canonical form with sorted keys and no spaces, and
// then the data: other programs may write the same header differently.
uint32_t checksum(nlohmann::json header, const std::vector<std::span<const uint8_t>>& data) {
  if (header.contains(kMetadata)) {
    header[kMetadata].erase(kChecksumKey);
    if (header[kMetadata].empty()) header.erase(kMetadata);
  }
  const std::string text = header.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  uint32_t sum = crc32(as_bytes(text));
  for (const auto part : data) sum = crc32(part, sum);
  return sum;
}

Json header_of(const std::map<std::string, std::string>& metadata,
               const std::vector<Tensor>& tensors) {
  Json header = Json::object();
  // Appended without the linear search of an assignment by key.
  auto& entries = header.get_ref<Json::object_t&>();
  if (!metadata.empty()) entries.emplace_back(kMetadata, metadata);
  std::set<std::string_view> names;
  int64_t offset = 0;
  for (const Tensor& tensor : tensors) {
    BNTT_CHECK(tensor.name != kMetadata && names.insert(tensor.name).second);
    const int64_t end = offset + tensor.bytes.size();
    entries.emplace_back(tensor.name, Json{{"dtype", info(tensor.type).name},
                                           {"shape", tensor.shape},
                                           {"data_offsets", {offset, end}}});
    offset = end;
  }
  return header;
}

// The length and the header, which precede the data.
std::string opening(const TensorFile& file, const std::vector<std::span<const uint8_t>>& data,
                    const TensorWriteOptions& options) {
  std::map<std::string, std::string> metadata = file.metadata;
  metadata.erase(kChecksumKey);
  if (options.checksum) {
    const uint32_t sum = checksum(header_of(metadata, file.tensors), data);
    metadata[kChecksumKey] = fmt::format("{:08x}", sum);
  }
  std::string text =
      header_of(metadata, file.tensors).dump(-1, ' ', false, Json::error_handler_t::replace);
  text.resize((text.size() + kHeaderAlignment - 1) / kHeaderAlignment * kHeaderAlignment, ' ');
  const uint64_t length = text.size();
  std::string result(kLengthBytes, '\0');
  std::memcpy(result.data(), &length, kLengthBytes);
  return result + text;
}

std::vector<std::span<const uint8_t>> data_of(const TensorFile& file) {
  std::vector<std::span<const uint8_t>> data;
  for (const Tensor& tensor : file.tensors) data.push_back(tensor.bytes.span());
  return data;
}

// Truncation is the most common kind of damage, and deserves its own sentence.
void expect_whole_file(const nlohmann::json& header, uint64_t file_bytes, uint64_t data_bytes,
                       const std::string& origin) {
  uint64_t described = 0;
  for (const auto& [name, value] : header.items()) {
    if (name == kMetadata || !value.is_object() || !value.contains("data_offsets")) continue;
    const nlohmann::json& offsets = value["data_offsets"];
    if (offsets.is_array() && offsets.size() == 2 && offsets[1].is_number_unsigned()) {
      described = std::max(described, offsets[1].get<uint64_t>());
    }
  }
  const uint64_t head_bytes = file_bytes - data_bytes;
  if (described > data_bytes && described <= std::numeric_limits<uint64_t>::max() - head_bytes) {
    fail("{}: was cut short: holds {} bytes, expected {}", origin, file_bytes,
         head_bytes + described);
  }
}

struct Entry {
  std::string name;
  TensorType type = TensorType::f32;
  std::vector<int64_t> shape;
  int64_t begin = 0;
  int64_t end = 0;
};

class HeaderReader {
 public:
  HeaderReader(const std::string& origin, int64_t data_bytes)
      : origin_(origin), data_bytes_(data_bytes) {}

  std::map<std::string, std::string> metadata(const nlohmann::json& value) const {
    if (!value.is_object()) fail("{}: {} is not an object", origin_, kMetadata);
    std::map<std::string, std::string> strings;
    for (const auto& [key, text] : value.items()) {
      if (!text.is_string()) {
        fail("{}: {} '{}' is not a string", origin_, kMetadata, excerpt(key));
      }
      strings.emplace(key, text.get<std::string>());
    }
    return strings;
  }

  Entry entry(const std::string& name, const nlohmann::json& value) const {
    const bool complete = value.is_object() && value.size() == 3 && value.contains("dtype") &&
                          value.contains("shape") && value.contains("data_offsets");
    if (!complete) wrong(name, "expected exactly dtype, shape and data_offsets");
    const TypeInfo& type = type_of(name, value["dtype"]);
    Entry entry{name, type.type, {}, 0, 0};
    entry.shape = whole_numbers(name, "shape", value["shape"]);
    const auto offsets = whole_numbers(name, "data_offsets", value["data_offsets"]);
    if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > data_bytes_) {
      wrong(name, fmt::format("data_offsets must be two, ascending and at most {}", data_bytes_));
    }
    entry.begin = offsets[0];
    entry.end = offsets[1];
    check_size(entry, type);
    return entry;
  }

  // The format allows no gaps and no overlaps.
  void check_layout(const std::vector<Entry>& sorted) const {
    int64_t expected = 0;
    for (const Entry& entry : sorted) {
      if (entry.begin != expected) {
        wrong(entry.name, fmt::format("data begin at {}, expected {}", entry.begin, expected));
      }
      expected = entry.end;
    }
    if (expected != data_bytes_) {
      fail("{}: holds {} bytes of data, but its tensors have {}", origin_, data_bytes_, expected);
    }
  }

 private:
  [[noreturn]] void wrong(const std::string& name, const std::string& what) const {
    fail("{}: tensor '{}': {}", origin_, excerpt(name), what);
  }

  const TypeInfo& type_of(const std::string& name, const nlohmann::json& value) const {
    for (const TypeInfo& known : kTypes) {
      if (value == known.name) return known;
    }
    wrong(name, fmt::format("unknown dtype {}", describe(Json(value))));
  }

  std::vector<int64_t> whole_numbers(const std::string& name, const char* what,
                                     const nlohmann::json& list) const {
    if (!list.is_array()) wrong(name, fmt::format("{} is not a list", what));
    std::vector<int64_t> numbers;
    for (const nlohmann::json& item : list) {
      const bool fits = item.is_number_unsigned() &&
                        item.get<uint64_t>() <= uint64_t{std::numeric_limits<int64_t>::max()};
      if (!fits) wrong(name, fmt::format("{} holds {}", what, describe(Json(item))));
      numbers.push_back(item.get<int64_t>());
    }
    return numbers;
  }

  void check_size(const Entry& entry, const TypeInfo& type) const {
    int64_t bytes = type.bytes;
    bool overflow = false;
    for (const int64_t extent : entry.shape) {
      overflow = overflow || __builtin_mul_overflow(bytes, extent, &bytes);
    }
    if (overflow || bytes != entry.end - entry.begin) {
      wrong(entry.name,
            fmt::format("{} bytes of data do not fit dtype and shape", entry.end - entry.begin));
    }
  }

  const std::string& origin_;
  int64_t data_bytes_;
};

void verify_checksum(const nlohmann::json& header,
                     const std::vector<std::span<const uint8_t>>& data,
                     std::map<std::string, std::string>& metadata, const std::string& origin,
                     const TensorReadOptions& options) {
  const auto found = metadata.find(kChecksumKey);
  if (found == metadata.end()) {
    if (options.require_checksum) fail("{}: has no checksum: not a checkpoint of bntt", origin);
    return;
  }
  const std::string computed = fmt::format("{:08x}", checksum(header, data));
  if (computed != found->second) {
    fail("{}: damaged: checksum is {}, expected {}", origin, computed, excerpt(found->second));
  }
  metadata.erase(found);
}

}  // namespace

std::span<const float> Tensor::floats() const { return typed<float>(*this, TensorType::f32); }
std::span<const int64_t> Tensor::integers() const { return typed<int64_t>(*this, TensorType::i64); }
std::span<const int8_t> Tensor::small_integers() const {
  return typed<int8_t>(*this, TensorType::i8);
}

Tensor float_tensor(std::string name, std::vector<int64_t> shape, std::span<const float> values) {
  return tensor_of(std::move(name), TensorType::f32, std::move(shape), values);
}

Tensor integer_tensor(std::string name, std::vector<int64_t> shape,
                      std::span<const int64_t> values) {
  return tensor_of(std::move(name), TensorType::i64, std::move(shape), values);
}

Tensor small_integer_tensor(std::string name, std::vector<int64_t> shape,
                            std::span<const int8_t> values) {
  return tensor_of(std::move(name), TensorType::i8, std::move(shape), values);
}

const Tensor* TensorFile::find(std::string_view name) const {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [&](const Tensor& tensor) { return tensor.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

void write_tensors(const std::filesystem::path& path, const TensorFile& file,
                   const TensorWriteOptions& options) {
  std::vector<std::span<const uint8_t>> parts = data_of(file);
  const std::string head = opening(file, parts, options);
  parts.insert(parts.begin(), as_bytes(head));
  write_file_atomically(path, parts, options.before_rename);
}

std::vector<uint8_t> format_tensors(const TensorFile& file, const TensorWriteOptions& options) {
  const std::vector<std::span<const uint8_t>> data = data_of(file);
  const std::string head = opening(file, data, options);
  std::vector<uint8_t> bytes(head.begin(), head.end());
  for (const auto part : data) bytes.insert(bytes.end(), part.begin(), part.end());
  return bytes;
}

namespace {

/// Reads a file from its first byte to its last, without a copy of the whole in memory.
class FileBytes {
 public:
  FileBytes(const std::filesystem::path& path, uint64_t limit)
      : origin_(path.string()), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (file_.get() < 0) fail("{}: cannot be opened: {}", origin_, system_message());
    struct stat status {};
    if (::fstat(file_.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
      fail("{}: is not a regular file", origin_);
    }
    size_ = static_cast<uint64_t>(status.st_size);
    if (size_ > limit) fail("{}: holds {} bytes, expected at most {}", origin_, size_, limit);
  }

  uint64_t size() const { return size_; }

  void read(std::span<uint8_t> out) {
    while (!out.empty()) {
      const ssize_t got = ::read(file_.get(), out.data(), out.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail("{}: cannot be read: {}", origin_, system_message());
      if (got == 0) fail("{}: ended before its {} bytes", origin_, size_);
      out = out.subspan(static_cast<std::size_t>(got));
    }
  }

 private:
  std::string origin_;
  Descriptor file_;
  uint64_t size_ = 0;
};

class MemoryBytes {
 public:
  explicit MemoryBytes(std::span<const uint8_t> bytes) : size_(bytes.size()), left_(bytes) {}

  uint64_t size() const { return size_; }

  void read(std::span<uint8_t> out) {
    std::copy_n(left_.begin(), out.size(), out.begin());
    left_ = left_.subspan(out.size());
  }

 private:
  uint64_t size_;
  std::span<const uint8_t> left_;
};

template <typename Bytes>
TensorFile tensors_in(Bytes bytes, const std::string& origin, const TensorReadOptions& options) {
  if (bytes.size() < kLengthBytes) {
    fail("{}: holds {} bytes, too few for a safetensors file", origin, bytes.size());
  }
  std::array<uint8_t, kLengthBytes> length{};
  bytes.read(length);
  const auto header_bytes = std::bit_cast<uint64_t>(length);
  const uint64_t available = std::min<uint64_t>(bytes.size() - kLengthBytes, kMaxHeaderBytes);
  if (header_bytes > available) {
    fail(
        "{}: is not a safetensors file or was cut short: a header of {} bytes, expected at most {}",
        origin, header_bytes, available);
  }
  std::vector<uint8_t> text(header_bytes);
  bytes.read(text);
  const nlohmann::json header =
      parse_sorted_json({reinterpret_cast<const char*>(text.data()), text.size()}, origin);
  if (!header.is_object()) fail("{}: its header is not an object", origin);

  const uint64_t data_bytes = bytes.size() - kLengthBytes - header_bytes;
  expect_whole_file(header, bytes.size(), data_bytes, origin);
  TensorFile file;
  const HeaderReader reader(origin, static_cast<int64_t>(data_bytes));
  std::vector<Entry> entries;
  for (const auto& [name, value] : header.items()) {
    if (name == kMetadata) {
      file.metadata = reader.metadata(value);
    } else {
      entries.push_back(reader.entry(name, value));
    }
  }
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  reader.check_layout(entries);
  for (Entry& entry : entries) {
    Tensor tensor{std::move(entry.name), entry.type, std::move(entry.shape),
                  Buffer<uint8_t>(entry.end - entry.begin)};
    bytes.read(tensor.bytes.span());
    file.tensors.push_back(std::move(tensor));
  }
  verify_checksum(header, data_of(file), file.metadata, origin, options);
  return file;
}

}  // namespace

TensorFile read_tensors(const std::filesystem::path& path, const TensorReadOptions& options) {
  return tensors_in(FileBytes(path, options.max_bytes), path.string(), options);
}

TensorFile parse_tensors(std::span<const uint8_t> bytes, const std::string& origin,
                         const TensorReadOptions& options) {
  return tensors_in(MemoryBytes(bytes), origin, options);
}

}  // namespace bntt
