#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <zlib.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "bntt/error.h"
#include "data/dataset.h"

namespace bntt::testing {

using Bytes = std::vector<uint8_t>;

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "bntt-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = name;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }

  const std::filesystem::path& path() const { return path_; }
  void write(const std::string& name, std::span<const uint8_t> bytes) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream file(path_ / name, std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    if (!file) throw std::runtime_error("cannot write " + name);
  }

 private:
  std::filesystem::path path_;
};

inline Bytes idx_file(const std::vector<uint32_t>& extents, const Bytes& values) {
  Bytes bytes = {0, 0, 8, static_cast<uint8_t>(extents.size())};
  for (const uint32_t extent : extents) {
    for (const int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<uint8_t>(extent >> shift));
  }
  bytes.insert(bytes.end(), values.begin(), values.end());
  return bytes;
}

inline Bytes gzip(const Bytes& plain) {
  z_stream stream{};
  if (deflateInit2(&stream, 9, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::runtime_error("deflateInit2 failed");
  }
  Bytes packed(deflateBound(&stream, plain.size()));
  stream.next_in = const_cast<uint8_t*>(plain.data());
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = packed.data();
  stream.avail_out = static_cast<uInt>(packed.size());
  const int status = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (status != Z_STREAM_END) throw std::runtime_error("deflate failed");
  return packed;
}

/// The sentence of the Error that `action` throws.
template <typename Action>
std::string refusal(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "expected an Error";
  return {};
}

/// Image i is filled with i, 2i, 3i, ... (mod 256) and has the label i mod classes.
inline ImageSet numbered_images(int64_t count, MapShape shape, int64_t classes = 10) {
  ImageSet set{.shape = shape, .classes = classes, .pixels = {}, .labels = {}, .class_names = {}};
  Bytes pixels;
  for (int64_t image = 0; image < count; ++image) {
    for (int64_t i = 1; i <= shape.size(); ++i) {
      pixels.push_back(static_cast<uint8_t>(image * i));
    }
    set.labels.push_back(image % classes);
  }
  set.pixels = std::move(pixels);
  return set;
}

}  // namespace bntt::testing
