#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "data/dataset.h"

namespace bntt {

/// The binary version of CIFAR-10: `directory` itself, or its cifar-10-batches-bin.
DatasetSplits open_cifar10(const std::filesystem::path& directory, const DatasetOptions& options);

/// No images, but everything else that CIFAR-10 is.
ImageSet empty_cifar10();

/// Appends exactly `records` records, each a label and three colour planes. `origin` starts every
/// error sentence.
void append_cifar10(std::span<const uint8_t> bytes, int64_t records, const std::string& origin,
                    ImageSet& set);

}  // namespace bntt
