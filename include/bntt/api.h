#pragma once

/// Marks what the shared library exports; everything else is hidden.
#define BNTT_API [[gnu::visibility("default")]]
