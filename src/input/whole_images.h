#pragma once

#include "bntt/images.h"

namespace bntt {

/// Throws an Error that begins with `what` unless there is at least one image, each has at least
/// one pixel, and there are as many bytes as they need.
void expect_whole(const Images& images, const char* what);

}  // namespace bntt
