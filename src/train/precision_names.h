#pragma once

#include <array>
#include <utility>

#include "bntt/precision.h"

namespace bntt {

constexpr auto enum_names(Precision) {
  return std::array{std::pair{Precision::fp32, "fp32"}, std::pair{Precision::mixed, "mixed"},
                    std::pair{Precision::bf16, "bf16"}};
}

}  // namespace bntt
