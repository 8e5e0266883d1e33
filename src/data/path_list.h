#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <unordered_map>
#include <vector>

namespace bntt {

/// Paths of millions of files in little memory: each directory is stored once, and a path takes its
/// file name and 12 bytes.
class PathList {
 public:
  /// Makes room for so many paths more, with so many bytes of file names.
  void reserve(std::size_t paths, std::size_t name_bytes);
  void push_back(const std::string& path);
  std::filesystem::path operator[](std::size_t index) const;
  std::size_t size() const { return directory_of_.size(); }
  bool empty() const { return directory_of_.empty(); }
  /// Keeps the first `count` paths.
  void keep_first(std::size_t count);

 private:
  std::vector<std::string> directories_;              // each ends in a slash or is empty
  std::unordered_map<std::string, uint32_t> places_;  // in directories_
  std::vector<uint32_t> directory_of_;                // [path]
  std::vector<uint64_t> end_of_;                      // [path], in names_
  std::string names_;
};

}  // namespace bntt
