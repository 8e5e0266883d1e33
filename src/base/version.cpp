#include "bntt/version.h"

namespace bntt {

std::string_view version() { return BNTT_VERSION; }

}  // namespace bntt
