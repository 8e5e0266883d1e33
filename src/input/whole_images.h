#pragma once

#include "bntt/images.h"

namespace bntt {

/// Throws Error, beginning with `what`, unless there is an image, each has a pixel, and there are
/// as many bytes as they need.
void expect_whole(const Images& images, const char* what);

}  // namespace bntt
