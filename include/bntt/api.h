#pragma once

/// Marks what the shared library shows to others; everything else is hidden.
#define BNTT_API [[gnu::visibility("default")]]
