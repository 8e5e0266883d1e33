#pragma once

#include <fmt/format.h>

#include <string>

#include "data/dataset.h"

namespace bntt {

inline std::string class_name(const ImageSet& images, int64_t label) {
  const auto index = static_cast<std::size_t>(label);
  return index < images.class_names.size() ? images.class_names[index] : fmt::format("{}", label);
}

}  // namespace bntt
