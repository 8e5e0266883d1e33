#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace bntt {

/// Strings, since std::filesystem::path takes several times their memory and data sets may have
/// millions of files.
using FilePaths = std::vector<std::string>;

struct LabelledFile {
  std::string path;
  int64_t label = 0;
  bool operator==(const LabelledFile&) const = default;
};

/// 64 bits of a file name, the same on every machine: FNV-1a over its bytes, then the finaliser of
/// SplitMix64. It orders and splits data sets, so it must never change.
uint64_t name_hash(std::string_view name);

/// name_hash of a text that is added in pieces.
class TextHash {
 public:
  void add(std::string_view text);
  uint64_t value() const;

 private:
  uint64_t state_ = 0xcbf29ce484222325U;
};

/// For example ".png" for "a/B.PNG".
std::string lower_extension(const std::filesystem::path& path);

/// Names of the folders in `directory`, in byte order, without hidden ones.
std::vector<std::string> folder_names(const std::filesystem::path& directory,
                                      const std::string& dataset);

/// The files of `directory` that end in one of `extensions` (lower case; the case of the file does
/// not matter), ordered by the hash of their names. Throws Error if there are none.
FilePaths hashed_files(const std::filesystem::path& directory,
                       const std::vector<std::string>& extensions, const std::string& dataset);

/// Merges the classes so that every prefix, and so every suffix, holds each in proportion to its
/// size: file i of n is placed at (i + 1/2) / n. `files` is indexed by label.
std::vector<LabelledFile> interleaved(std::vector<FilePaths> files);

struct FolderSplit {
  std::vector<FilePaths> train;  ///< by label
  std::vector<FilePaths> test;
};

/// For data without an official split: the tenth of each class with the lowest name hashes, rounded
/// up, is for testing; a single file stays in training.
FolderSplit split_tenth(std::vector<FilePaths> files);

struct ClassFolders {
  std::vector<std::string> names;  ///< by label, in byte order
  FolderSplit files;
};

/// The user's own files, one folder per class: train/CLASS and test/CLASS (or val/CLASS), or only
/// CLASS, from which split_tenth takes a test set. Throws Error if there are fewer than two
/// classes, if the two splits have different classes, or if a folder has no files.
ClassFolders read_class_folders(const std::filesystem::path& directory,
                                const std::vector<std::string>& extensions,
                                const std::string& dataset);

}  // namespace bntt
