#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "data/class_folders.h"
#include "data/dataset.h"

namespace bntt {

/// The file extensions of pictures, in lower case.
const std::vector<std::string>& picture_extensions();

/// Tiny-ImageNet-200 as published: wnids.txt, train/WNID/images, val/images with
/// val/val_annotations.txt. `directory` itself, or its tiny-imagenet-200. The validation images are
/// the test set: the labels of the official test images were never published.
DatasetSplits open_tiny_imagenet(const std::filesystem::path& directory,
                                 const DatasetOptions& options);

/// The classes of Tiny-ImageNet in the order of their labels, from wnids.txt in `root`.
std::vector<std::string> read_wnids(const std::filesystem::path& root);

/// The user's own images, one folder per class as found by read_class_folders.
DatasetSplits open_image_folder(const std::filesystem::path& directory,
                                const DatasetOptions& options);

/// Tiny-ImageNet's list of validation images: lines of a file name, a tab, a class, and a box that
/// is not used here. Files are below `images`, labels are indices into `wnids`. `origin` starts
/// every error sentence.
std::vector<LabelledFile> parse_annotations(std::string_view text,
                                            const std::vector<std::string>& wnids,
                                            const std::filesystem::path& images,
                                            const std::string& origin);

}  // namespace bntt
