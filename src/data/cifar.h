#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "data/dataset.h"

namespace bntt {

/// The records of CIFAR's binary files: one label byte (CIFAR-100: a coarse one before the fine
/// one), then three colour planes of 32x32.
struct CifarFormat {
  int64_t label_bytes = 1;
  int64_t label_place = 0;  ///< index of the label byte that is used
  int64_t classes = 10;

  int64_t record_bytes() const { return label_bytes + int64_t{3} * 32 * 32; }
};

struct CifarRecords {
  std::vector<uint8_t> pixels;  ///< [image, y, x, channel]
  std::vector<int64_t> labels;
};

CifarFormat cifar10_format();
CifarFormat cifar100_format(Labels labels);

/// Appends exactly `count` records. `origin` starts every error sentence.
void append_cifar(std::span<const uint8_t> bytes, int64_t count, const CifarFormat& format,
                  const std::string& origin, CifarRecords& records);

/// The binary version of CIFAR-10: `directory` itself, or its cifar-10-batches-bin.
DatasetSplits open_cifar10(const std::filesystem::path& directory, const DatasetOptions& options);
/// The binary version of CIFAR-100: `directory` itself, or its cifar-100-binary. Class names come
/// from the file of names beside the data, if it exists.
DatasetSplits open_cifar100(const std::filesystem::path& directory, const DatasetOptions& options);

}  // namespace bntt
