#pragma once

#include <span>
#include <string>

#include "data/dataset.h"

namespace bntt {

/// Gives the labels of `set` the meaning that they have in a run: renumbers them so that label i is
/// the class names[i], whatever the order of classes in the set. Throws an Error that begins with
/// `origin` and names the first class that only one of the two has. If the run or the set has no
/// names (CIFAR-100 without its file of names), the order of the labels is part of the format, and
/// only their number is compared.
void match_classes(ImageSet& set, std::span<const std::string> names, const std::string& origin);

/// The same for both splits.
void match_classes(DatasetSplits& splits, std::span<const std::string> names,
                   const std::string& origin);

/// "; not in the run: 'dog'; not in the data: 'cat', 'cow'": the classes that only one of the two
/// has, the first few of each; empty if there are none, or if one of the two has no names.
std::string class_difference(std::span<const std::string> of_run,
                             std::span<const std::string> of_data);

}  // namespace bntt
