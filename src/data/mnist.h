#pragma once

#include <filesystem>

#include "data/dataset.h"

namespace bntt {

/// MNIST and the sets that copied its four IDX files, plain or gzip.
DatasetSplits open_mnist(const std::filesystem::path& directory, const DatasetOptions& options);
DatasetSplits open_fashion_mnist(const std::filesystem::path& directory,
                                 const DatasetOptions& options);

}  // namespace bntt
