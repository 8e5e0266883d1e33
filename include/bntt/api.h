#pragma once

/// \file
/// Visibility of the shared library.

/// Marks what the shared library exports; everything else is hidden.
#define BNTT_API [[gnu::visibility("default")]]
