#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "data/class_folders.h"
#include "data/dataset.h"
#include "data/path_list.h"

namespace bntt {

/// One sample of a data set of many files: a whole file, or a time segment of a recording.
struct FileSample {
  std::size_t file = 0;  ///< index into FileList::files
  int64_t label = 0;
  int64_t begin_us = std::numeric_limits<int64_t>::min();
  int64_t end_us = std::numeric_limits<int64_t>::max();
};

/// Decodes samples of one file; sample i is written to out[i]: [frame, y, x, channel].
using DecodeFile =
    std::function<void(const std::filesystem::path& file, std::span<const FileSample> samples,
                       std::span<uint8_t* const> out)>;

/// The samples in their fixed order.
struct FileList {
  PathList files;
  std::vector<FileSample> samples;
};

/// One split: its samples and how they are decoded.
struct FileSplit : FileList {
  ImageSet form;         ///< everything except pixels, labels and files
  std::string name;      ///< of data set and split, such as nmnist-train
  std::string settings;  ///< everything that the decoded bytes depend on besides the files
  DecodeFile decode;
};

/// Adds one sample per file.
void add_files(const std::vector<LabelledFile>& files, FileList& list);

/// Decodes the first `limit` samples (0: all) on all threads, or reads them from the cache; a whole
/// split that had to be decoded is stored in the cache.
ImageSet read_samples(const FileSplit& split, int64_t limit, const DatasetOptions& options);

}  // namespace bntt
