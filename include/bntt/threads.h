#pragma once

#include "bntt/api.h"

namespace bntt {

/// The number of threads that compute what the calling thread starts; 0 means one per available
/// core. Results do not depend on it. Throws Error for less than 0 and for more than 1024.
BNTT_API void set_threads(int count);
/// The number of threads for calls from the current thread: what was set, or one per available
/// core.
BNTT_API int threads();

}  // namespace bntt
